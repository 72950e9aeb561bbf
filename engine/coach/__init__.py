"""The coach: a review of a finished game for one of its players.

    review_of(game, seats, options, turns, seat, own, seed)

It plays the game on, many times, from each of the player's decisions: in worlds that fit what the player knew then, and
again with all hands open. The same game gives the same review on every machine: budgets are counted, never timed.
"""

from __future__ import annotations

from engine.coach.review import KINDS, Luck, Point, Review, Side, Verdict
from engine.coach.study import review_of

__all__ = ["KINDS", "Luck", "Point", "Review", "Side", "Verdict", "review_of"]
