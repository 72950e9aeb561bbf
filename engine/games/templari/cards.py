"""The cards of Templari: six colours, five numbers in each."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Final

from engine.board import Face
from engine.chance import Draw
from engine.decisions import Thing

Cards = tuple[str, ...]
COLOURS: Final = {"R": "Red", "B": "Blue", "G": "Green", "Y": "Yellow", "P": "Purple", "W": "White"}
# Every two colours share exactly two numbers and the colours' sums are 22 or 23, so that neither the digit rule nor the
# tie-break by sum favours a colour. The published make-up is not known.
BALANCED: Final[Cards] = tuple(
    colour + number
    for colour, numbers in zip("RBGYPW", ("13478", "02389", "12469", "04568", "01579", "23567"), strict=True)
    for number in numbers
)


def random_layout(draw: Draw) -> Cards:
    """Return a random layout: six colours of five different numbers, each number three times, all equally likely.

    Layouts are numbered, colour by colour, and one number is drawn.
    """
    left: tuple[int, ...] = (3,) * 10
    cards: list[str] = []
    which = draw.below(layouts(6, left))
    for rows, letter in zip(range(5, -1, -1), COLOURS, strict=True):
        for hand in combinations(range(10), 5):
            rest = tuple(copies - (n in hand) for n, copies in enumerate(left))
            if which < (ways := layouts(rows, tuple(sorted(rest)))):
                break
            which -= ways
        left = rest
        cards += [f"{letter}{n}" for n in hand]
    return tuple(cards)


@cache
def layouts(colours: int, copies: tuple[int, ...]) -> int:
    """Return the number of layouts of these copies of the ten numbers in a number of colours."""
    if min(copies) < 0 or sum(copies) != 5 * colours:
        return 0
    if colours == 0:
        return 1
    rests = (tuple(sorted(c - (n in hand) for n, c in enumerate(copies))) for hand in combinations(range(10), 5))
    return sum(layouts(colours - 1, rest) for rest in rests)


def colour(card: str) -> str:
    """Return the colour letter of a card."""
    return card[0]


def number(card: str) -> int:
    """Return the number on a card."""
    return int(card[1])


def faces(cards: Cards) -> tuple[Face, ...]:
    """Return the faces of cards, by colour and number."""
    return tuple(Face("shield", card, f"{COLOURS[card[0]]} {card[1]}") for card in sorted(cards, key=_place))


def things(cards: Cards) -> tuple[Thing, ...]:
    """Return cards as things to choose."""
    return tuple(map(_thing, sorted(cards, key=_place)))


@cache
def _thing(card: str) -> Thing:
    return Thing(card, f"{COLOURS[card[0]]} {card[1]}")


@cache
def _place(card: str) -> tuple[int, str]:
    return list(COLOURS).index(card[0]), card[1]
