"""What a game says of itself: its title, players, cover, options and rules, as lists and forms of many games show it.

It's checked before a game is offered, because one that can't be shown would be in the way of all others. This module must
never ask a game to play.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.board import Face
from engine.game import Game
from engine.options import Number, Option
from engine.tell import Teller

LONGEST_TITLE: Final = 60
LONGEST_RULES: Final = 100_000
"""Characters: thirty times as many as our longest rules have."""

MOST_SEATS: Final = 99
MOST_FACES: Final = 12
MOST_OPTIONS: Final = 50
MOST_VALUES: Final = 100
LARGEST: Final = 10**9

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


def faults(game: Game[Any]) -> Iterator[str]:
    """Yield what is wrong with what a game says of itself, for its author."""
    try:
        yield from _faults(game)
    except Exception as error:  # noqa: BLE001 - a game may say anything
        yield f"what it says of itself can't be read: {type(error).__name__}: {error}"


def _faults(game: Game[Any]) -> Iterator[str]:
    if not (0 < len(game.title) <= LONGEST_TITLE and game.title.isprintable() and game.title.strip() == game.title):
        yield f"`title` must be a line of 1 to {LONGEST_TITLE} characters"
    low, high = game.seats
    if not (type(low) is type(high) is int and 1 <= low <= high <= MOST_SEATS):
        yield f"`seats` must be two numbers from 1 to {MOST_SEATS}, the smaller one first"
    elif game.demo is not None and not (type(game.demo) is int and low <= game.demo <= high):
        yield "`demo` must be a number of players"
    if not (type(game.OLDEST) is type(game.RULES) is int and 1 <= game.OLDEST <= game.RULES):
        yield "`OLDEST` and `RULES` must be versions, the older one first"
    if len(game.cover) > MOST_FACES or not all(map(_is_face, game.cover)):
        yield f"`cover` must be up to {MOST_FACES} Faces"
    if len(game.rules) > LONGEST_RULES or len(game.rules.split("\n\n")) < 2:
        yield f"its docstring must be a rules page of up to {LONGEST_RULES} characters: a title, an empty line, and how to play"
    tell = Teller()
    for text in (game.length, game.credits, *([] if game.mood is None else [game.mood])):
        tell(text)
    names = [option.name for option in game.options]
    if len(set(names)) < len(names) or len(names) > MOST_OPTIONS:
        yield f"it must have up to {MOST_OPTIONS} options, with different names"
    for option in game.options:
        if not _is_sound(option, tell):
            yield f"its option `{str(option.name)[:40]}` must have a name, a possible default and up to {MOST_VALUES} values"
    known = {option.name: option for option in game.options}
    for name, chosen in (("short", game.short), ("demo_options", game.demo_options)):
        if chosen is not None and not _fit(chosen, known):
            yield f"`{name}` has an option or a value that doesn't exist"


def _is_face(face: object) -> bool:
    return isinstance(face, Face) and all(type(each) is str for each in (face.kind, face.id, face.word, face.note))


def _is_sound(option: Option, tell: Teller) -> bool:
    if not _NAME.fullmatch(option.name) or not all(type(seats) is int for seats in option.seats):
        return False
    for text in (option.called, option.about):
        tell(text)
    if isinstance(option, Number):
        within = all(type(each) is int and abs(each) <= LARGEST for each in (option.low, option.high))
    else:
        within = len(option.spoken) <= MOST_VALUES and all(tell(spoken) for _value, spoken in option.spoken)
    return within and option.fits(option.default)


def _fit(chosen: Mapping[str, Any], known: Mapping[str, Option]) -> bool:
    return all(name in known and known[name].fits(value) for name, value in chosen.items())
