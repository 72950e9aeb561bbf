"""Figures with intervals that hold the true value 19 times out of 20, and how numbers are spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final

_SIDES: Final = 1.96
"""Standard errors on each side of a figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its interval."""

    value: float
    low: float
    high: float

    def as_share(self) -> str:
        """Return it in per cent: `34.0 % (31.2 to 36.9)`.

        >>> Figure(0.34, 0.312, 0.369).as_share()
        '34.0 % (31.2 to 36.9)'
        """
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def as_number(self) -> str:
        """Return it as a number: `12.3 (11.9 to 12.7)`."""
        # Adding 0.0 makes a rounded -0.0 positive.
        value, low, high = (round(each, 1) + 0.0 for each in (self.value, self.low, self.high))
        return f"{value:.1f} ({low:.1f} to {high:.1f})"


def share(parts: Sequence[Fraction | int]) -> Figure:
    """Return the share of cases that a thing was true in, each 1, 0 or a part, by Wilson's interval.

    >>> share([1, 1, 0, 0]).as_share()
    '50.0 % (15.0 to 85.0)'
    """
    many = len(parts)
    if not many:
        return Figure(0.0, 0.0, 1.0)
    found = float(sum(parts)) / many
    spread = _SIDES**2 / many
    middle = (found + spread / 2) / (1 + spread)
    reach = _SIDES * sqrt(found * (1 - found) / many + spread / (4 * many)) / (1 + spread)
    return Figure(found, max(0.0, middle - reach), min(1.0, middle + reach))


def mean(numbers: Sequence[float]) -> Figure:
    """Return the mean. With fewer than two numbers its interval says nothing: it is the mean alone.

    >>> mean([1, 2, 3]).as_number()
    '2.0 (0.9 to 3.1)'
    """
    many = len(numbers)
    middle = sum(numbers) / many if many else 0.0
    squares = sum((number - middle) ** 2 for number in numbers)
    reach = _SIDES * sqrt(squares / (many - 1) / many) if many > 1 else 0.0
    return Figure(middle, middle - reach, middle + reach)


def difference(one: Figure, other: Figure) -> Figure:
    """Return how much larger the first of two means is, as if they were independent.

    >>> difference(Figure(5, 4, 6), Figure(3, 2, 4)).as_number()
    '2.0 (0.6 to 3.4)'
    """
    found = one.value - other.value
    reach = sqrt((one.high - one.value) ** 2 + (other.high - other.value) ** 2)
    return Figure(found, found - reach, found + reach)


def spread(numbers: Iterable[int]) -> tuple[int, int, int]:
    """Return the numbers that a tenth, a half and nine tenths of all do not exceed.

    >>> spread(range(1, 101))
    (10, 50, 90)
    """
    ordered = sorted(numbers)
    low, middle, high = (ordered[max(0, -(-len(ordered) * tenths // 10) - 1)] for tenths in (1, 5, 9))
    return low, middle, high
