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
        say("Example: a showdown"),
        (
            Line(
                say(
                    "With seven players, a full hand is five cards. Ann, Ben and Cleo have finished. Dan folded after "
                    "three cards, with the Sun taken, and lost 2 points. The others folded before that."
                )
            ),
            Row(say("Ann's best Set: three of a kind"), faces(ANN[:3])),
            Row(say("Ben's best Set: a split of four"), faces(BEN[:4])),
            Row(say("Cleo's best Set: a run of four"), faces(CLEO[:4])),
            Line(
                say(
                    "Ann has the better kind but the smallest Set, so she loses to both. Ben and Cleo have four cards "
                    "each, so the kind decides: a run beats a split. Each card in Cleo's run shares a suit with the "
                    "next: Wyrms, then Suns, then Knots."
                )
            ),
            Line(
                say(
                    "Ann and Ben lose 5 points each, one per card of a full hand. Cleo gains 5, plus the 5 + 5 + 2 "
                    "the others lost: 17 in all."
                )
            ),
        ),
    ),
)
