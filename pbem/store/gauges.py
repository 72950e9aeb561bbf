"""Numbers of what may need attention, for monitoring.

They are read from indexes, open rows and small tables, so years of finished games do not make them slower.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from pbem.domain.states import CallStatus, EmailStatus, ReceivedStatus, TableStatus
from pbem.store.deadlines import IS_OPEN
from pbem.store.due_turns import MOST_ATTEMPTS
from pbem.store.schema import CALL, DEADLINE, GAME, HEARTBEAT, OUTBOX, RECEIVED, UNREACHABLE
from pbem.store.types import Moment

_EMAIL_STATUSES = (EmailStatus.QUEUED, EmailStatus.DIGEST, EmailStatus.PARKED)
_RECEIVED_STATUSES = (ReceivedStatus.WAITING, ReceivedStatus.DOUBTED, ReceivedStatus.PARKED)

_GAMES = select(GAME.c.status, func.count()).group_by(GAME.c.status)
_IS_EMAIL = OUTBOX.c.channel_id == 0
_EMAILS = (
    select(OUTBOX.c.status, func.count())
    .where(OUTBOX.c.status.in_(_EMAIL_STATUSES), _IS_EMAIL)
    .group_by(OUTBOX.c.status)
)
_OLDEST_EMAIL = select(func.min(OUTBOX.c.due_at)).where(OUTBOX.c.status == EmailStatus.QUEUED, _IS_EMAIL)
_RECEIVED_EMAILS = (
    select(RECEIVED.c.status, func.count()).where(RECEIVED.c.status.in_(_RECEIVED_STATUSES)).group_by(RECEIVED.c.status)
)
_OPEN = select(func.count()).select_from(DEADLINE).where(IS_OPEN)
# Only due deadlines are ever tried, and few of the open ones are due.
_STUCK = _OPEN.where(DEADLINE.c.due_at <= bindparam("now", type_=Moment), DEADLINE.c.attempts >= MOST_ATTEMPTS)
_OVERDUE = (
    select(func.count(), func.min(DEADLINE.c.due_at))
    .select_from(DEADLINE.join(GAME, GAME.c.id == DEADLINE.c.game_id))
    .where(
        IS_OPEN,
        DEADLINE.c.due_at <= bindparam("now", type_=Moment),
        GAME.c.status == TableStatus.PLAYING,
        GAME.c.paused.is_(False),
    )
)
_CALLS = select(func.count()).select_from(CALL).where(CALL.c.status == CallStatus.OPEN)
_FAILING = select(func.count()).select_from(UNREACHABLE).where(UNREACHABLE.c.end_at.is_(None))
_WORKERS = select(func.count()).select_from(HEARTBEAT).where(HEARTBEAT.c.beat_at >= bindparam("since", type_=Moment))
_NEWEST = select(func.max(HEARTBEAT.c.beat_at))


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one moment. Tables and emails are counted by status."""

    games: Mapping[str, int]
    emails: Mapping[str, int]
    oldest_email: datetime | None
    received: Mapping[str, int]
    open_deadlines: int
    parked_deadlines: int
    overdue: int
    oldest_overdue: datetime | None
    calls: int
    unreachable: int
    workers: int
    last_beat: datetime | None


def read(tx: Connection, now: datetime, since: datetime) -> Figures:
    """The numbers of this moment. A worker counts if it was seen since `since`."""
    overdue, oldest_overdue = tx.execute(_OVERDUE, {"now": now}).one()
    return Figures(
        games=_counts(tx, _GAMES, TableStatus),
        emails=_counts(tx, _EMAILS, _EMAIL_STATUSES),
        oldest_email=tx.execute(_OLDEST_EMAIL).scalar_one(),
        received=_counts(tx, _RECEIVED_EMAILS, _RECEIVED_STATUSES),
        open_deadlines=_number(tx, _OPEN),
        parked_deadlines=_number(tx, _STUCK, now=now),
        overdue=overdue,
        oldest_overdue=oldest_overdue,
        calls=_number(tx, _CALLS),
        unreachable=_number(tx, _FAILING),
        workers=_number(tx, _WORKERS, since=since),
        last_beat=tx.execute(_NEWEST).scalar_one(),
    )


def _counts(tx: Connection, query: Select[Any], statuses: Iterable[str]) -> dict[str, int]:
    # Zeroes are reported too: a missing line looks like a missing server.
    return dict.fromkeys(statuses, 0) | {status: int(number) for status, number in tx.execute(query)}


def _number(tx: Connection, query: Select[Any], **values: Any) -> int:
    return int(tx.execute(query, values).scalar_one())
