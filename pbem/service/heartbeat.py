"""Heartbeats: who works, since when, and for how long nobody did.

A worker says every few seconds that it is there. A hole in the beats of all workers together is written down as an outage
before anybody acts, and every clock that ran then is moved by it. As long as our own idea of the time cannot be trusted,
`why_not` says so and nothing fires; what is due stays due.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from pbem.domain.errors import BadInput, Gone
from pbem.domain.interval import Interval, running
from pbem.domain.outage import SETTLING, may_fire, outage_between
from pbem.domain.speech import gettext as _
from pbem.service import stops
from pbem.service.house import House
from pbem.store import deadlines, outages
from pbem.store.database import Tx
from pbem.store.outages import OutageRow

LONGEST_BELIEVED: Final = timedelta(days=30)
"""A hole longer than this is a wrong clock more likely than an outage, and deadlines that were moved never come back."""

KEPT_BEATS: Final = timedelta(days=7)
"""So long a worker that is gone stays in the organiser's list."""

KEPT_SLOTS: Final = timedelta(days=31)

_BATCH: Final = 50
_LOOK_BACK: Final = timedelta(days=1)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that works. `settling` is how long it fires nothing after it woke up."""

    name: str
    started_at: datetime
    settling: timedelta = SETTLING


def beat(house: House, worker: Worker) -> Interval | None:
    """Say that a worker is there; where nobody had been for long, that outage is written down and returned."""
    return house.write(lambda tx: _beat(tx, worker, house.now()))


def apply_outages(house: House) -> int:
    """Move every clock that ran in an outage which clocks have not heard of, game by game; how many games that were."""
    with house.store.read() as tx:
        waiting = outages.unapplied(tx)
    moved = 0
    for outage in waiting:
        after = 0
        while batch := _running_since(house, outage.end_at, after):
            moved += sum(_settled(house, game_id, outage) for game_id in batch)
            after = batch[-1]
        house.write(partial(outages.applied, outage_id=outage.id, now=house.now()))
    return moved


def declare_outage_in(tx: Tx, house: House, outage: Interval, why: str) -> None:
    """Write down an outage that nobody could see by itself, such as a season in which the server was switched off."""
    if outage.end is None or outage.end > house.now():
        raise BadInput(_("This outage would end in the future."), why=_("Nobody knows yet when it will be over."))
    if not outages.add_outage(tx, outage, why):
        raise Gone(_("An outage that began at this moment is written down already."), remedy=_("Nothing was changed."))


def tidy_daily(house: House) -> bool:
    """Once a day, by one worker of all: drop beats and slots that nobody looks at any more; whether it was this one."""
    return house.write(lambda tx: _tidy_daily(tx, house.now()))


def why_not(house: House, worker: Worker, now: datetime) -> str | None:
    """Why no clock may run out at this moment, or None when it may."""
    with house.store.read() as tx:
        last = outages.last_beat(tx)
        known = outages.outages(tx, min(last or now, now) - _LOOK_BACK)
    return may_fire(now, worker.started_at, last, known, worker.settling)


def _beat(tx: Tx, worker: Worker, now: datetime) -> Interval | None:
    last = outages.last_beat(tx)
    hole = outage_between(last, now)
    if hole is not None and last is not None:
        if running(last, now, outages.outages(tx, last)) > LONGEST_BELIEVED:
            # Without a beat the hole stays unexplained, so that nothing fires until somebody says what is true.
            _log.error("clock_doubted", last_beat=last, now=now)
            return None
        # Nobody has said why; an organiser who declares one does.
        if not outages.add_outage(tx, hole, why=""):
            hole = None
    outages.beat(tx, worker.name, worker.started_at, now)
    return hole


def _tidy_daily(tx: Tx, now: datetime) -> bool:
    if not outages.take_slot(tx, "daily", now.date().isoformat()):
        return False
    outages.forget_beats(tx, now - KEPT_BEATS)
    outages.forget_slots(tx, (now - KEPT_SLOTS).date())
    return True


def _running_since(house: House, moment: datetime, after: int) -> list[int]:
    with house.store.read() as tx:
        return deadlines.running_since(tx, moment, after, _BATCH)


def _settled(house: House, game_id: int, outage: OutageRow) -> bool:
    try:
        house.write(lambda tx: stops.delay_in(tx, house, game_id, outage))
    except Exception:  # noqa: BLE001 - whatever is wrong with one game, the others are moved; it is looked at again when due
        _log.exception("outage_not_applied", game=game_id)
        return False
    return True
