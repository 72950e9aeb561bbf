"""A worked example for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.decks.decktet import faces
from engine.tell import say

EXAMPLES: Final = (
    Example(
        say("An example: winning an Ace"),
        (
            Row(say("You win this pool"), faces(("AM", "5ML", "7WY"))),
            Row(say("Your take so far"), faces(("3MW", "XL"))),
            Line(
                say(
                    "{ace} costs you a card with Moons. You have two by now: {old} from your take, and {new}, which you have "
                    "just won. You choose which one goes, and the Ace goes with it.",
                    ace="AM",
                    old="3MW",
                    new="5ML",
                )
            ),
            Row(say("If the Journey goes"), faces(("5ML", "7WY", "XL"))),
            Line(
                say(
                    "{crown} is any number in Leaves, so it can be a 4 or a 6 beside {card}: two cards in a sequence, 2 points. "
                    "Without {card} there would be no sequence, and no points.",
                    crown="XL",
                    card="5ML",
                )
            ),
        ),
    ),
)
