"""Closing a turn: deadlines, emails and the new snapshot. The statements look players up, so a move need not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from pbem.store import games
from pbem.store.deadlines import ASK, CLOSE
from pbem.store.games import GameRow
from pbem.store.outbox import TELL
from pbem.store.players import bits

_ALONG: Final = (CLOSE, ASK, TELL)
_AT_THE_END: Final = (CLOSE, TELL)
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
