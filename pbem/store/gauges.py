"""Numbers of what may need attention, for monitoring.

They are read from indexes, open rows and small tables, so years of finished games do not make them slower.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from pbem.domain.states import CallStatus, EmailStatus, ReceivedStatus, TableStatus
from pbem.store.deadlines import IS_OPEN, MOST_ATTEMPTS
from pbem.store.schema import Call, Deadline, Game, Heartbeat, Outbox, Received, Unreachable, table_of
from pbem.store.types import Moment

_HEARTBEAT, _CALL, _DEADLINE, _GAME = table_of(Heartbeat), table_of(Call), table_of(Deadline), table_of(Game)
_OUTBOX, _RECEIVED, _UNREACHABLE = table_of(Outbox), table_of(Received), table_of(Unreachable)

_GAMES = select(_GAME.c.status, func.count()).group_by(_GAME.c.status)
_EMAILS = (
    select(_OUTBOX.c.status, func.count())
    .where(_OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST, EmailStatus.PARKED)))
    .group_by(_OUTBOX.c.status)
)
_OLDEST_EMAIL = select(func.min(_OUTBOX.c.due_at)).where(_OUTBOX.c.status == EmailStatus.QUEUED)
_RECEIVED_EMAILS = (
    select(_RECEIVED.c.status, func.count())
    .where(_RECEIVED.c.status.in_((ReceivedStatus.WAITING, ReceivedStatus.DOUBTED, ReceivedStatus.PARKED)))
    .group_by(_RECEIVED.c.status)
)
_OPEN = select(func.count()).select_from(_DEADLINE).where(IS_OPEN)
# Only due deadlines are ever tried, and few of the open ones are due.
_STUCK = _OPEN.where(_DEADLINE.c.due_at <= bindparam("now", type_=Moment), _DEADLINE.c.attempts >= MOST_ATTEMPTS)
_OVERDUE = (
    select(func.count(), func.min(_DEADLINE.c.due_at))
    .select_from(_DEADLINE.join(_GAME, _GAME.c.id == _DEADLINE.c.game_id))
    .where(
        IS_OPEN,
        _DEADLINE.c.due_at <= bindparam("now", type_=Moment),
        _GAME.c.status == TableStatus.PLAYING,
        _GAME.c.paused.is_(False),
    )
)
_CALLS = select(func.count()).select_from(_CALL).where(_CALL.c.status == CallStatus.OPEN)
_FAILING = select(func.count()).select_from(_UNREACHABLE).where(_UNREACHABLE.c.end_at.is_(None))
_WORKERS = select(func.count()).select_from(_HEARTBEAT).where(_HEARTBEAT.c.beat_at >= bindparam("since", type_=Moment))
_NEWEST = select(func.max(_HEARTBEAT.c.beat_at))

GAMES: Final = (
    TableStatus.PLANNED,
    TableStatus.OPEN,
    TableStatus.PLAYING,
    TableStatus.OVER,
    TableStatus.VOID,
    TableStatus.CLOSED,
    TableStatus.EXPIRED,
    TableStatus.FROZEN,
)
EMAILS: Final = (EmailStatus.QUEUED, EmailStatus.DIGEST, EmailStatus.PARKED)
RECEIVED: Final = (ReceivedStatus.WAITING, ReceivedStatus.DOUBTED, ReceivedStatus.PARKED)


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one moment. Tables and emails are counted by status."""

    games: Mapping[str, int]
    emails: Mapping[str, int]
    oldest_mail: datetime | None
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
        games=_counts(tx, _GAMES, GAMES),
        emails=_counts(tx, _EMAILS, EMAILS),
        oldest_mail=tx.execute(_OLDEST_EMAIL).scalar_one(),
        received=_counts(tx, _RECEIVED_EMAILS, RECEIVED),
        open_deadlines=_number(tx, _OPEN),
        parked_deadlines=_number(tx, _STUCK, now=now),
        overdue=overdue,
        oldest_overdue=oldest_overdue,
        calls=_number(tx, _CALLS),
        unreachable=_number(tx, _FAILING),
        workers=_number(tx, _WORKERS, since=since),
        last_beat=tx.execute(_NEWEST).scalar_one(),
    )


def _counts(tx: Connection, query: Select[Any], kinds: tuple[str, ...]) -> dict[str, int]:
    # Zeroes are reported too: a missing line looks like a missing server.
    return dict.fromkeys(kinds, 0) | {kind: int(number) for kind, number in tx.execute(query)}


def _number(tx: Connection, query: Select[Any], **values: Any) -> int:
    return int(tx.execute(query, values).scalar_one())
