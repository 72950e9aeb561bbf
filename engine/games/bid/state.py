"""The table of Bid!."""

from __future__ import annotations

from engine.facts import fact

from .auction import Dice, Tiles
from .terms import Terms


@fact
class State:
    """A table of Bid!. It contains no sealed bids and no secrets."""

    terms: Terms
    hands: tuple[Tiles, ...]
    coins: tuple[int, ...]
    pawns: tuple[int, ...]
    bank: int
    points: tuple[int, ...]
    auction: int = 0
    roller: int = 0
    dice: Dice = ()
    bids: tuple[Tiles, ...] = ()
    tied: tuple[int, ...] = ()
    overtime: bool = False
    over: bool = False


def added(amounts: tuple[int, ...], seats: tuple[int, ...], more: int) -> tuple[int, ...]:
    """Return the amounts with more for some seats."""
    return tuple(amount + more if seat in seats else amount for seat, amount in enumerate(amounts))
