"""The schedule of a worker. The only module that knows the scheduler, which stores nothing: the database does.

Each tick has a thread and never runs twice at once. A tick that fails is logged and runs again at its next time. A worker
told to stop finishes what it has started. The scheduler reckons with the machine's clock; when that is set, all ticks run at once
and count from then on. This module must never decide what to do.
"""

import logging
import signal
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import FrameType
from typing import Final

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from pbem import metrics
from pbem.clock import StepWatch, SystemClock
from pbem.worker.ticks import TICKS, Tick, WorkerContext

_STEP: Final = timedelta(seconds=1)
"""A smaller step of the clock delays no tick noticeably."""

_LOOK: Final = 1.0
"""Seconds between two looks at the clock."""

_NAMES: Final = frozenset(tick.name for tick in TICKS)

_log = structlog.get_logger(__name__)


class _Every(BaseTrigger):  # type: ignore[misc]  # the scheduler has no types
    """A number of seconds after the last time. The scheduler's own trigger would list all the times that a clock has leapt over."""

    def __init__(self, seconds: float) -> None:
        self._interval = timedelta(seconds=seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        return now + self._interval


class Loop:
    """The ticks of a worker, running in threads from `start` to `stop`. `every` overrides the seconds between ticks."""

    def __init__(self, context: WorkerContext, every: Mapping[str, float] | None = None) -> None:
        unknown = (every or {}).keys() - _NAMES
        if unknown:
            raise ValueError(f"unknown ticks {sorted(unknown)}")
        self._context = context
        self._every = {tick.name: tick.every for tick in TICKS} | dict(every or {})
        # The schedule has no local times, so the scheduler need not look for a zone.
        self._scheduler = BackgroundScheduler(
            timezone="UTC",
            executors={"default": ThreadPoolExecutor(len(TICKS))},
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            daemon=True,
        )
        self._clock = StepWatch(SystemClock())
        self._watching = threading.Thread(target=self._watch_clock, name="clock", daemon=True)
        # A tick that is still running at its next time is skipped, as intended: no warning.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)

    def start(self) -> None:
        """Run the first tick, then start them all in threads."""
        _run(TICKS[0], self._context)
        now = SystemClock().now()
        for tick in TICKS:
            self._scheduler.add_job(
                _run, _Every(self._every[tick.name]), args=(tick, self._context), id=tick.name, next_run_time=now
            )
        self._scheduler.start()
        self._watching.start()
        _log.info("worker_started", worker=self._context.worker.name)

    def stop(self) -> None:
        """Finish the running ticks, and start no more."""
        self._context.stopping.set()
        self._context.give_up()
        if self._watching.is_alive():
            self._watching.join()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        _log.info("worker_stopped", worker=self._context.worker.name)

    def _watch_clock(self) -> None:
        """Run all ticks at once whenever the clock was set: the scheduler may wait for a moment that is far away now."""
        while not self._context.stopping.wait(_LOOK):
            if abs(step := self._clock.step()) >= _STEP:
                self._clock.rebase(step)
                _log.warning("clock_set", seconds=round(step.total_seconds(), 1))
                for tick in TICKS:
                    self._scheduler.modify_job(tick.name, next_run_time=SystemClock().now())


def run(context: WorkerContext, every: Mapping[str, float] | None = None) -> None:
    """Run until the process is told to stop (SIGTERM, SIGINT). For the main thread of its own process."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    loop = Loop(context, every)
    loop.start()
    try:
        stopped.wait()
    finally:
        loop.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(tick: Tick, context: WorkerContext) -> None:
    try:
        with metrics.TICK_SECONDS.labels(tick.name).time():
            tick.run(context)
    except Exception:  # noqa: BLE001 - whatever went wrong, the next tick tries again
        metrics.TICK_FAILURES.labels(tick.name).inc()
        _log.exception("tick_failed", tick=tick.name)
