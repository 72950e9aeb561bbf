"""What can be agreed before a game of Sorcerous Futures."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Options
from engine.tell import say

EXCUSE_SEAT: Final = Listed(
    name="excuse_seat",
    called=say("Player with the Excuse"),
    default="random",
    spoken=(
        ("random", say("random")),
        ("1", say("player 1")),
        ("2", say("player 2")),
        ("3", say("player 3")),
        ("4", say("player 4")),
    ),
    about=say("The Excuse goes to a random player, or to the one with this number."),
    seats=(4,),
)
SLY_EXCUSE: Final = Listed(
    name="sly_excuse",
    called=say("Sly Excuse"),
    default="off",
    spoken=(("on", say("yes")), ("off", say("no"))),
    about=say("Once the Crowns are dealt, the player with the Excuse sees which seven cards go face down."),
    seats=(4,),
)


@fact
class Terms:
    """What a table has agreed. `excuse` is the seat that gets the Excuse, or None if it is drawn or three play."""

    excuse: int | None
    sly: bool


def agreed(seats: int, options: Options) -> Terms:
    """Return the terms of a table with this number of players and these options."""
    named, four = EXCUSE_SEAT.value_in(options), seats == 4
    return Terms(
        excuse=int(named) - 1 if four and named != "random" else None, sly=four and SLY_EXCUSE.value_in(options) == "on"
    )
