"""The cards of Sun Bid: the Suns, which are bid, and the cards that are for sale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.decks import decktet
from engine.decks.decktet import rank, suits

Cards = tuple[str, ...]
SUNS: Final[Cards] = ("AS", "2SY", "3SK", "4MS", "5SW", "6SY", "7SK", "8MS", "9MS", "PMSL", "PSWK", "TSLK", "XS")
"""The Suns, lowest first; the value is the position, counted from 1. No game uses the Island."""
FOR_SALE: Final[Cards] = tuple(card for card in decktet.EXTENDED if "S" not in suits(card) and card != decktet.EXCUSE)
STACKS_FOR_TWO: Final[Mapping[str, tuple[Cards, ...]]] = {
    "A": (("2SY", "5SW", "6SY", "9MS"), ("3SK", "4MS", "7SK", "8MS")),
    "B": (("3SK", "4MS", "6SY", "9MS"), ("2SY", "5SW", "7SK", "8MS")),
}
STACKS_FOR_THREE: Final[tuple[Cards, ...]] = (
    ("2SY", "5SW", "8MS", "XS"),
    ("3SK", "6SY", "9MS", "TSLK"),
    ("4MS", "7SK", "PMSL", "PSWK"),
)
# The published table has only three stacks for four players; the fourth one is what is left, and the sums become 21 to
# 24.
STACKS_FOR_FOUR: Final[tuple[Cards, ...]] = (
    ("2SY", "6SY", "XS"),
    ("3SK", "7SK", "TSLK"),
    ("4MS", "8MS", "PSWK"),
    ("5SW", "9MS", "PMSL"),
)
_PLACE: Final = {sun: place for place, sun in enumerate(SUNS)}
_SUITS: Final = {card: frozenset(suits(card)) for card in decktet.EXTENDED}
EQUAL_VALUE: Final = 10
"""The value of each of the four highest Suns if Pawns are equal."""


def beats(sun: str, high: str, equal_pawns: bool) -> bool:
    """Whether a Sun beats the high bid. If Pawns are equal, the later one wins."""
    if equal_pawns and rank(sun) == rank(high) == "P":
        return True
    return _PLACE[sun] > _PLACE[high]


def value_of_sun(sun: str, equal_pawns: bool) -> int:
    """Return the value of a Sun."""
    value = _PLACE[sun] + 1
    return min(value, EQUAL_VALUE) if equal_pawns else value


def sum_of_suns(suns: Cards, equal_pawns: bool) -> int:
    """Return the sum of some Suns, which decides the bonus of a round and a tie at the end."""
    return sum(value_of_sun(sun, equal_pawns) for sun in suns)


def by_value(suns: Cards) -> Cards:
    """Sort Suns, lowest first."""
    return tuple(sorted(suns, key=_PLACE.__getitem__))


def share_a_suit(card: str, other: str) -> bool:
    """Whether two cards share a suit."""
    return not _SUITS[card].isdisjoint(_SUITS[other])
