"""Outages, as rows. `domain.deadline` decides what they do to a deadline."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from pbem.domain.interval import Interval
from pbem.store import queries
from pbem.store.schema import OUTAGE, OutageRow

_OUTAGES = select(OUTAGE.c.start_at, OUTAGE.c.end_at).where(OUTAGE.c.end_at > bindparam("since"))
_UNAPPLIED = select(OUTAGE).where(OUTAGE.c.applied_at.is_(None)).order_by(OUTAGE.c.id)


def add(tx: Connection, outage: Interval, why: str) -> bool:
    """Add an outage; False if another worker has added it."""
    values = {"start_at": outage.start, "end_at": outage.end, "why": why}
    return queries.add_once(tx, OUTAGE, values)


def since(tx: Connection, since: datetime) -> tuple[Interval, ...]:
    """The outages that end after this moment."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES, {"since": since}))


def newest(tx: Connection, limit: int = 20) -> list[OutageRow]:
    newest = select(OUTAGE).order_by(OUTAGE.c.start_at.desc()).limit(limit)
    return queries.many(tx, OutageRow, newest)


def unapplied(tx: Connection) -> list[OutageRow]:
    """Outages that may not have been applied to all open deadlines."""
    return queries.many(tx, OutageRow, _UNAPPLIED)


def mark_applied(tx: Connection, outage_id: int, now: datetime) -> None:
    """Note that an outage was applied to all open deadlines."""
    tx.execute(update(OUTAGE).where(OUTAGE.c.id == outage_id).values(applied_at=now))
