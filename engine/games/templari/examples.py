"""Worked examples for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.tell import say

from .cards import faces

ANN: Final = ("B3", "R7")
BEN: Final = ("G6", "Y0")
CLEO: Final = ("R3", "W3")

EXAMPLES: Final = (
    Example(
        say("Example: who gets paid"),
        (
            Row(say("Ann owns"), faces(ANN)),
            Row(say("Ben owns"), faces(BEN)),
            Row(say("Cleo owns"), faces(CLEO)),
            Line(
                say(
                    "Dan wins a lot with a bid of 13, so his coins go to the player with the most 3s. Cleo has two 3s and "
                    "Ann has one, so Cleo gets all 13 coins, and the pot."
                )
            ),
            Line(say("Had he bid 17, Ann would have been paid: she has the only 7.")),
        ),
    ),
    Example(
        say("Example: bidding more than you have"),
        (
            Row(say("Ann owns"), faces(ANN)),
            Line(
                say(
                    "Ann has 6 coins. Ben has bid 8 for a lot he clearly wants. Ann bids 9 to make him pay more, but "
                    "Ben passes, and so does everyone else."
                )
            ),
            Line(
                say(
                    "Ann can't pay. She keeps her 6 coins but loses the blue 3 or the red 7, and gets "
                    "nothing. The lot is auctioned again among the others, to Ben's delight."
                )
            ),
        ),
    ),
)
