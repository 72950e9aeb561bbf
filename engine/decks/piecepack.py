"""The piecepack, a public-domain set of tiles, coins, dice and pawns in four suits, designed by James Kyle.

Values are null (a blank face), ace, 2, 3, 4, 5. The id of a tile or coin is its suit letter and value digit. Each game decides what a
null or an ace is worth.
"""

from __future__ import annotations

from typing import Final

from engine.board import Face
from engine.decisions import Thing

SUITS: Final = {"S": "Suns", "M": "Moons", "C": "Crowns", "A": "Arms"}
COLOURS: Final = {"S": "red", "M": "black", "C": "yellow", "A": "blue"}
VALUES: Final = (0, 1, 2, 3, 4, 5)
VALUE_NAMES: Final = ("blank", "Ace", "2", "3", "4", "5")

TILES: Final = tuple(f"{suit}{value}" for suit in SUITS for value in VALUES)
COINS: Final = TILES
PAWNS: Final = tuple(SUITS)
DICE: Final = tuple(SUITS)
ACE: Final = 1
NULL: Final = 0

TILE_THINGS: Final = (
    Thing(0, "0", also=("blank", "null")),
    *(Thing(each, str(each), also=(VALUE_NAMES[each],)) for each in VALUES[1:]),
)
"""Tiles as things to choose, where only their value matters."""

DIE_THINGS: Final = {suit: Thing(suit, name) for suit, name in SUITS.items()}
"""Dice as things to choose."""


def die(suit: str, value: int) -> Face:
    """Return the face of a die."""
    return Face("die", f"{suit}{value}", SUITS[suit], VALUE_NAMES[value])


def tile(value: int) -> Face:
    """Return the face of a tile where only the value matters."""
    return Face("tile", str(value), str(value))
