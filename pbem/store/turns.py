"""A turn is over: whom nobody asks any more, who is asked now, who gets a mail, and the snapshot of the game.

Who plays a seat is looked up where it is written down, so that a move need not fetch it.
"""

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
"""What is written along with the snapshot; `close` has the values of all of them."""


@dataclass(frozen=True, slots=True)
class Next:
    """What comes after a turn: the number of the one that opens, who is asked in it, and who gets a mail of which kind.

    Of those asked, some may have answered already, by a standing order. No mail leaves before its moment.
    """

    turn: int
    asked: Collection[int]
    answered: Collection[int]
    email: str
    told: Collection[int]
    leaves_at: datetime


def close(tx: Connection, game: GameRow, new: Mapping[str, Any], then: Next, now: datetime) -> None:
    """Close the turn that is open, write the new snapshot, and go on."""
    values = {
        "of_game": game.id,
        "of_turn": game.turn,
        "next_turn": then.turn,
        "asked": bits(then.asked),
        "answered": bits(then.answered),
        "mail": then.email,
        "because_of": new["seq"],
        "about": then.turn if then.asked else None,
        "told": bits(then.told),
        "leaves_at": then.leaves_at,
        "now": now,
    }
    games.advance(tx, game, new, _ALONG, values)
