"""Players whose seats others have taken over: what happened in a turn is told with the names of those who played in it.

A choice that a player had sealed in the turn of the handover counts as the successor's, who could replace it: anything else
would tell that the former player had answered.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engine.game import Game
from engine.tell import Teller
from pbem.domain.user_text import isolate
from pbem.i18n import speech

TellerIn = Callable[[int | None], Teller]
"""The teller of what happened in a turn; without a turn, of what is so now."""


class FormerPlayer(NamedTuple):
    """A player whose seat someone else took over: `turn` is the successor's first, `seq` the row of the log that says so."""

    seat: int
    seq: int
    turn: int
    name: str


def names_in_turn(turn: int | None, names: Sequence[str], former: Sequence[FormerPlayer]) -> tuple[str, ...]:
    """The names of the seats in a turn, given those of today and the former players, the earliest first."""
    then = {each.seat: each.name for each in reversed(former) if turn is not None and turn < each.turn}
    return tuple(then.get(seat, name) for seat, name in enumerate(names))


def name_at_row(seq: int, seat: int, name: str, former: Sequence[FormerPlayer]) -> str:
    """The name of a seat's player when a row of the log was written, given that of today."""
    return next((each.name for each in former if each.seat == seat and seq < each.seq), name)


def teller_in_turn(
    turn: int | None, rules: Game[Any], reader: int | None, names: Sequence[str], former: Sequence[FormerPlayer]
) -> Teller:
    """A teller of what happened in a turn, or of what is so now.

    A reader whose seat someone else played in that turn is called by that player's name.
    """
    was_another = any(each.seat == reader and turn is not None and turn < each.turn for each in former)
    then = names_in_turn(turn, names, former)
    return speech.teller(rules, None if was_another else reader, tuple(map(isolate, then)))
