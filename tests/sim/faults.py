"""Everything that goes wrong in a simulation until the calm: drawn at its beginning from its luck.

away       times in which no worker runs
weather    a relay that is away, says not now, or breaks off; addresses that fail
pauses     times in which an organiser has paused all email
steps      how far the server's clock is set forward or back, and when
restore    the server is put back to a backup
bounces    an email that was accepted comes back after all
strikes    a process that dies, or a disk that fails, at the points that `pbem.failpoints` names
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from sqlite3 import OperationalError as DriverError
from typing import Final

from sqlalchemy.exc import OperationalError

from pbem.domain.interval import Interval
from pbem.store.database import sqlite_module
from tests.sim.far_end import BrokenError, Weather
from tests.sim.world import START, World

CRASH: Final = 0.001
"""The probability that the process dies at each failpoint."""

DISK: Final = 0.001
"""The probability that a worker's commit fails."""

DISK_SHAKEN: Final = 0.5
"""The same while the clocks are moved after an outage, every other time."""

FEW: Final = 20
"""Smaller runs meet fewer kinds of event."""


class Crash(BaseException):
    """The process dies here. The project's code may not catch it."""


class DiskError(OperationalError):
    """The database has failed, and nothing is written."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, and when."""

    calm_from: datetime
    away: list[Interval]
    weather: Weather
    pauses: list[Interval]
    steps: list[tuple[datetime, timedelta]]
    backup_at: datetime
    restore_at: datetime
    bounces: list[datetime]

    @classmethod
    def drawn(cls, luck: Random, calm_from: datetime, addresses: list[str], tables: int) -> "Faults":
        """The faults of one run."""
        span = calm_from - START

        def between(low: float, high: float) -> datetime:
            return START + span * luck.uniform(low, high)

        def hole(low: float, high: float, share: float) -> Interval:
            start = between(low, high)
            return Interval(start, start + span * luck.uniform(share / 4, share))

        # A table waits a week for a dead address, which a short run has no time for.
        dead = {} if tables < FEW else {luck.choice(addresses): Interval(START + span * 0.2, START + span * 0.2 + _DAY)}
        return cls(
            calm_from,
            _holes(luck, span, 5, 10),
            Weather(calm_from, _holes(luck, span, 4, 6), dead),
            [hole(0.05, 0.4, 0.05), hole(0.7, 0.9, 0.05)],
            [
                (between(0.25, 0.45), timedelta(minutes=luck.uniform(20, 90))),
                (between(0.65, 0.75), -timedelta(minutes=luck.uniform(10, 40))),
                (between(0.8, 0.95), timedelta(minutes=luck.uniform(20, 90))),
            ],
            backup_at=between(0.45, 0.5),
            restore_at=between(0.52, 0.62),
            bounces=[between(0.3, 0.5), between(0.6, 0.9)],
        )


_DAY: Final = timedelta(days=1)


class Strikes:
    """A handler of failpoints that kills the process, or fails the disk, by luck; `shaken` while clocks are being moved."""

    def __init__(self, luck: Random, world: World, calm_from: datetime, seen: Counter[str]) -> None:
        self.working = self.shaken = self._bad_disk = False
        self.failed = 0
        """How often the disk has failed."""
        self.forgive: Callable[[], None] = lambda: None
        """Called when a sender may have been struck before it could record what was accepted."""
        self.note: Callable[[str], None] = lambda _: None
        self._luck, self._world, self._calm_from, self._seen = luck, world, calm_from, seen
        self._calm = False

    def __call__(self, name: str) -> None:
        """Strike, or not, at a failpoint."""
        if self._world.site.only_looking:
            raise BrokenError("a page that was only looked at wrote to the database")
        if self._calm or not self.may_strike:
            return
        # Most points are passed by commits; the one that only emails pass gets its share.
        if self._luck.random() < CRASH * (10 if name.startswith("mail.") else 1):
            self._strike(f"crash at {name}")
            raise Crash(name)
        disk = DISK_SHAKEN if self.shaken and self._bad_disk else DISK
        if self.working and name == "store.committing" and self._luck.random() < disk:
            self.failed += 1
            self._strike("disk failed")
            raise DiskError("COMMIT", None, _driver_error())

    @property
    def may_strike(self) -> bool:
        """Whether the calm has not come yet."""
        return self._world.clock.now() < self._calm_from

    def shake(self) -> None:
        """Have clocks to move: the disk may be bad until that is done."""
        self.shaken, self._bad_disk = True, self._luck.random() < 0.5

    @contextmanager
    def calm(self) -> Iterator[None]:
        """Set aside faults while the simulation itself acts."""
        before, self._calm = self._calm, True
        try:
            yield
        finally:
            self._calm = before

    def _strike(self, what: str) -> None:
        self._seen[what] += 1
        self.note(what)
        self.forgive()


def _driver_error() -> DriverError:
    error: DriverError = sqlite_module().OperationalError("disk I/O error")
    return error


def _holes(luck: Random, span: timedelta, number: int, longest_hours: int) -> list[Interval]:
    """Times of trouble, one after the other, before the calm."""
    share = span / number
    holes = []
    for i in range(number):
        start = START + share * i + share / 2 * luck.random()
        lasts = min(timedelta(hours=luck.uniform(0.05, longest_hours)), share / 2)
        holes.append(Interval(start, start + lasts))
    return holes
