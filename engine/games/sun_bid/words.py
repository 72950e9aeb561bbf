"""How Suns are shown and named: with their value in place of their suits."""

from __future__ import annotations

from functools import cache

from engine.board import Face
from engine.decisions import Thing
from engine.decks import decktet
from engine.decks.decktet import rank

from .cards import SUNS, Cards, by_value, value_of_sun
from .terms import Terms


def sun_face(sun: str, terms: Terms) -> Face:
    """Return the face of a Sun, with its value in place of its suits."""
    return Face("decktet", sun, decktet.name(sun), _note(sun, terms.equal_pawns))


def sun_faces(suns: Cards, terms: Terms) -> tuple[Face, ...]:
    """Return the faces of Suns."""
    return tuple(sun_face(sun, terms) for sun in by_value(suns))


def sun_thing(sun: str, terms: Terms) -> Thing:
    """Return a Sun as a thing to choose, by its name or its value."""
    return _thing(sun, terms.equal_pawns)


@cache
def _thing(sun: str, equal_pawns: bool) -> Thing:
    value = str(value_of_sun(sun, equal_pawns))
    return Thing(sun, decktet.name(sun), _note(sun, equal_pawns), (value,))


def _note(sun: str, equal_pawns: bool) -> str:
    """Return the value of a Sun as a note, with its rank where different Suns have the same value."""
    value = str(value_of_sun(sun, equal_pawns))
    if equal_pawns and rank(sun) in decktet.RANK_NAMES and sun != SUNS[0]:
        return f"{decktet.RANK_NAMES[rank(sun)]}, {value}"
    return value
