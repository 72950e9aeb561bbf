"""What only bots need: a choice at first sight."""

from __future__ import annotations

from typing import Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.decktet import rank

from .cards import SUNS, Cards
from .state import State

GOOD: Final = 2
"""The good cards in a pool for which a low Sun is bid at first sight."""


def quick(view: State, decision: Decision, draw: Draw) -> Choice | None:
    """Return a flip until the pool is worth an auction, and a bid that grows with the pool."""
    auction, seat = view.auction, decision.seat
    good = _good(view.pool, view.takes[seat])
    if auction is None:
        if view.deck:
            return Choice("call") if good + draw.below(3) > GOOD + 2 else Choice("flip")
        return Choice("call") if good + draw.below(2) > GOOD else Choice("pass")
    if auction.aces:
        return decision.default
    for act in decision.acts:
        if act.verb == "bid":
            suns = [choice.text() for choice in act.choices()]
            # One more good card is worth a Sun about three places higher.
            limit = 3 * (good - GOOD + draw.below(3))
            sun = next((sun for sun in suns if SUNS.index(sun) <= limit + SUNS.index(view.centre) // 2), None)
            if sun is not None and good >= GOOD:
                return Choice("bid", (sun,))
    return decision.default


def _good(pool: Cards, take: Cards) -> int:
    """Return how many cards of the pool a player wants, less two for each Ace."""
    ranks = {rank(card) for card in take}
    many = 0
    for card in pool:
        letter = rank(card)
        if letter == "A":
            many -= 2
        elif letter in "PTX" or letter in ranks:
            many += 2
        else:
            many += 1
    return many
