"""The worker of a simulation: it does what the ticks do, in an order drawn by luck, in one thread.

A tick whose commit fails is tried again at its next time, as in the loop of a server. Which clocks then run, and when they
end, is checked after each look. This module must not know when it is called.
"""

from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Final

from pbem.clock import StepWatch
from pbem.service.clocks.clock_steps import StepFinder
from pbem.service.clocks.outages import Worker
from pbem.service.incoming import processing
from pbem.service.outgoing.deliver import Post, deliver
from pbem.worker.ticks import TICKS, WorkerContext
from tests.service.archive.sample_review import sample
from tests.sim.far_end import FarEnd
from tests.sim.faults import DiskError, Strikes
from tests.sim.truth import Truth
from tests.sim.world import START, World

LOOK: Final = timedelta(minutes=30)
"""How often it checks deadlines when nothing happens."""

_TICKS: Final = {tick.name: tick for tick in TICKS}
_SELDOM: Final = [name for name in _TICKS if name not in ("beat", "bots", "deliver")]
"""What it does not do whenever it wakes."""


class SimulatedWorker:
    """A worker process, and those that take its place when it dies."""

    def __init__(self, world: World, far_end: FarEnd, strikes: Strikes, truth: Truth, luck: Random) -> None:
        self._world, self._far_end, self._strikes, self._truth, self._luck = world, far_end, strikes, truth, luck
        self._names = count()
        self._looked = START
        self.starts()

    def starts(self) -> None:
        """Start a new process."""
        self._context = self._new()

    def second_sends(self) -> None:
        """Send what is due from another process, while this one is handing over an email."""
        self._truth.seen["second sender"] += 1
        with self._strikes.calm():
            _TICKS["deliver"].run(self._new())

    def works(self, quiet: bool) -> bool:
        """Do what is due, and less of it at a `quiet` time; returns whether it had a look at everything."""
        self._strikes.working = True
        try:
            return self._works(quiet, self._world.clock.now())
        finally:
            self._strikes.working = False

    def _new(self) -> WorkerContext:
        post = Post(self._world.letterhead, self._far_end)
        watch = StepWatch(self._world.wall, self._world.steady)
        worker = Worker(f"worker-{next(self._names)}", self._world.wall.now(), steps=StepFinder(watch))
        return WorkerContext(
            self._world.server,
            worker,
            lambda server: deliver(server, post).dealt_with,
            receive=lambda server: processing.process(server, self._world.inbound),
            review=sample,
        )

    def _works(self, quiet: bool, now: datetime) -> bool:
        if self._strikes.shaken:
            # The ticks have a thread each, so the heartbeat may not be the first.
            self._tick("time_outs")
        self._beats()
        due = now - self._looked >= (LOOK if self._strikes.may_strike else LOOK * 2)
        if quiet and not due:
            return False
        self._tick("bots")
        self._tick("deliver")
        if not due:
            return False
        self._looked = now
        # After a timeout, bots answer and emails leave at once, as in a real loop of seconds.
        for name in (*self._luck.sample(_SELDOM, len(_SELDOM)), "bots", "deliver"):
            self._tick(name)
        if not self._strikes.shaken:
            self._truth.clocks()
        return True

    def _beats(self) -> None:
        """Write a heartbeat, and check the clocks that it may have moved."""
        shaken, failed = self._strikes.shaken, self._strikes.failed
        done = self._tick("beat")
        if shaken:
            self._strikes.shaken = not done
            self._truth.clocks(settled=self._strikes.failed == failed)

    def _tick(self, name: str) -> bool:
        """Do a tick; returns whether the disk has let it."""
        try:
            _TICKS[name].run(self._context)
        except DiskError:
            return False
        return True
