"""Steps of the server's clock: found, noted, and what a wrong clock wrote brought back.

A step forward is an outage: it stops every player's clock for as long. A step back gives players more time, and what would
wait until the clock is where it was, such as emails, leases and bots, is brought back with it. Each is noted as an alarm.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from pbem.clock import StepWatch
from pbem.domain.duration import duration_text
from pbem.domain.outage import CLOCK_TOLERANCE
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.server import Server
from pbem.store import clock_steps, heartbeats
from pbem.store.database import Tx

_NONE: Final = timedelta(0)

SMALLEST: Final = timedelta(seconds=10)
"""A smaller step times nobody out who was not about to be."""

LONGEST_LEASE: Final = timedelta(minutes=5)
"""Nothing is claimed for longer."""

STILL_BEATS: Final = 3
"""Looks at a newest heartbeat that lies in the future and does not move, after which no worker lives there."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class StepFinder:
    """What a worker remembers of its clock, to find a step of it."""

    watch: StepWatch
    _ahead: datetime | None = None
    _seen: int = 0
    _measured: timedelta = _NONE

    def went_forward(self) -> bool:
        """Whether the clock was set forward, and that is not noted yet."""
        return self.watch.step() >= SMALLEST

    def find(self, server: Server) -> timedelta:
        """The step of the clock since the last one that was dealt with, or zero."""
        self._measured, left_over = self.watch.step(), self._left_over(server)
        return self._measured if abs(self._measured) >= SMALLEST else left_over

    def done(self) -> None:
        """Take the step that was found as dealt with."""
        self.watch.rebase(self._measured)

    def _left_over(self, server: Server) -> timedelta:
        """A step back from before this worker: nobody moves the newest heartbeat, and it is later than now."""
        newest, now = server.query(heartbeats.newest), server.now()
        if newest is None or newest - now <= CLOCK_TOLERANCE:
            self._ahead, self._seen = None, 0
            return _NONE
        self._seen = self._seen + 1 if newest == self._ahead else 1
        self._ahead = newest
        return now - newest if self._seen >= STILL_BEATS else _NONE


def go_back(tx: Tx, server: Server, step: timedelta) -> None:
    """Bring back what waits for a moment that was reckoned before the clock was set back by this step."""
    now = server.now()
    newest = heartbeats.newest(tx) or now
    clock_steps.bring_back(tx, now, step, LONGEST_LEASE)
    # A clock that was doubted, so that nobody beat by it, is not behind when it is set right.
    clock_steps.note(tx, now, min(now - newest, _NONE))
    _tell(tx, server, "back", step)


def go_forward(tx: Tx, server: Server, step: timedelta) -> None:
    """Note that the clock was set forward by this step."""
    clock_steps.note(tx, server.now(), step)
    _tell(tx, server, "forward", step)


def _tell(tx: Tx, server: Server, where: str, step: timedelta) -> None:
    """Tell the operator and the organisers of a step forward or back."""
    seconds = round(step.total_seconds())
    _log.warning("clock_stepped", where=where, seconds=seconds)
    says = f"The server's clock was set {where} by {duration_text(timedelta(seconds=seconds))}."
    alarms.raise_alarm(tx, server, AlarmKind.CLOCK, says)
