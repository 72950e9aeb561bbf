"""How much there is of what somebody may have to see to, in numbers for whoever watches the server.

All of it is read from indexes, from rows that are open and from small tables: it costs the same with years of old games.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from pbem.store.deadlines import IS_OPEN, MOST_ATTEMPTS
from pbem.store.schema import Beat, Call, Deadline, Game, Outbox, Received, Unreachable, table_of
from pbem.store.types import Moment

_BEAT, _CALL, _DEADLINE, _GAME = table_of(Beat), table_of(Call), table_of(Deadline), table_of(Game)
_OUTBOX, _RECEIVED, _UNREACHABLE = table_of(Outbox), table_of(Received), table_of(Unreachable)

_GAMES = select(_GAME.c.status, func.count()).group_by(_GAME.c.status)
_MAILS = (
    select(_OUTBOX.c.status, func.count())
    .where(_OUTBOX.c.status.in_(("queued", "digest", "parked")))
    .group_by(_OUTBOX.c.status)
)
_OLDEST_MAIL = select(func.min(_OUTBOX.c.due_at)).where(_OUTBOX.c.status == "queued")
_RECEIVED_MAILS = (
    select(_RECEIVED.c.status, func.count())
    .where(_RECEIVED.c.status.in_(("waiting", "doubted", "parked")))
    .group_by(_RECEIVED.c.status)
)
_OPEN = select(func.count()).select_from(_DEADLINE).where(IS_OPEN)
# Only what is due is ever tried, and of the open ones that are few.
_STUCK = _OPEN.where(_DEADLINE.c.due_at <= bindparam("now", type_=Moment), _DEADLINE.c.attempts >= MOST_ATTEMPTS)
_OVERDUE = (
    select(func.count(), func.min(_DEADLINE.c.due_at))
    .select_from(_DEADLINE.join(_GAME, _GAME.c.id == _DEADLINE.c.game_id))
    .where(
        IS_OPEN,
        _DEADLINE.c.due_at <= bindparam("now", type_=Moment),
        _GAME.c.status == "playing",
        _GAME.c.paused.is_(False),
    )
)
_CALLS = select(func.count()).select_from(_CALL).where(_CALL.c.status == "open")
_FAILING = select(func.count()).select_from(_UNREACHABLE).where(_UNREACHABLE.c.end_at.is_(None))
_WORKERS = select(func.count()).select_from(_BEAT).where(_BEAT.c.beat_at >= bindparam("since", type_=Moment))
_LAST_BEAT = select(func.max(_BEAT.c.beat_at))

GAMES: Final = ("planned", "open", "playing", "over", "void", "closed", "expired", "frozen")
MAILS: Final = ("queued", "digest", "parked")
RECEIVED: Final = ("waiting", "doubted", "parked")


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one moment. Tables, mails and mails that came in are told by what has become of them so far."""

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
    """The numbers of this moment; a worker counts if it was heard of since then."""
    overdue, oldest_overdue = tx.execute(_OVERDUE, {"now": now}).one()
    return Figures(
        games=_counted(tx, _GAMES, GAMES),
        emails=_counted(tx, _MAILS, MAILS),
        oldest_mail=tx.execute(_OLDEST_MAIL).scalar_one(),
        received=_counted(tx, _RECEIVED_MAILS, RECEIVED),
        open_deadlines=_number(tx, _OPEN),
        parked_deadlines=_number(tx, _STUCK, now=now),
        overdue=overdue,
        oldest_overdue=oldest_overdue,
        calls=_number(tx, _CALLS),
        unreachable=_number(tx, _FAILING),
        workers=_number(tx, _WORKERS, since=since),
        last_beat=tx.execute(_LAST_BEAT).scalar_one(),
    )


def _counted(tx: Connection, wanted: Select[Any], kinds: tuple[str, ...]) -> dict[str, int]:
    # What there is none of is told as well: a line that is missing looks like a server that is missing.
    return dict.fromkeys(kinds, 0) | {kind: int(number) for kind, number in tx.execute(wanted)}


def _number(tx: Connection, wanted: Select[Any], **values: Any) -> int:
    return int(tx.execute(wanted, values).scalar_one())
