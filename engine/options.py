"""Options: the variants of a game's rules that a table chooses when it begins.

A game lists them, and `Game.settle` checks what a table has chosen.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.facts import fact
from engine.tell import Text, say

OptionValue = str | int
Options = Mapping[str, OptionValue]


@fact
class Listed:
    """An option with a few named values.

    `name` is for programs, `called` for people; `spoken` has each value with its name for people. `seats` are the numbers of
    players for which it matters (all if empty).

    """

    name: str
    called: Text
    default: str
    spoken: tuple[tuple[str, Text], ...]
    about: Text
    seats: tuple[int, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The possible values, as programs write them."""
        return tuple(value for value, _spoken in self.spoken)

    def value_in(self, options: Options) -> str:
        """Return what a table has chosen."""
        return str(options[self.name])

    def words(self, value: OptionValue) -> Text:
        """Return the name of a value, for people. A value that is no longer listed is its own name."""
        return dict(self.spoken).get(str(value), Text(str(value)))

    def fits(self, value: object) -> bool:
        """Whether this value is possible."""
        return type(value) is str and value in self.values

    def possible(self) -> Text:
        """Return the possible values, in words."""
        return say("{values:or}", values=self.values)


@fact
class Number:
    """An option that is a whole number. `name` is for programs, `called` for people."""

    name: str
    called: Text
    default: int
    low: int
    high: int
    about: Text
    seats: tuple[int, ...] = ()

    def value_in(self, options: Options) -> int:
        """Return what a table has chosen."""
        return int(options[self.name])

    def words(self, value: OptionValue) -> Text:
        """Return the name of a value, for people."""
        # Figures are the same in every language.
        return Text(str(value))

    def fits(self, value: object) -> bool:
        """Whether this value is possible."""
        return type(value) is int and self.low <= value <= self.high

    def possible(self) -> Text:
        """Return the possible values, in words."""
        return say("a whole number from {low} to {high}", low=self.low, high=self.high)


Option = Listed | Number
"""An option gives the name of a value, tells whether a value fits, and lists the possible ones in words."""


def agreed(option: Option, value: OptionValue) -> Text:
    """Return an option with the value that a table has chosen, in words."""
    return say("{option}: {value}", option=option.called, value=option.words(value))


def variants(options: Iterable[Option], chosen: Options, seats: int) -> tuple[Text, ...]:
    """Return what a table has chosen that isn't usual, in words, of the options that matter for its number of players.

    A table that is older than an option hasn't chosen it.
    """
    return tuple(
        agreed(option, chosen[option.name])
        for option in options
        if chosen.get(option.name, option.default) != option.default and seats in (option.seats or (seats,))
    )


def parse_choices(options: Iterable[Option], words: Iterable[str]) -> dict[str, OptionValue]:
    """Return what was chosen by words such as `gold=7`. Whether an option is there and allows the value is for the game to say."""
    numbers = {option.name for option in options if isinstance(option, Number)}
    chosen: dict[str, OptionValue] = {}
    for word in words:
        name, _, value = word.partition("=")
        chosen[name] = int(value) if name in numbers and value.isdecimal() else value
    return chosen
