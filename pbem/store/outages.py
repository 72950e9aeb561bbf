"""Times in which clocks stand still, as rows: outages, pauses, vacations, addresses that could not be reached.

Beside them lie the heartbeats from which outages are found, and the slots by which one worker of many does a daily task.
What any of this does to a deadline is `domain.deadline`'s business.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from pbem.domain.interval import Interval
from pbem.store.database import insert_once
from pbem.store.schema import Outage, table_of

_OUTAGE = table_of(Outage)

_OUTAGES = select(_OUTAGE.c.start_at, _OUTAGE.c.end_at).where(_OUTAGE.c.end_at > bindparam("since"))
_UNAPPLIED = select(_OUTAGE).where(_OUTAGE.c.applied_at.is_(None)).order_by(_OUTAGE.c.id)


@dataclass(frozen=True, slots=True)
class OutageRow:
    """A time in which nobody worked, or no mail arrived.

    `why` is what an organiser has said who declared it, and empty where it was found by itself, because no worker was
    running. `applied_at` is empty until every open deadline has heard of it.
    """

    id: int
    start_at: datetime
    end_at: datetime
    why: str
    applied_at: datetime | None


def add_outage(tx: Connection, outage: Interval, why: str) -> bool:
    """Write an outage down; False if another worker has found the same one."""
    values = {"start_at": outage.start, "end_at": outage.end, "why": why}
    return insert_once(tx, _OUTAGE, values)


def outages(tx: Connection, since: datetime) -> tuple[Interval, ...]:
    """The outages that reach beyond a moment."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES, {"since": since}))


def newest_outages(tx: Connection, limit: int = 20) -> list[OutageRow]:
    """The last outages, the newest first."""
    newest = select(_OUTAGE).order_by(_OUTAGE.c.start_at.desc()).limit(limit)
    return [OutageRow(**row._mapping) for row in tx.execute(newest)]


def unapplied(tx: Connection) -> list[OutageRow]:
    """Outages of which some open deadline may not have heard."""
    return [OutageRow(**row._mapping) for row in tx.execute(_UNAPPLIED)]


def applied(tx: Connection, outage_id: int, now: datetime) -> None:
    """Every open deadline has heard of this outage."""
    tx.execute(update(_OUTAGE).where(_OUTAGE.c.id == outage_id).values(applied_at=now))
