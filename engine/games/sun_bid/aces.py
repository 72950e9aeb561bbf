"""What a winner loses to the Aces in a pool."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
from typing import Final

from engine.decks import decktet
from engine.decks.decktet import in_order, rank
from engine.tell import Text, say

from .cards import FOR_SALE, Cards, share_a_suit
from .scoring import points_of_take

NONE: Final = "none"
"""What an Ace costs if there is no card of its suit."""


def victims_of(ace: str, kept: Cards) -> Cards:
    """Return the cards that an Ace can cost, each once."""
    return tuple(dict.fromkeys(card for card in kept if share_a_suit(ace, card)))


def hungry(aces: Cards, kept: Cards) -> Cards:
    """Return the Aces that can cost something."""
    return tuple(ace for ace in aces if victims_of(ace, kept))


def misfit(kept: Cards, aces: Cards, victims: Cards) -> Text | None:
    """Return why these cards cannot pay for these Aces: one is used twice, or an Ace that could cost a card costs none.

    The Aces come one after the other in the winner's order. An Ace that is to find nothing had best come last, so it
    is enough to look at what is left after all.
    """
    left = Counter(kept)
    left.subtract(victim for victim in victims if victim != NONE)
    for card, many in left.items():
        if many < 0:
            return say("{card} can be lost only once: each Ace takes a card of its own.", card=card)
    for ace, victim in zip(aces, victims, strict=True):
        others = victims_of(ace, tuple(left.elements()))
        if victim == NONE and others:
            return say("{ace} takes a card of its suit while you have one: {others:or}.", ace=ace, others=others)
    return None


@lru_cache(maxsize=512)
def ways_to_pay(aces: Cards, kept: Cards) -> tuple[Cards, ...]:
    """Return every way to pay: for each Ace a card, or NONE."""
    ways = product(*((*victims_of(ace, kept), NONE) for ace in aces))
    return tuple(victims for victims in ways if misfit(kept, aces, victims) is None)


def lost(victims: Cards) -> Cards:
    """Return the cards of a way to pay."""
    return in_order(tuple(card for card in victims if card != NONE))


@lru_cache(maxsize=512)
def cheapest_way(aces: Cards, kept: Cards, per_suit: bool) -> Cards:
    """Return the way to pay that leaves the most points, then the most cards, then costs the lowest ranks, then the first suits."""
    answers = {lost(victims): victims for victims in reversed(ways_to_pay(aces, kept))}

    def cost(cards: Cards) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
        left = tuple((Counter(kept) - Counter(cards)).elements())
        ranks = tuple(decktet.RANKS.index(rank(card)) for card in cards)
        places = tuple(FOR_SALE.index(card) for card in cards)
        return -sum(points_of_take(left, per_suit)), len(cards), ranks, places

    return answers[min(answers, key=cost)]
