"""Doubt in the server's clock: a gap in the heartbeats that is longer than we believe a server to be away.

A deadline that was moved never comes back, so such a gap becomes no outage by itself. Until a person has looked at the clock
no worker beats, and nothing happens because its time has come. A gap that is explained by a step back
that we had noted is no reason for doubt.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from pbem.domain.duration import duration_text
from pbem.domain.interval import running_time
from pbem.domain.outage import LONGEST_GAP
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.server import Server
from pbem.store import clock_steps, heartbeats, outages
from pbem.store.database import Tx

LONGEST_BELIEVED: Final = timedelta(days=30)
"""A longer gap is more likely a wrong clock than an outage."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClockDoubt:
    """The last sign of a worker, and what the clock says now."""

    last_beat: datetime
    now: datetime

    @property
    def says(self) -> str:
        """What is the matter, and what is held back."""
        away = duration_text(timedelta(days=(self.now - self.last_beat).days))
        return (
            f"The clock says {self.now:%Y-%m-%d %H:%M} UTC, {away} after the last sign of a worker. That gap is "
            "implausible, so no deadline passes, no reminder goes out, no table expires and nothing old is deleted."
        )

    @property
    def remedy(self) -> str:
        """The one thing to do."""
        declare = f"pbem outage declare '{self.last_beat:%Y-%m-%d %H:%M}' '{self.now:%Y-%m-%d %H:%M}'"
        return (
            "Check the clock of this machine. If it's wrong, set it right: the rest follows by itself. "
            f"If it's right, log the outage: {declare}"
        )


def doubt(tx: Tx, now: datetime, step: timedelta = timedelta(0)) -> ClockDoubt | None:
    """Why the clock cannot be believed; None if it can. `step` is one that the caller has measured, and so is explained."""
    last = heartbeats.newest(tx)
    if last is None or _gap(tx, last, now) - max(step, timedelta(0)) <= LONGEST_BELIEVED or came_back(tx, now):
        return None
    return ClockDoubt(last, now)


def came_back(tx: Tx, now: datetime) -> timedelta:
    """How far a clock that had been set back, as we noted, was set right while no worker ran; zero if it was not."""
    last, behind = heartbeats.newest(tx), clock_steps.behind(tx)
    if last is None or behind <= timedelta(0):
        return timedelta(0)
    away = _gap(tx, last, now) - behind
    return behind if away + behind > LONGEST_BELIEVED >= away >= -LONGEST_GAP else timedelta(0)


def tell(tx: Tx, server: Server, found: ClockDoubt) -> None:
    """Tell the operator and, once, the organisers."""
    _log.error("clock_doubted", last_beat=found.last_beat, now=found.now)
    if heartbeats.take_task(tx, "clock_doubted", found.last_beat.isoformat()):
        alarms.raise_alarm(tx, server, AlarmKind.DOUBT, f"{found.says} {found.remedy}")


def _gap(tx: Tx, last: datetime, now: datetime) -> timedelta:
    """How long there was neither a beat nor an outage."""
    return running_time(last, now, outages.since(tx, last))
