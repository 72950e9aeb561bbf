"""Moments that were reckoned from a clock that has since been set back. They have not come yet, and work would wait for them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, bindparam, delete, exists, func, insert, select, update

from pbem.domain.states import EmailStatus, OfferStatus, ReceivedStatus, TurnStatus
from pbem.store.limits import COUNTED
from pbem.store.schema import (
    ALARM,
    CLOCK_STEP,
    DEADLINE,
    HEARTBEAT,
    LEASE,
    OFFER,
    OUTAGE,
    OUTBOX,
    PAUSE,
    PERSON,
    PLAYER,
    QUOTA,
    RECEIVED,
    REVIEW,
    TASK_RUN,
    UNREACHABLE,
    WEB_SERVER,
)

_QUEUED: Final = OUTBOX.c.status == EmailStatus.QUEUED
_WAITING: Final = RECEIVED.c.status == ReceivedStatus.WAITING
_OPEN: Final = DEADLINE.c.status == TurnStatus.OPEN
_BOT: Final = exists().where(
    PLAYER.c.game_id == DEADLINE.c.game_id, PLAYER.c.seat == DEADLINE.c.seat, PLAYER.c.bot.is_not(None)
)

WAITS: Final[tuple[tuple[Column[Any], tuple[ColumnElement[bool], ...]], ...]] = (
    (OUTBOX.c.due_at, (_QUEUED,)),
    # Messages that are to be marked as done.
    (OUTBOX.c.due_at, (OUTBOX.c.remote_id.is_not(None),)),
    (RECEIVED.c.due_at, (_WAITING,)),
    (DEADLINE.c.due_at, (_OPEN, _BOT)),
    (QUOTA.c.used_until, ()),
    # Those that are made count, too: how many a person gets in a day is told by them.
    (REVIEW.c.due_at, ()),
)
"""What waits for a moment. The deadlines of people are no part of it: a promise is never taken back."""

LEASES: Final[tuple[tuple[Column[Any], tuple[ColumnElement[bool], ...]], ...]] = (
    (LEASE.c.until, ()),
    (RECEIVED.c.claimed_until, (_WAITING,)),
    (DEADLINE.c.claimed_until, (_OPEN,)),
)
"""Until when something is claimed."""

_SUM: Final = select(func.coalesce(func.sum(CLOCK_STEP.c.seconds), 0))

_PAST: Final = (
    (OUTBOX.c.queued_at, _QUEUED),
    (ALARM.c.at, ALARM.c.emailed_at.is_(None)),
    # A choice since then keeps the seat.
    (OFFER.c.offered_at, OFFER.c.status == OfferStatus.OPEN),
    *((column, column.is_not(None)) for column in (PAUSE.c.start_at, PAUSE.c.end_at)),
    *(
        (column, column.is_not(None))
        for column in (UNREACHABLE.c.start_at, UNREACHABLE.c.end_at, UNREACHABLE.c.covered_at)
    ),
    (OUTAGE.c.start_at, OUTAGE.c.email_paused),
    *(
        (column, column.is_not(None))
        for column in (OUTAGE.c.end_at, HEARTBEAT.c.started_at, HEARTBEAT.c.beat_at, WEB_SERVER.c.beat_at)
    ),
)
"""What has happened, and so cannot be later than now."""


def bring_back(tx: Connection, now: datetime, step: timedelta, longest_lease: timedelta) -> None:
    """Bring back by this step what waits and what is counted, and to now what is past; leases only if nobody can have them."""
    for column, conditions in WAITS:
        _shift(tx, column, conditions, now, lambda moment: max(now, moment - step))
    for column, conditions in LEASES:
        _shift(tx, column, conditions, now + longest_lease, lambda moment: max(now, moment - step))
    for column, conditions in COUNTED.items():
        _shift(tx, column, conditions, now, lambda moment: min(now, moment - step))
    tx.execute(delete(OUTAGE).where(OUTAGE.c.start_at >= now, ~OUTAGE.c.email_paused))
    for column, condition in _PAST:
        tx.execute(update(column.table).where(column > now, condition).values({column: now}))
    # A day in the reader's zone is never further ahead than a day in UTC.
    tomorrow = (now + timedelta(days=1)).date()
    tx.execute(delete(TASK_RUN).where(TASK_RUN.c.period >= tomorrow.isoformat()))
    early = update(PERSON).where(PERSON.c.digest_on > tomorrow)
    tx.execute(early.values(digest_on=now.date() - timedelta(days=1)))


def note(tx: Connection, at: datetime, step: timedelta) -> None:
    """Keep a step of the clock, negative if it was set back."""
    tx.execute(insert(CLOCK_STEP), {"at": at, "seconds": round(step.total_seconds())})


def behind(tx: Connection) -> timedelta:
    """How far the clock was set back, less what it was set forward since; negative if it is ahead."""
    return -timedelta(seconds=int(tx.execute(_SUM).scalar_one()))


def _shift(
    tx: Connection,
    column: Column[Any],
    conditions: tuple[ColumnElement[bool], ...],
    after: datetime,
    moved: Callable[[datetime], datetime],
) -> None:
    table = column.table
    keys = list(table.primary_key.columns)
    rows = tx.execute(select(column.label("moment"), *keys).where(column > after, *conditions).with_for_update()).all()
    if rows:
        same = [key == bindparam(f"of_{key.name}") for key in keys]
        back = update(table).where(*same).values({column: bindparam("new_moment")})
        of_row = [{f"of_{key.name}": row._mapping[key.name] for key in keys} for row in rows]
        tx.execute(back, [{**of, "new_moment": moved(row.moment)} for of, row in zip(of_row, rows, strict=True)])
