"""The coach: a review of a finished game for one of its players, and hints where a table allows them.

    review_of(game, seats, options, turns, seat, own, seed)
    hint_for(game, view, decision, seed)

It plays the game on, many times, from each of the player's decisions: in worlds that fit what the player knew then, and
again with all hands open. A hint is made only from what its player sees. The same game gives the same review on every
machine: budgets are counted, never timed.
"""

from __future__ import annotations

from engine.coach.review import KINDS, Luck, Outcome, Point, Reasons, Review, Side, Swing, Tried, Verdict
from engine.coach.study import HINTED, hint_for, review_of

__all__ = [
    "HINTED",
    "KINDS",
    "Luck",
    "Outcome",
    "Point",
    "Reasons",
    "Review",
    "Side",
    "Swing",
    "Tried",
    "Verdict",
    "hint_for",
    "review_of",
]
