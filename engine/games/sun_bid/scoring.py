"""What a take scores: Pawns and Courts, cards of a kind, and sequences."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final

from engine.decks.decktet import SUITS, rank, suits
from engine.tell import Text, say

from .cards import FOR_SALE, Cards

HIGHEST_SUN_TOTAL: Final = 5
PAWN_OR_COURT: Final = 3
OF_A_KIND: Final = 2
RUNNING_RANKS: Final = "A23456789"
"""The ranks in sequences, besides Crowns; the number is the position, counted from 1."""


def points_for_pawns_and_courts(cards: Cards) -> int:
    """Return the points for Pawns and Courts."""
    return PAWN_OR_COURT * sum(rank(card) in "PT" for card in cards)


def points_of_a_kind(cards: Cards) -> int:
    """Return the points for cards of the same number, and for Crowns, if there are two or more. Copies count."""
    many = Counter(rank(card) for card in cards if rank(card) in "23456789X")
    return OF_A_KIND * sum(n for n in many.values() if n > 1)


def points_for_sequences(cards: Cards, per_suit: bool) -> int:
    """Return a point for each card with a neighbour, or for each of its suits with one. Crowns are placed for the most points.

    A Crown takes a number in its own suit only. So each suit has a few ways to connect cards, and it matters only for
    cards that count once which ways are combined.
    """
    of_suits: dict[str, list[str]] = {suit: [] for suit in SUITS}
    for card in cards:
        for suit in suits(card):
            of_suits[suit].append(card)
    ways = [ways_to_bind(tuple(of_suit)) for of_suit in of_suits.values()]
    if per_suit:
        return sum(max(bound.bit_count() for bound in of_suit) for of_suit in ways)
    unions = frozenset({0})
    for of_suit in ways:
        unions = undominated(frozenset(union | bound for union in unions for bound in of_suit))
    return max(union.bit_count() for union in unions)


@lru_cache(maxsize=4096)
def ways_to_bind(cards: Cards) -> frozenset[int]:
    """Return the sets of these cards of one suit that can have neighbours, one for each good use of its Crowns.

    A set is a number with a bit for each card, which is the same in every take.
    """
    line, crowns = [0] * 12, []
    for place, card in enumerate(cards):
        bit = 1 << 2 * FOR_SALE.index(card) + cards[:place].count(card)
        if rank(card) == "X":
            crowns.append(bit)
        elif rank(card) in RUNNING_RANKS:
            line[RUNNING_RANKS.index(rank(card)) + 1] |= bit
    found = set()
    for numbers in combinations_with_replacement(range(1, 11), len(crowns)):
        with_crowns = line.copy()
        for crown, number in zip(crowns, numbers, strict=True):
            with_crowns[number] |= crown
        found.add(sum(with_crowns[n] for n in range(1, 11) if with_crowns[n - 1] or with_crowns[n + 1]))
    return undominated(frozenset(found))


@lru_cache(maxsize=4096)
def undominated(sets: frozenset[int]) -> frozenset[int]:
    """Return the sets that are not part of another set."""
    return frozenset(each for each in sets if not any(each | other == other != each for other in sets))


def points_of_take(cards: Cards, per_suit: bool) -> tuple[int, int, int]:
    """Return what a take scores for Pawns and Courts, for cards of a kind, and for sequences."""
    return points_for_pawns_and_courts(cards), points_of_a_kind(cards), points_for_sequences(cards, per_suit)


def in_words(pawns_and_courts: int, of_a_kind: int, sequences: int) -> tuple[Text, ...]:
    """Return what a take scores, in words and without zeros."""
    parts = (
        (pawns_and_courts, say("{n} for Pawns and Courts", n=pawns_and_courts)),
        (of_a_kind, say("{n} for matching ranks", n=of_a_kind)),
        (sequences, say("{n} for sequences", n=sequences)),
    )
    return tuple(text for points, text in parts if points)
