"""When a worker is woken up. The only module that knows the scheduler, which keeps nothing: the tables do.

Each tick has a thread and never runs twice at once. One that fails is logged and comes again at its next time. A worker
that is told to stop finishes what it has begun. Nothing in here may decide what is done.
"""

import logging
import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Final

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from pbem import metrics
from pbem.clock import SystemClock
from pbem.worker.ticks import TICKS, Shift, Tick

_NAMES: Final = frozenset(tick.name for tick in TICKS)

_log = structlog.get_logger(__name__)


class Loop:
    """A worker's ticks, running in threads from `start` to `stop`. `every` gives some other seconds between ticks."""

    def __init__(self, shift: Shift, every: Mapping[str, float] | None = None) -> None:
        unknown = (every or {}).keys() - _NAMES
        if unknown:
            raise ValueError(f"there are no ticks {sorted(unknown)}")
        self._shift = shift
        self._every = {tick.name: tick.every for tick in TICKS} | dict(every or {})
        # Local time has no business here, so the scheduler need not look for it.
        self._scheduler = BackgroundScheduler(
            timezone="UTC",
            executors={"default": ThreadPoolExecutor(len(TICKS))},
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            daemon=True,
        )
        # A tick that is not done when its next time comes is left out, which is as it should be.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)

    def start(self) -> None:
        """Begin to work, in threads."""
        _run(TICKS[0], self._shift)
        now = SystemClock().now()
        for tick in TICKS:
            self._scheduler.add_job(
                _run,
                "interval",
                args=(tick, self._shift),
                id=tick.name,
                seconds=self._every[tick.name],
                next_run_time=now,
            )
        self._scheduler.start()
        _log.info("worker_started", worker=self._shift.worker.name)

    def stop(self) -> None:
        """Finish what has been begun, and begin nothing more."""
        self._shift.stopping.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        _log.info("worker_stopped", worker=self._shift.worker.name)


def run(shift: Shift, every: Mapping[str, float] | None = None) -> None:
    """Work until the process is told to stop (SIGTERM, SIGINT). For the main thread of a process of its own."""
    told = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        told.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    loop = Loop(shift, every)
    loop.start()
    try:
        told.wait()
    finally:
        loop.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(tick: Tick, shift: Shift) -> None:
    try:
        with metrics.TICK_SECONDS.labels(tick.name).time():
            tick.do(shift)
    except Exception:  # noqa: BLE001 - whatever went wrong, the next tick tries again
        metrics.TICK_FAILURES.labels(tick.name).inc()
        _log.exception("tick_failed", tick=tick.name)
