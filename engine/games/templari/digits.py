"""The last digit of a bid: which may be bid, and who is paid for it."""

from __future__ import annotations

from typing import Final

from .cards import Cards, number

DIGITS: Final = frozenset(range(10))


def endings_allowed(cards: Cards) -> frozenset[int]:
    """Return the last digits that the owner of these cards may bid."""
    return DIGITS - {number(card) for card in cards}


def receivers_of(digit: int, winner: int, cards: tuple[Cards, ...]) -> tuple[int, ...]:
    """Return who shares the winner's payment: the others with the most cards of the digit, or all if there are none."""
    held = {seat: sum(number(card) == digit for card in own) for seat, own in enumerate(cards) if seat != winner}
    most = max(held.values())
    return tuple(seat for seat, many in held.items() if many == most)


def payment(price: int, pot: int, receivers: int) -> tuple[int, int]:
    """Return what each receiver gets, and what remains in the pot."""
    return divmod(price + pot, receivers)
