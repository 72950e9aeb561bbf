"""A worked example for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Example, Line, Row
from engine.tell import say

from .words import faces

EXAMPLES: Final = (
    Example(
        say("An example: exchanging tiles"),
        (
            Row(say("Ann bids"), faces((5,))),
            Row(say("Ben bids"), faces((3,))),
            Row(say("Cleo bids"), faces((3,))),
            Row(say("Dan bids"), faces((1,))),
            Line(say("Ann wins with her 5. Ben and Cleo made the same bid, so each keeps their 3 and is skipped.")),
            Line(
                say(
                    "Ann's 5 goes to Dan, who has the next highest bid. His 1 is the lowest, so it goes to Ann. From now "
                    "on Dan can bid two different fives, and Ann has none."
                )
            ),
        ),
    ),
)
