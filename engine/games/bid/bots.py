"""What only bots need: a choice at first sight."""

from __future__ import annotations

from typing import Final

from engine.chance import Draw
from engine.decisions import Choice, Decision

from .auction import doubling, prize
from .state import State

COIN: Final = 2
"""The points that a coin is worth, as in `prospect`."""
RICH: Final = 64
"""The prize for which the highest tile is bid at first sight."""


def quick(view: State, decision: Decision, draw: Draw) -> Choice:
    """Return a bid that grows with the prize, give or take a tile."""
    seat, (points, coins) = decision.seat, prize(view.dice)
    worth = (points + COIN * coins) // doubling(view.dice)
    if view.tied:
        return Choice("pay", (draw.below(min(view.coins[seat], worth // 4) + 1),))
    hand = view.hands[seat]
    place = max(0, min(len(hand) - 1, worth * len(hand) // RICH - 1 + draw.below(3)))
    if doubling(view.dice) == 1:
        return Choice("bid", (hand[place],))
    place = max(1, place)
    return Choice("bid", (hand[place - 1 : place + 1],))
