"""What an auction is worth, who wins it, and how the tiles are passed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from engine.chance import Draw
from engine.decks.piecepack import ACE, DICE, NULL, VALUES

Tiles = tuple[int, ...]
"""Values of tiles, lowest first. Their suits never matter."""
Dice = tuple[int, ...]
"""The values of the four dice, in the order of their names."""
SUNS, MOONS, CROWNS, ARMS = range(len(DICE))
TARGET: Final = 100
STRONG_HAND: Final = 16
BONUS: Final = 5


def doubling(dice: Dice) -> int:
    """Return 2 under the Ace of Suns, or else 1: the number of tiles in a bid, and the factor for everything else."""
    return 2 if dice[SUNS] == ACE else 1


def prize(dice: Dice) -> tuple[int, int]:
    """Return the points and the coins that are up for auction."""
    points = sum(value for value in dice if value not in (NULL, ACE))
    return points * doubling(dice), dice.count(NULL) * doubling(dice)


def strong_hands(hands: Sequence[Tiles]) -> tuple[int, ...]:
    """Return who gets the bonus of the Ace of Arms."""
    return tuple(seat for seat, hand in enumerate(hands) if sum(hand) >= STRONG_HAND)


def highest(bids: Mapping[int, int]) -> tuple[int, ...]:
    """Return the seats with the highest number, in order."""
    most = max(bids.values())
    return tuple(sorted(seat for seat, bid in bids.items() if bid == most))


def consolation(winner: int | None, seats: int, each: int, bank: int) -> tuple[int, ...]:
    """Return the seats that the Ace of Moons pays: all but the winner, or none if the bank cannot pay them all."""
    others = tuple(seat for seat in range(seats) if seat != winner)
    return others if each * len(others) <= bank else ()


def passing_order(bids: Sequence[int], winner: int | None) -> tuple[int, ...]:
    """Return the seats that pass tiles on, each to the next and the last to the first; empty if there is only one."""
    others = {seat: bid for seat, bid in enumerate(bids) if seat != winner}
    alike = Counter(others.values())
    single = sorted((seat for seat, bid in others.items() if alike[bid] == 1), key=lambda seat: -bids[seat])
    order = tuple(single) if winner is None else (winner, *single)
    return order if len(order) > 1 else ()


def roll(draw: Draw) -> Dice:
    """Roll all the dice."""
    return tuple(draw.pick(VALUES) for _ in DICE)
