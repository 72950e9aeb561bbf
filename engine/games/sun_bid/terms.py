"""What can be agreed before a game of Sun Bid."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Options
from engine.tell import say

from .cards import STACKS_FOR_FOUR, STACKS_FOR_THREE, STACKS_FOR_TWO, Cards

STACKS: Final = Listed(
    name="stacks2",
    called=say("Starting Suns"),
    default="A",
    spoken=(("A", say("9-6-5-2 against 8-7-4-3")), ("B", say("9-6-4-3 against 8-7-5-2"))),
    about=say("The Suns the two players start with."),
    seats=(2,),
)
EQUAL_PAWNS: Final = Listed(
    name="equal_pawns",
    called=say("Equal Pawns"),
    default="off",
    spoken=(("on", say("yes")), ("off", say("no"))),
    about=say("Harvest and Lightkeeper can each outbid the other. Both count as 10, and so do Window and Bard."),
    seats=(3, 4),
)
SEQUENCE_SCORING: Final = Listed(
    name="sequence_scoring",
    called=say("Sequence scoring"),
    default="once",
    spoken=(("once", say("once")), ("per_suit", say("once per suit"))),
    about=say("How often a card scores if it has neighbours in two suits."),
)


@fact
class Terms:
    """What a table has agreed, and what follows from the number of players. `full` is the number of cards in a full pool."""

    stacks: tuple[Cards, ...]
    copies: int
    full: int
    equal_pawns: bool
    per_suit: bool


def agreed(seats: int, options: Options) -> Terms:
    """Return the terms of a table with this number of players and these options."""
    stacks = {2: STACKS_FOR_TWO[STACKS.value_in(options)], 3: STACKS_FOR_THREE, 4: STACKS_FOR_FOUR}[seats]
    return Terms(
        stacks,
        copies=1 if seats == 2 else 2,
        full=4 if seats == 2 else 5,
        equal_pawns=EQUAL_PAWNS.value_in(options) == "on",
        per_suit=SEQUENCE_SCORING.value_in(options) == "per_suit",
    )
