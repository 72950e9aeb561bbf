"""What only bots need: how good a state looks, and a choice at first sight."""

from __future__ import annotations

from typing import Final

from engine.chance import Draw
from engine.decisions import Amount, Choice, Decision

from .cards import Cards
from .scoring import standing, worth_of_colours
from .state import State, running

POINT: Final = 4
"""The coins that a point is worth, very roughly: coins buy points later."""


def prospect(state: State, seat: int) -> int:
    """Return how good a state looks for a seat."""
    # At the end coins are worth nothing: the bonus for the most is in the score.
    coins = (0,) * len(state.coins) if state.over else state.coins
    worth = [POINT * points + left for points, left in zip(standing(state).scores, coins, strict=True)]
    return worth[seat] - max(worth[:seat] + worth[seat + 1 :])


def quick(view: State, decision: Decision, draw: Draw) -> Choice:
    """Return the lowest bid as long as the cards are worth it; never one that can't be paid."""
    if view.auction is None or view.offender is not None:
        return decision.default
    auction, seat = running(view), decision.seat
    lot: Cards = view.lot if auction.seller is None else (auction.card,)
    own = view.cards[seat]
    gain = POINT * (worth_of_colours(own + lot) - worth_of_colours(own))
    limit = min(view.coins[seat], gain * (2 + draw.below(3)) // 4)
    for act in decision.acts:
        for blank in act.blanks:
            if isinstance(blank, Amount):
                number = next((n for n in range(blank.low, limit + 1) if n in blank), None)
                if number is not None:
                    return Choice(act.verb, (number,))
    return decision.default
