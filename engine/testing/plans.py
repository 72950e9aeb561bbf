"""Which games a bench plays: the numbers of players, the options, and the styles of play.

A thorough run plays every combination of values with every number of players, as long as there are few of them; of more
it plays sets that contain every value and every pair of values of two options: a covering array for each number of
players. A quick run has one covering array, in which the number of players is one more option. This module must never
play.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import prod
from typing import Any, Final

from engine.facts import fact
from engine.game import Game
from engine.options import Number, Option, OptionValue

STYLES: Final = ("silent", "any", "lazy", "edges", "climb")
"""Styles of play: always the default; anything; mostly the default; amounts at their bounds; always the smallest raise."""

INSISTS: Final = "insisting on "
"""With a verb behind it, a style that chooses this verb wherever it can, at the smallest amount."""

MOST_COMBINED: Final = 32
"""The most combinations of values that are all played with each number of players. Of more, every pair of values is."""

QUICK: Final = 160
THOROUGH: Final = 400
"""The most choices in a game with unusual options, because some options make games of many thousands."""

_SEATS: Final = "seats"

Pair = tuple[str, OptionValue, str, OptionValue]


@fact
class Plan:
    """A game to be played. `options` has only the values that are not defaults."""

    seats: int
    options: Mapping[str, OptionValue]
    style: str
    number: int = 0
    most: int | None = None
    """The most choices; None plays the game to its end."""

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.options.items()) or "usual options"
        return f"{self.seats} players, {chosen}, playing {self.style} #{self.number}"

    @property
    def seed(self) -> bytes:
        """The seed of the game, made from the plan, so that the plan is enough to repeat it."""
        return hashlib.sha256(str(self).encode()).digest()


def options_in(game: Game[Any], text: str) -> dict[str, OptionValue]:
    """Return the options in a text such as `lots=2, purse=40`; none if it has no equals sign."""
    numbers = {option.name for option in game.options if isinstance(option, Number)}
    pairs = (part.split("=", 1) for part in text.split(", ") if "=" in part)
    return {name: int(value) if name in numbers else value for name, value in pairs}


def plans(game: Game[Any], thorough: bool = False) -> Iterator[Plan]:
    """Yield the games to play, the most useful ones first.

    Games with default options are played to their end; in a quick run only with the fewest and the most players.
    """
    low, high = game.seats
    most = THOROUGH if thorough else QUICK
    for style in STYLES:
        for seats in range(low, high + 1):
            whole = thorough or (style == "silent" and seats == high) or (style in ("silent", "any") and seats == low)
            yield Plan(seats, {}, style, most=None if whole else most)
    for number in range(1, 4 if thorough else 2):
        for seats in range(low, high + 1):
            yield Plan(seats, {}, "any", number, most)
            yield Plan(seats, {}, "lazy", number, most)
    for seats, options in option_sets(game, thorough):
        yield Plan(seats, options, "any", most=most)
    for seats, options in option_sets(game, thorough):
        yield Plan(seats, options, "silent", most=most)


def option_sets(game: Game[Any], thorough: bool = False) -> list[tuple[int, dict[str, OptionValue]]]:
    """Return numbers of players and unusual options: every combination, or sets that contain every pair of values."""
    low, high = game.seats
    if thorough:
        rows = [row for seats in range(low, high + 1) for row in _rows(game, seats)]
    else:
        rows = list(_covering(game, tuple(range(low, high + 1))))
    usual = {option.name: option.default for option in game.options}
    found = []
    for row in rows:
        chosen = {name: value for name, value in row.items() if name != _SEATS and value != usual[name]}
        if chosen:
            found.append((int(row[_SEATS]), chosen))
    return found


def combined(game: Game[Any], seats: int) -> int:
    """Return how many combinations of values there are with this number of players."""
    return prod(len(values) for values in _open_values(game, seats).values())


def values_of(option: Option) -> tuple[OptionValue, ...]:
    """Return the values to try: all that are listed; for numbers the default, the bounds and one between."""
    if isinstance(option, Number):
        between = option.low + (option.high - option.low) * 2 // 5
        return tuple(dict.fromkeys((option.default, option.low, between, option.high)))
    return tuple(dict.fromkeys((option.default, *option.values)))


def _rows(game: Game[Any], seats: int) -> list[dict[str, OptionValue]]:
    """Return the sets of options for one number of players: every combination, or every pair of values."""
    if combined(game, seats) > MOST_COMBINED:
        return list(_covering(game, (seats,)))
    values = _open_values(game, seats)
    return [{_SEATS: seats, **dict(zip(values, row, strict=True))} for row in product(*values.values())]


def _open_values(game: Game[Any], seats: int) -> dict[str, tuple[OptionValue, ...]]:
    return {option.name: values_of(option) if _open(option, seats) else (option.default,) for option in game.options}


def _covering(game: Game[Any], counts: tuple[int, ...]) -> Iterator[dict[str, OptionValue]]:
    """Yield rows of values that together contain every possible pair, built greedily."""
    missing = _pairs(game, counts)
    while missing:
        first = next(iter(missing))
        row: dict[str, OptionValue] = {first[0]: first[1], first[2]: first[3]}
        seats = [n for n in counts if n == row.get(_SEATS, n) and _possible(game, n, row)]
        row[_SEATS] = max(seats, key=lambda n: _gain(row, _SEATS, n, missing))
        for option in game.options:
            if option.name not in row:
                open_values = values_of(option) if _open(option, int(row[_SEATS])) else (option.default,)
                row[option.name] = max(open_values, key=lambda v: _gain(row, option.name, v, missing))
        for pair in _pairs_in(row, game):
            missing.pop(pair, None)
        yield row


def _pairs(game: Game[Any], counts: tuple[int, ...]) -> dict[Pair, None]:
    factors: list[tuple[str, tuple[OptionValue, ...]]] = [(_SEATS, counts)]
    factors += [(option.name, values_of(option)) for option in game.options]
    found: dict[Pair, None] = {}
    for (one, ones), (other, others) in combinations(factors, 2):
        for a in ones:
            for b in others:
                if any(_possible(game, n, {_SEATS: n, one: a, other: b}) for n in counts if one != _SEATS or n == a):
                    found[one, a, other, b] = None
    return found


def _pairs_in(row: Mapping[str, OptionValue], game: Game[Any]) -> Iterator[Pair]:
    for one, other in combinations((_SEATS, *(option.name for option in game.options)), 2):
        yield one, row[one], other, row[other]


def _possible(game: Game[Any], seats: int, row: Mapping[str, OptionValue]) -> bool:
    return all(
        option.name not in row or row[option.name] == option.default or _open(option, seats) for option in game.options
    )


def _open(option: Option, seats: int) -> bool:
    return not option.seats or seats in option.seats


def _gain(row: Mapping[str, OptionValue], name: str, value: OptionValue, missing: Mapping[Pair, None]) -> int:
    pairs = ((other, held, name, value) for other, held in row.items() if other != name)
    return sum((pair in missing) + ((*pair[2:], *pair[:2]) in missing) for pair in pairs)
