"""Worked examples for the rules page."""

from __future__ import annotations

from typing import Final

from engine.board import Amounts, Example, Line, Row
from engine.decks.decktet import faces
from engine.tell import say

ACES: Final = (("AM", "AS"), ("AW", "AL"), ("AY", "AK"))
"""The Aces of Ann, Ben and Cleo. Ben sits on Ann's left, Cleo on her right."""

EXAMPLES: Final = (
    Example(
        say("Example: the ritual"),
        (
            Row(say("Ann's own Crowns"), faces(("XM", "XS"))),
            Row(say("Ben's own Crowns"), faces(("XW", "XL"))),
            Row(say("Cleo's own Crowns"), faces(("XY", "XK"))),
            Line(
                say(
                    "Ben sits on Ann's left, Cleo on her right. Ann's two Crowns go right, to Cleo. Cleo passes one "
                    "of them left, back to Ann, and holds the other. Then everything goes right again: one ends up "
                    "with Cleo, the other with Ben."
                )
            ),
            Line(
                say(
                    "So Ann ends up with one of Ben's Crowns and one of Cleo's, and keeps one unseen. Nobody gets a "
                    "Crown that matches one of their Aces, and nobody knows where the others went."
                )
            ),
        ),
    ),
    Example(
        say("Example: what a card scores"),
        (
            Row(say("You bought"), faces(("5ML",))),
            Amounts(((say("Moons"), 4), (say("Leaves"), 7), (say("under the Excuse"), 6))),
            Line(
                say(
                    "{card} scores 4 + 7 = 11 points. If your Crown is Moons or Leaves, it scores the card under the "
                    "Excuse too: 17 points. If you paid 9 for it, you're 8 points up.",
                    card="5ML",
                )
            ),
        ),
    ),
)
