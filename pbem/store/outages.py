"""Outages and pauses of outgoing email, as rows. `domain.deadline` decides what they do to a deadline."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, case, or_, select, update

from pbem.domain.interval import Interval
from pbem.store import queries
from pbem.store.schema import OUTAGE, OutageRow

_OUTAGES = select(OUTAGE.c.start_at, OUTAGE.c.end_at).where(
    or_(OUTAGE.c.end_at > bindparam("since"), OUTAGE.c.end_at.is_(None))
)
_OUTAGES_BEFORE = select(OUTAGE.c.start_at, OUTAGE.c.end_at).where(OUTAGE.c.start_at < bindparam("now"))
_UNAPPLIED = select(OUTAGE).where(OUTAGE.c.applied_at.is_(None), OUTAGE.c.end_at.is_not(None)).order_by(OUTAGE.c.id)
_PAUSE = select(OUTAGE).where(OUTAGE.c.end_at.is_(None)).limit(1)


def add(tx: Connection, outage: Interval, why: str) -> bool:
    """Add an outage; False if another worker has added it."""
    values = {"start_at": outage.start, "end_at": outage.end, "email_paused": False, "why": why}
    return queries.add_once(tx, OUTAGE, values)


def pause_email(tx: Connection, now: datetime, why: str) -> None:
    """Begin a pause of outgoing email, just after an outage that began at the same moment."""
    values = {"end_at": None, "email_paused": True, "why": why}
    while not queries.add_once(tx, OUTAGE, values | {"start_at": now}):
        now += timedelta.resolution


def resume_email(tx: Connection, now: datetime) -> None:
    """End the pause of outgoing email."""
    tx.execute(
        update(OUTAGE)
        .where(OUTAGE.c.end_at.is_(None))
        .values(end_at=case((OUTAGE.c.start_at < now, now), else_=OUTAGE.c.start_at))
    )


def email_pause(tx: Connection) -> OutageRow | None:
    """The pause of outgoing email that is going on."""
    return queries.one(tx, OutageRow, _PAUSE)


def since(tx: Connection, since: datetime) -> tuple[Interval, ...]:
    """The outages that end after this moment, or have not ended."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES, {"since": since}))


def all_until(tx: Connection, now: datetime) -> tuple[Interval, ...]:
    """All outages that began before this moment."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES_BEFORE, {"now": now}))


def newest(tx: Connection, limit: int = 20) -> list[OutageRow]:
    newest = select(OUTAGE).order_by(OUTAGE.c.start_at.desc()).limit(limit)
    return queries.many(tx, OutageRow, newest)


def unapplied(tx: Connection) -> list[OutageRow]:
    """Outages that have ended and may not have been applied to all open deadlines."""
    return queries.many(tx, OutageRow, _UNAPPLIED)


def mark_applied(tx: Connection, outage_id: int, now: datetime) -> bool:
    """Note that an outage was applied to all open deadlines; False if another worker has."""
    applied = update(OUTAGE).where(OUTAGE.c.id == outage_id, OUTAGE.c.applied_at.is_(None)).values(applied_at=now)
    return tx.execute(applied).rowcount == 1
