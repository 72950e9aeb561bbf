"""What moderation asks of the rows: which mails a deed has caused, and which turns the clock decided in a span of time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, or_, select

from pbem.store.schema import Deadline, Game, Outbox, table_of

_DEADLINE, _GAME, _OUTBOX = table_of(Deadline), table_of(Game), table_of(Outbox)


@dataclass(frozen=True, slots=True)
class MailRow:
    """A mail that was queued: to whom, of which kind, and what it says where it is a notice."""

    person_id: int
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """A turn that the clock decided."""

    game_id: int
    title: str
    turn: int
    seat: int
    due_at: datetime


def newest_mail(tx: Connection) -> int:
    """The number of the newest mail; 0 if there was none ever."""
    return int(tx.execute(select(func.coalesce(func.max(_OUTBOX.c.id), 0))).scalar_one())


def mails_after(
    tx: Connection, number: int, game_ids: Iterable[int | None], person_ids: Iterable[int | None]
) -> list[MailRow]:
    """The mails with higher numbers about one of these games or to one of these people, the first first."""
    concerned = or_(
        _OUTBOX.c.game_id.in_([each for each in game_ids if each is not None]),
        _OUTBOX.c.person_id.in_([each for each in person_ids if each is not None]),
    )
    wanted = select(_OUTBOX.c.person_id, _OUTBOX.c.kind, _OUTBOX.c.facts).where(_OUTBOX.c.id > number, concerned)
    return [
        MailRow(row.person_id, row.kind, str(json.loads(row.facts).get("what", "")))
        for row in tx.execute(wanted.order_by(_OUTBOX.c.id))
    ]


def decided_by_clock(tx: Connection, start: datetime, end: datetime, limit: int) -> list[DecidedRow]:
    """Turns of games that go on whose time ended in this span, that the clock decided and that stand, the first first."""
    wanted = (
        select(_DEADLINE.c.game_id, _GAME.c.title, _DEADLINE.c.turn, _DEADLINE.c.seat, _DEADLINE.c.due_at)
        .join(_GAME, _GAME.c.id == _DEADLINE.c.game_id)
        .where(
            _DEADLINE.c.status == "silent",
            _DEADLINE.c.due_at >= start,
            _DEADLINE.c.due_at <= end,
            _GAME.c.status == "playing",
        )
        .order_by(_DEADLINE.c.due_at, _DEADLINE.c.game_id, _DEADLINE.c.seat)
        .limit(limit)
    )
    return [DecidedRow(*row) for row in tx.execute(wanted)]
