"""Outages, as rows. `domain.deadline` decides what they do to a deadline."""

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
    """A time in which no worker ran or no email arrived.

    `why` is the organiser's text, empty if the server found the outage itself. `applied_at` is set once all open
    deadlines have been extended.
    """

    id: int
    start_at: datetime
    end_at: datetime
    why: str
    applied_at: datetime | None


def add(tx: Connection, outage: Interval, why: str) -> bool:
    """Add an outage; False if another worker has added it."""
    values = {"start_at": outage.start, "end_at": outage.end, "why": why}
    return insert_once(tx, _OUTAGE, values)


def since(tx: Connection, since: datetime) -> tuple[Interval, ...]:
    """The outages that end after this moment."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES, {"since": since}))


def newest(tx: Connection, limit: int = 20) -> list[OutageRow]:
    """The newest outages, newest first."""
    newest = select(_OUTAGE).order_by(_OUTAGE.c.start_at.desc()).limit(limit)
    return [OutageRow(**row._mapping) for row in tx.execute(newest)]


def unapplied(tx: Connection) -> list[OutageRow]:
    """Outages that may not have been applied to all open deadlines."""
    return [OutageRow(**row._mapping) for row in tx.execute(_UNAPPLIED)]


def mark_applied(tx: Connection, outage_id: int, now: datetime) -> None:
    """Note that an outage was applied to all open deadlines."""
    tx.execute(update(_OUTAGE).where(_OUTAGE.c.id == outage_id).values(applied_at=now))
