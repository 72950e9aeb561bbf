"""A worked example for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.decks.decktet import faces
from engine.tell import say

ANN: Final = ("9MS", "9WY", "9LK", "2MK", "XL")
BEN: Final = ("4MS", "4WL", "5ML", "5SW", "XY")
CLEO: Final = ("5YK", "6SY", "7SK", "8YK", "AW")

EXAMPLES: Final = (
    Example(
        say("An example: a showdown"),
        (
            Line(
                say(
                    "Seven players have five cards each. Ann, Ben and Cleo have finished. Dan folded with three cards played, "
                    "after the Sun was taken, and lost 2 points. The others folded earlier."
                )
            ),
            Row(say("Ann's best Set: three of a kind"), faces(ANN[:3])),
            Row(say("Ben's best Set: a split of four"), faces(BEN[:4])),
            Row(say("Cleo's best Set: a run of four"), faces(CLEO[:4])),
            Line(
                say(
                    "Ann has the smallest Set and loses to both, although three of a kind is a better kind. Ben and Cleo have "
                    "four cards each, so the kind decides: a run beats a split. Each card of Cleo's run shares a suit with "
                    "the next: Wyrms, then Suns, then Knots."
                )
            ),
            Line(
                say(
                    "Ann and Ben lose 5 points each, one for each card of a full hand. Cleo gains 5 points for the same "
                    "reason, and the 5 + 5 + 2 points that the others lost: 17 in all."
                )
            ),
        ),
    ),
)
