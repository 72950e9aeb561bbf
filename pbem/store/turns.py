"""Closing a turn: deadlines, emails and the new snapshot. The statements look players up, so a move need not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    insert,
    literal_column,
    null,
    select,
    union_all,
)

from pbem.store import games
from pbem.store.deadlines import ASK, CLOSE
from pbem.store.games import GameRow
from pbem.store.outbox import DOMAIN, FIELDS, IS_ACTIVE
from pbem.store.players import among, bits
from pbem.store.schema import CHANNEL, OUTBOX, PERSON, PLAYER
from pbem.store.schema.mail import BY_CHANNEL
from pbem.store.types import Moment, Number

_KIND = bindparam("email_kind", type_=Text)
_AT_SEATS = (PLAYER.c.game_id == bindparam("of_game"), among("emailed"))


def _row(person: Any, game: Any, seat: Any, rank: Any, domain: Any, channel: Any) -> Select[Any]:
    """A row of the outbox about what comes of a move."""
    about = (bindparam("because_of", type_=Number), bindparam("about", type_=Number), _KIND)
    when = (bindparam("now", type_=Moment), bindparam("leaves_at", type_=Moment))
    new = (literal_column("'{}'", Text), literal_column("'queued'", Text))
    return select(person, game, seat, *about, rank, domain, *new, *when, literal_column("0", Number), channel)


_RANK = case((literal_column("'turn'") == _KIND, literal_column("0")), else_=literal_column("1"))
_OF_SEAT = (PLAYER.c.person_id, PLAYER.c.game_id, PLAYER.c.seat)
_OF_TABLE = (CHANNEL.c.person_id, CHANNEL.c.game_id, cast(null(), Number))
_THROUGH: Final[tuple[Any, ...]] = (literal_column(f"{BY_CHANNEL}"), CHANNEL.c.host, CHANNEL.c.id)
_OWN = and_(CHANNEL.c.person_id == PLAYER.c.person_id, CHANNEL.c.game_id.is_(None), IS_ACTIVE)
_TELL: Final = (
    insert(OUTBOX)
    .inline()
    .from_select(
        FIELDS,
        union_all(
            _row(*_OF_SEAT, _RANK, DOMAIN, literal_column("0"))
            .join_from(PLAYER, PERSON, PERSON.c.id == PLAYER.c.person_id)
            .where(*_AT_SEATS),
            _row(*_OF_SEAT, *_THROUGH).join_from(PLAYER, CHANNEL, _OWN).where(*_AT_SEATS),
            _row(*_OF_TABLE, *_THROUGH).where(CHANNEL.c.game_id == bindparam("of_game"), IS_ACTIVE),
        ),
    )
)
"""Queue an email of one kind to the people at some seats of a game, and messages through their channels and the table's."""
_ALONG: Final = (CLOSE, ASK, _TELL)
_AT_THE_END: Final = (CLOSE, _TELL)
"""Statements run along with the snapshot, and those where nobody is asked any more; `close` has the values for all of them."""


@dataclass(frozen=True, slots=True)
class NextTurn:
    """What follows a turn: the next turn and the seats asked in it, and the seats that get an email and its kind.

    Some of the seats asked may have answered already, by a standing order. No email is sent before `leaves_at`.
    """

    turn: int
    asked: Collection[int]
    answered: Collection[int]
    email: str
    emailed: Collection[int]
    leaves_at: datetime


def close(tx: Connection, game: GameRow, new: Mapping[str, Any], then: NextTurn, now: datetime) -> None:
    """Close the open turn, write the new snapshot, and open the next turn."""
    values = {
        "of_game": game.id,
        "of_turn": game.turn,
        "next_turn": then.turn,
        "asked": bits(then.asked),
        "answered": bits(then.answered),
        "email_kind": then.email,
        "because_of": new["seq"],
        "about": then.turn if then.asked else None,
        "emailed": bits(then.emailed),
        "leaves_at": then.leaves_at,
        "now": now,
    }
    games.advance(tx, game, new, _ALONG if then.asked else _AT_THE_END, values)
