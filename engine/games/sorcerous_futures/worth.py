"""What the suits, and so the cards, are worth in the end."""

from __future__ import annotations

from collections.abc import Mapping

from engine.decks.decktet import EXCUSE, suits
from engine.game import Standing
from engine.tell import say

from .cards import MARKERS, Cards, known, valuation
from .state import State, markers_of


def worths_of(valuations: Cards, unknown: int = 0) -> dict[str, int]:
    """Return what each suit letter and the Excuse are worth; `unknown` where the card cannot be seen."""
    return {
        marker[-1]: valuation(card) if known(card) else unknown
        for marker, card in zip(MARKERS, valuations, strict=True)
    }


def worth_of_card(card: str, worths: Mapping[str, int]) -> int:
    """Return what a card scores for its suits, for any player."""
    return sum(worths[suit] for suit in suits(card))


def crown_bonus(card: str, worths: Mapping[str, int], crown: str) -> int:
    """Return what a card scores in addition, once, if it has the suit of its owner's Crown."""
    return worths[EXCUSE] if known(crown) and suits(crown) in suits(card) else 0


def total_worth(cards: Cards, worths: Mapping[str, int], crown: str) -> int:
    """Return what cards score together for the owner of the Crown."""
    return sum(worth_of_card(card, worths) + crown_bonus(card, worths, crown) for card in cards)


def total_in_front(markers: Cards, worths: Mapping[str, int]) -> int:
    """Return the sum of the cards under these Aces, or under the Excuse. The lower sum breaks a tie."""
    return sum(worths[marker[-1]] for marker in markers)


def standing(state: State) -> Standing:
    """Return the standing. During the game the score is the gold, which is all that everyone can count."""
    if not state.over:
        return Standing(state.gold)
    worths = worths_of(state.down.valuations)
    return Standing.by(
        tuple(
            (
                gold + total_worth(state.bought[seat], worths, state.down.crowns[seat]),
                -total_in_front(markers_of(seat, state), worths),
            )
            for seat, gold in enumerate(state.gold)
        ),
        (say("the lower total under the players' Aces or Excuse"),),
    )
