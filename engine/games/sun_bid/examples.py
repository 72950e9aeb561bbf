"""A worked example for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.decks.decktet import faces
from engine.tell import say

EXAMPLES: Final = (
    Example(
        say("Example: winning an Ace"),
        (
            Row(say("You win this pool"), faces(("AM", "5ML", "7WY"))),
            Row(say("Your take so far"), faces(("3MW", "XL"))),
            Line(
                say(
                    "{ace} costs you a card with Moons. You have two: {old} in your take, and {new}, just won. You "
                    "choose which one to discard, and the Ace goes with it.",
                    ace="AM",
                    old="3MW",
                    new="5ML",
                )
            ),
            Row(say("If you discard the Journey"), faces(("5ML", "7WY", "XL"))),
            Line(
                say(
                    "{crown} is any number in Leaves, so it can be the 4 or the 6 beside {card}: a sequence of two "
                    "cards, 2 points. Discard {card} instead, and you have no sequence and no points.",
                    crown="XL",
                    card="5ML",
                )
            ),
        ),
    ),
)
