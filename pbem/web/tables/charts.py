"""The course of a game as line charts, a line for each seat, which can be told apart without their colours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.auctions import Auction, words_of
from engine.tell import Teller
from pbem.domain.evenly import evenly
from pbem.i18n.speech import capital
from pbem.service.archive.score_history import Scores
from pbem.web.charts import Chart, Frame, Row, Scale, ticks

FRAME: Final = Frame(width=400, height=230, left=36, right=112, top=12, bottom=24, gap=7, baseline=4.5)
"""About as wide as it is shown on a phone, so that its words can be read; the right margin has the names of the lines."""

LINE_HEIGHT: Final = 16
"""The least distance between two names."""

MOST_MOMENTS: Final = 60
"""More would lie on top of each other, and make the table longer than anyone reads."""

MOST_AUCTIONS: Final = 40
MOST_TICKS: Final = 5

TICK_WIDTH: Final = 28
"""The least distance between two numbers below a chart: they may have three digits."""

LONGEST_NAME: Final = 10
"""Letters of a name at the end of a line. The table has the whole name."""

SHAPES: Final = ("circle", "square", "triangle", "diamond", "cross", "plus", "star", "ring", "bar")
"""The shapes of marks, by seat."""

Turn = Callable[[int], str]
"""The address at which a turn can be seen."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the drawing, or the place of a name."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a seat: its marks in their order, and the place of its name."""

    seat: int
    shape: str
    name: str
    marks: tuple[Mark, ...]
    label: Mark

    @property
    def points(self) -> str:
        """The marks as SVG writes the points of a line."""
        return " ".join(f"{mark.x:g},{mark.y:g}" for mark in self.marks)


@dataclass(frozen=True, slots=True)
class LineChart(Chart):
    """A chart with a line for each seat; none where there are no numbers to draw.

    `unit` is what the numbers count; `cut` is whether earlier numbers were left out.
    """

    lines: tuple[Line, ...]
    unit: str = ""
    cut: bool = False


def score_chart(scores: Scores | None, names: tuple[str, ...], teller: Teller, turn: Turn) -> LineChart | None:
    """The scores, turn by turn; None where they are not told during the game."""
    if scores is None or len(scores.moments) < 2:
        return None
    moments = evenly(scores.moments, MOST_MOMENTS)
    turns = [number for number, _points in moments]
    values = [value for _number, points in moments for value in points]
    low, high = min(values), max(*values, min(values) + 1)
    x, y = FRAME.x(turns[0], turns[-1]), FRAME.y(low, high)
    series = [[Mark(x(number), y(points[seat])) for number, points in moments] for seat in range(len(names))]
    return LineChart(
        frame=FRAME,
        columns=names,
        rows=tuple(Row(str(number), tuple(map(str, points)), turn(number)) for number, points in moments),
        across=ticks(x, apart(evenly(turns, MOST_TICKS), x)),
        up=ticks(y, round_numbers(low, high)),
        lines=lines_to_ends(series, names),
        unit=capital(teller(scores.unit)),
    )


def auction_chart(auctions: Sequence[Auction], names: tuple[str, ...], teller: Teller, turn: Turn) -> LineChart | None:
    """The highest bid of each seat in each auction, and a table of all bids; None where nothing was bid."""
    if not auctions:
        return None
    first = max(len(auctions) - MOST_AUCTIONS, 0) + 1
    shown = dict(enumerate(auctions[first - 1 :], first))
    highest = [{number: auction.highest(seat) for number, auction in shown.items()} for seat in range(len(names))]
    amounts = [amount for bids in highest for amount in bids.values() if amount is not None]
    most = max([*amounts, 1])
    x, y = FRAME.x(first, max(*shown, first + 1), indent=6), FRAME.y(0, most)
    series = [[Mark(x(number), y(bid)) for number, bid in bids.items() if bid is not None] for bids in highest]
    return LineChart(
        frame=FRAME,
        columns=names,
        rows=tuple(
            Row(str(number), tuple(_calls(auction, seat, teller) for seat in range(len(names))), turn(auction.turn))
            for number, auction in shown.items()
        ),
        across=ticks(x, evenly(list(shown), MOST_TICKS)),
        up=ticks(y, round_numbers(0, most)),
        lines=_lines(series, names, _heights_in_a_list(series)) if amounts else (),
        cut=first > 1,
    )


def _calls(auction: Auction, seat: int, teller: Teller) -> str:
    """All that a seat did in one auction, in words."""
    words = words_of(auction, seat)
    return "" if words is None else teller(words)


def lines_to_ends(series: list[list[Mark]], names: tuple[str, ...]) -> tuple[Line, ...]:
    """Lines with their names at their ends."""
    return _lines(series, names, _heights_at_ends(series))


def _lines(series: list[list[Mark]], names: tuple[str, ...], heights: dict[int, float]) -> tuple[Line, ...]:
    """A line for each seat that has marks, with its name at one of these heights."""
    return tuple(
        Line(
            seat=seat,
            shape=SHAPES[seat % len(SHAPES)],
            name=names[seat] if len(names[seat]) <= LONGEST_NAME else names[seat][: LONGEST_NAME - 1] + "…",
            marks=tuple(marks),
            label=Mark(FRAME.width - FRAME.right + 16, heights[seat]),
        )
        for seat, marks in enumerate(series)
        if marks
    )


def _heights_at_ends(series: list[list[Mark]]) -> dict[int, float]:
    """The heights of names at the ends of their lines, moved apart where they would overlap."""
    ends = sorted((marks[-1].y, seat) for seat, marks in enumerate(series) if marks)
    heights, below = dict[int, float](), float("-inf")
    for y, seat in ends:
        heights[seat] = below = max(y, below + LINE_HEIGHT)
    # The lowest may have been pushed out of the drawing: all that touch move up together.
    above = float(FRAME.height - FRAME.bottom)
    for _y, seat in reversed(ends):
        heights[seat] = above = min(heights[seat], above)
        above -= LINE_HEIGHT
    return heights


def _heights_in_a_list(series: list[list[Mark]]) -> dict[int, float]:
    """The heights of names one under the other, for marks that make no line."""
    seats = [seat for seat, marks in enumerate(series) if marks]
    return {seat: float(FRAME.top + LINE_HEIGHT * place) for place, seat in enumerate(seats)}


def apart(numbers: Sequence[int], scale: Scale) -> list[int]:
    """The numbers without those that would overlap the one before or the last."""
    *earlier, last = numbers
    apart: list[int] = []
    for number in earlier:
        if scale(last) - scale(number) >= TICK_WIDTH and (not apart or scale(number) - scale(apart[-1]) >= TICK_WIDTH):
            apart.append(number)
    return [*apart, last]


def round_numbers(low: int, high: int) -> list[int]:
    """Round numbers within a range, three to six of them."""
    step = next(s * 10**power for power in range(10) for s in (1, 2, 5) if (high - low) / (s * 10**power) <= 5)
    return list(range(-(-low // step) * step, high + 1, step))
