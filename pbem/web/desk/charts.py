"""Charts as drawings: bars by day or by hour, with the same numbers as a table for whoever does not see them.

Only places and lengths are worked out here; the words are the page's, and the colours are the style sheet's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pbem.service.desk.activity import ANSWERED, Activity

WIDTH: Final = 320
HEIGHT: Final = 120
"""Units of the drawing: about as wide as on a phone. Where there is more room, the style sheet keeps its words small."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 16, 10, 22
_GAP: Final = 0.2
"""Of the room of a bar, so much stays free."""

_KINDS: Final = {
    "moves": ("moves", "bots", "orders"),
    "time_outs": ("time_outs",),
    "people": ("people",),
    "answers": tuple(kind for kind, _ in ANSWERED),
    "mails": ("mail_sent", "mail_postponed", "mail_superseded", "mail_failed"),
}
"""The charts in their order, and what is piled up in each."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One piece of a pile: which kind it is of, counted from the lowest, and where it is drawn."""

    layer: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """A word beside an axis."""

    at: float
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its kinds, a row of numbers for each span, and the drawing of them."""

    name: str
    kinds: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    bars: tuple[Bar, ...]
    lines: tuple[Label, ...]
    spans: tuple[Label, ...]

    @property
    def totals(self) -> tuple[int | None, ...]:
        """The sum of each kind; nobody knows one of people, who come on several days."""
        columns = zip(*(numbers for _, numbers in self.rows), strict=True)
        return tuple(None if self.name == "people" else sum(column) for column in columns)


def of(activity: Activity) -> list[Chart]:
    """All charts of what happened."""
    return [_chart(name, kinds, activity) for name, kinds in _KINDS.items()]


def _chart(name: str, kinds: tuple[str, ...], activity: Activity) -> Chart:
    # Who was there in an hour and in the next one is one person in a day.
    counted = ("people_day",) if kinds == ("people",) and not activity.hourly else kinds
    columns = [activity.of(kind) for kind in counted]
    written = [f"{span:%m-%d %H:00}" if activity.hourly else f"{span:%Y-%m-%d}" for span in activity.spans]
    rows = tuple(zip(written, zip(*columns, strict=True), strict=True))
    top = _round(max((sum(numbers) for _, numbers in rows), default=0))
    room = (WIDTH - _LEFT - _RIGHT) / len(rows)
    bars = tuple(
        bar for place, (_, numbers) in enumerate(rows) for bar in _pile(numbers, _LEFT + place * room, room, top)
    )
    lines = tuple(Label(_height(value, top), f"{value:,}") for value in (0, top // 2, top))
    every = len(rows) // 6
    spans = tuple(
        Label(_LEFT + (place + 0.5) * room, says[-5:])
        for place, (says, _) in enumerate(rows)
        if (len(rows) - 1 - place) % every == 0
    )
    return Chart(name, kinds, rows, bars, lines, spans)


def _pile(numbers: Sequence[int], left: float, room: float, top: int) -> list[Bar]:
    found, below = [], 0
    for layer, number in enumerate(numbers):
        if number:
            y = _height(below + number, top)
            height = _height(below, top) - y
            found.append(Bar(layer, round(left + room * _GAP / 2, 1), y, round(room * (1 - _GAP), 1), round(height, 1)))
            below += number
    return found


def _height(value: int, top: int) -> float:
    return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top, 1)


def _round(most: int) -> int:
    """The even number with one figure, or one and a half, at which an axis ends."""
    step = 1
    while True:
        for times in (2, 4, 6, 8, 10):
            if most <= times * step:
                return times * step
        step *= 10
