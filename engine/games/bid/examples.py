"""A worked example for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.tell import say

from .words import faces

EXAMPLES: Final = (
    Example(
        say("Example: exchanging tiles"),
        (
            Row(say("Ann bids"), faces((5,))),
            Row(say("Ben bids"), faces((3,))),
            Row(say("Cleo bids"), faces((3,))),
            Row(say("Dan bids"), faces((1,))),
            Line(say("Ann wins with her 5. Ben and Cleo made the same bid, so they keep their 3s and are skipped.")),
            Line(
                say(
                    "Ann's 5 goes to Dan, the next highest bidder. His 1 is the lowest bid, so it goes to Ann. Now "
                    "Dan holds two 5s, and Ann has none."
                )
            ),
        ),
    ),
)
