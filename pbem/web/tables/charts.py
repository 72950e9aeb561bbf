"""Charts as a page draws them: where each line and mark lies, and the same numbers as a table.

A chart is made of numbers by seat and knows no game. Its lines can be told apart by the shape of their marks and by the
names at their ends; colours only help.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.tell import Teller
from pbem.service.archive.course import Bid, Scores

WIDTH: Final = 400
HEIGHT: Final = 230
"""Units of the drawing. It is shown about as wide as it is here on a phone, so that its words can be read."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 112, 12, 24
_LINE: Final = 16
"""Names at the ends of lines stand at least so far apart."""

MOST_MOMENTS: Final = 60
"""More would lie on top of each other, and make the table of the numbers longer than anybody reads."""

MOST_AUCTIONS: Final = 40

LONGEST_NAME: Final = 10
"""Letters of a name at the end of a line; the table has it whole."""

_Series = list[list[tuple[float, float]]]
"""For each seat where its marks lie."""

MARKS: Final = ("circle", "square", "triangle", "diamond", "cross", "plus", "star", "ring", "bar")
"""The shapes of marks, by seat."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark of a seat."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a seat: its marks in their order, and where its name stands."""

    seat: int
    shape: str
    name: str
    points: str
    marks: tuple[Mark, ...]
    label: Mark


@dataclass(frozen=True, slots=True)
class Tick:
    """A number beside an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table under a chart: the turn, where that can be seen, and a cell for each seat."""

    number: int
    address: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its table. `lines` are empty where there are no numbers to draw; `cut` says that earlier ones are left out."""

    unit: str
    names: tuple[str, ...]
    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    rows: tuple[Row, ...]
    cut: bool = False


def of_scores(
    scores: Scores | None, names: tuple[str, ...], teller: Teller, turn: Callable[[int], str]
) -> Chart | None:
    """How the scores went, a line for each seat; None where they are not told during the game."""
    if scores is None or len(scores.moments) < 2:
        return None
    moments = _thinned(scores.moments)
    numbers = [number for number, _ in moments]
    across = _scale(numbers[0], numbers[-1], _LEFT, WIDTH - _RIGHT)
    low, high = min(min(p) for _, p in moments), max(max(p) for _, p in moments)
    up = _scale(low, max(high, low + 1), HEIGHT - _BOTTOM, _TOP)
    series = [[(across(number), up(points[seat])) for number, points in moments] for seat in range(len(names))]
    return Chart(
        unit=_capital(teller(scores.unit)),
        names=names,
        lines=_lines(series, names, _apart(series)),
        across=tuple(Tick(across(number), str(number)) for number in _few(numbers)),
        up=tuple(Tick(up(value), str(value)) for value in _round_values(low, max(high, low + 1))),
        rows=tuple(Row(number, turn(number), tuple(map(str, points))) for number, points in moments),
    )


def of_auctions(
    auctions: Sequence[tuple[Bid, ...]], names: tuple[str, ...], teller: Teller, turn: Callable[[int], str]
) -> Chart | None:
    """What each seat bid at most in each auction; the table has all bids. None where nothing was bid."""
    if not auctions:
        return None
    shown = list(auctions[-MOST_AUCTIONS:])
    first = len(auctions) - len(shown) + 1
    highest = [[_highest(bids, seat) for seat in range(len(names))] for bids in shown]
    amounts = [amount for each in highest for amount in each if amount is not None]
    across = _scale(first, first + max(len(shown) - 1, 1), _LEFT + 6, WIDTH - _RIGHT)
    up = _scale(0, max([*amounts, 1]), HEIGHT - _BOTTOM, _TOP)
    series = [
        [(across(first + i), up(amount)) for i, each in enumerate(highest) if (amount := each[seat]) is not None]
        for seat in range(len(names))
    ]
    return Chart(
        unit="",
        names=names,
        lines=_lines(series, names, _listed(series)) if amounts else (),
        across=tuple(Tick(across(number), str(number)) for number in _few(list(range(first, first + len(shown))))),
        up=tuple(Tick(up(value), str(value)) for value in _round_values(0, max([*amounts, 1]))),
        rows=tuple(
            Row(first + i, turn(bids[-1].turn), tuple(_said(bids, seat, teller) for seat in range(len(names))))
            for i, bids in enumerate(shown)
        ),
        cut=first > 1,
    )


def _highest(bids: tuple[Bid, ...], seat: int) -> int | None:
    return max((bid.amount for bid in bids if bid.seat == seat and bid.amount is not None), default=None)


def _said(bids: tuple[Bid, ...], seat: int, teller: Teller) -> str:
    """All bids of a seat in one auction, in words."""
    values = (bid.value for bid in bids if bid.seat == seat)
    return ", ".join(
        " + ".join(teller.word(each) for each in value) if isinstance(value, tuple) else teller.word(value)
        for value in values
    )


def _lines(series: _Series, names: tuple[str, ...], labels: dict[int, float]) -> tuple[Line, ...]:
    """A line for each seat that has marks."""
    return tuple(
        Line(
            seat=seat,
            shape=MARKS[seat % len(MARKS)],
            name=names[seat] if len(names[seat]) <= LONGEST_NAME else names[seat][: LONGEST_NAME - 1] + "…",
            points=" ".join(f"{x:g},{y:g}" for x, y in each),
            marks=tuple(Mark(x, y) for x, y in each),
            label=Mark(WIDTH - _RIGHT + 16, labels[seat]),
        )
        for seat, each in enumerate(series)
        if each
    )


def _apart(series: _Series) -> dict[int, float]:
    """Where names stand at the ends of their lines; those that would lie on each other are moved apart."""
    ends = sorted((each[-1][1], seat) for seat, each in enumerate(series) if each)
    labels, below = dict[int, float](), float("-inf")
    for y, seat in ends:
        labels[seat] = below = max(y, below + _LINE)
    # The lowest may have been pushed out of the drawing: all that touch move up together.
    above = float(HEIGHT - _BOTTOM)
    for _, seat in reversed(ends):
        labels[seat] = above = min(labels[seat], above)
        above -= _LINE
    return labels


def _listed(series: _Series) -> dict[int, float]:
    """Where names stand that belong to no end of a line: one under the other."""
    return {seat: float(_TOP + _LINE * place) for place, seat in enumerate(s for s, each in enumerate(series) if each)}


def _scale(low: int, high: int, start: int, end: int) -> Callable[[int], float]:
    """Where a number lies between two ends."""
    width = max(high - low, 1)
    return lambda number: round(start + (end - start) * (number - low) / width, 1)


def _thinned(moments: tuple[tuple[int, tuple[int, ...]], ...]) -> list[tuple[int, tuple[int, ...]]]:
    """At most so many moments, evenly chosen, the first and the last among them."""
    last = len(moments) - 1
    if last < MOST_MOMENTS:
        return list(moments)
    return [moments[round(last * place / (MOST_MOMENTS - 1))] for place in range(MOST_MOMENTS)]


def _few(numbers: list[int]) -> list[int]:
    """The numbers that are written under a chart."""
    last = len(numbers) - 1
    return sorted({numbers[round(last * place / 4)] for place in range(5)})


def _round_values(low: int, high: int) -> list[int]:
    """Round numbers within a range, three to six of them."""
    step = next(s * 10**power for power in range(10) for s in (1, 2, 5) if (high - low) / (s * 10**power) <= 5)
    return list(range(-(-low // step) * step, high + 1, step))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
