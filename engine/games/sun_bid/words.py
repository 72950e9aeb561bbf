"""How Suns are shown and named: with their value in place of their suits."""

from __future__ import annotations

from engine.board import Face
from engine.decisions import Thing
from engine.decks import decktet
from engine.decks.decktet import rank

from .cards import SUNS, Cards, by_value, value_of_sun
from .terms import Terms


def sun_face(sun: str, terms: Terms) -> Face:
    """A Sun as it lies on the table, with its value in place of its suits."""
    return Face("decktet", sun, decktet.name(sun), sun_note(sun, terms))


def sun_faces(suns: Cards, terms: Terms) -> tuple[Face, ...]:
    """Suns as they lie on the table."""
    return tuple(sun_face(sun, terms) for sun in by_value(suns))


def sun_thing(sun: str, terms: Terms) -> Thing:
    """A Sun as it is named in a choice: by its name or by its value."""
    value = str(value_of_sun(sun, terms.equal_pawns))
    return Thing(sun, decktet.name(sun), sun_note(sun, terms), (value,))


def sun_note(sun: str, terms: Terms) -> str:
    """The value of a Sun; where values are equal without the Suns being so, its rank too."""
    value = str(value_of_sun(sun, terms.equal_pawns))
    if terms.equal_pawns and rank(sun) in decktet.RANK_NAMES and sun != SUNS[0]:
        return f"{decktet.RANK_NAMES[rank(sun)]}, {value}"
    return value
