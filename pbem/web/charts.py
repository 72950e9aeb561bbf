"""The frame of a chart: where its numbers are on the drawing, and the same numbers as a table for the blind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Scale = Callable[[float], float]
"""Where a number lies on a drawing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The size and the margins of a drawing, in its own units.

    `gap` is between a number and the axis it belongs to; `baseline` is how far below the middle of a number its line of
    writing is.
    """

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    gap: int
    baseline: float

    def x(self, low: float, high: float, indent: int = 0) -> Scale:
        """The scale from left to right; the lowest number is `indent` to the right of the axis."""
        return _scale(low, high, self.left + indent, self.width - self.right)

    def y(self, low: float, high: float) -> Scale:
        """The scale from bottom to top."""
        return _scale(low, high, self.height - self.bottom, self.top)


@dataclass(frozen=True, slots=True)
class Tick:
    """A number or a word beside an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: its head, a cell for each column, and the address that the head leads to, if any."""

    head: str
    cells: tuple[str, ...]
    address: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart and its table. `across` and `up` are what is written beside its axes."""

    frame: Frame
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def ticks(scale: Scale, numbers: Iterable[int], unit: str = "") -> tuple[Tick, ...]:
    """A tick at each number."""
    return tuple(Tick(scale(number), f"{number}{unit}") for number in numbers)


def _scale(low: float, high: float, start: int, end: int) -> Scale:
    span = max(high - low, 1)
    return lambda number: round(start + (end - start) * (number - low) / span, 1)
