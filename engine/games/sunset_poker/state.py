"""The table of Sunset Poker."""

from __future__ import annotations

from typing import Final

from engine.decks.decktet import in_order
from engine.facts import fact
from engine.seats import clockwise

from .sets import BestSet, Cards, best_set, cards_each, circle_for, size_of_best_set
from .terms import Terms

START_POINTS: Final = 50


@fact
class State:
    """A table of Sunset Poker.

    `deck` is what was not dealt, in no order; in a view it is what the reader was not dealt. A pack keeps the order in
    which it was dealt. `turn` is None during the draft; `sun` is who has taken the Sun; `lost` is what the winner of
    the round will collect.
    """

    terms: Terms
    deck: Cards
    scores: tuple[int, ...]
    hands: tuple[Cards, ...]
    packs: tuple[Cards, ...]
    played: tuple[Cards, ...]
    round: int = 0
    first: int = 0
    turn: int | None = None
    sun: int | None = None
    folded: tuple[int, ...] = ()
    lost: int = 0
    over: bool = False


def points_for_folding(played: int, sun_taken: bool) -> int:
    """Return a gain of one for each card played or, if the Sun is taken, a loss of one for each two, rounded up."""
    return -((played + 1) // 2) if sun_taken else played


def next_in(seat: int, hands: tuple[Cards, ...], folded: tuple[int, ...]) -> int | None:
    """Return the next player clockwise who has neither folded nor finished, who may be the same one."""
    return next((other for other in clockwise(seat + 1, len(hands), without=folded) if hands[other]), None)


def full_hand(state: State) -> int:
    """Return how many cards a full hand has, which is also what is at stake in a showdown."""
    return cards_each(len(state.scores))


def best_of(state: State, cards: Cards) -> BestSet:
    """Return the best Set of these cards at this table."""
    return best_set(in_order(cards), circle_for(len(state.scores)), state.terms.split_min)


def size_of_best(state: State, cards: Cards) -> int:
    """Return how many cards the best Set of these cards has at this table."""
    return size_of_best_set(cards, circle_for(len(state.scores)), state.terms.split_min)
