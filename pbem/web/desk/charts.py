"""Activity as bar charts, by day or by hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pbem.domain.moments import axis_day_text, day_text
from pbem.service.desk.statistics import ANSWERED, Activity
from pbem.web.charts import Chart, Frame, Row, Scale, Tick

FRAME: Final = Frame(width=320, height=120, left=38, right=16, top=10, bottom=22, gap=4, baseline=3.5)
"""About as wide as a phone. Where there is more room, the style sheet keeps its words small."""

GAP: Final = 0.2
"""The part of a bar's room that stays free."""

KINDS: Final = {
    "moves": ("moves", "bots", "orders"),
    "time_outs": ("time_outs",),
    "people": ("people",),
    "answers": tuple(kind for kind, _longest in ANSWERED),
    "mails": ("mail_sent", "mail_postponed", "mail_superseded", "mail_failed"),
}
"""The charts in their order, each with the kinds that its bars are piled up from."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a pile: one kind in one day or hour."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class BarChart(Chart):
    """A chart whose columns are kinds: the bars of each, and its total, which is None where numbers cannot be added up."""

    name: str
    bars: tuple[tuple[Bar, ...], ...]
    totals: tuple[int | None, ...]


def activity_charts(activity: Activity) -> list[BarChart]:
    """All charts of what happened. Their tables have the newest row first."""
    return [_chart(name, kinds, activity) for name, kinds in KINDS.items()]


def _chart(name: str, kinds: tuple[str, ...], activity: Activity) -> BarChart:
    # A person who came in two hours of a day is one person in that day.
    people = name == "people"
    columns = [activity.of("people_day" if people and not activity.hourly else kind) for kind in kinds]
    piles = list(zip(*columns, strict=True))
    if activity.hourly:
        marks = [f"{span:%H:00}" for span in activity.spans]
        heads = [f"{axis_day_text(span)}, {mark}" for span, mark in zip(activity.spans, marks, strict=True)]
    else:
        marks = [axis_day_text(span) for span in activity.spans]
        heads = [day_text(span) for span in activity.spans]
    most = _round_up(max(map(sum, piles), default=0))
    x, y = FRAME.x(0, len(piles)), FRAME.y(0, most)
    every = len(heads) // 6
    return BarChart(
        frame=FRAME,
        columns=kinds,
        rows=tuple(Row(head, tuple(map(str, pile))) for head, pile in zip(heads, piles, strict=True))[::-1],
        across=tuple(Tick(x(at + 0.5), marks[at]) for at in range((len(heads) - 1) % every, len(heads), every)),
        up=tuple(Tick(y(number), f"{number:,}") for number in (0, most // 2, most)),
        name=name,
        bars=_bars(piles, x, y),
        totals=tuple(None if people else sum(column) for column in columns),
    )


def _bars(piles: Sequence[Sequence[int]], x: Scale, y: Scale) -> tuple[tuple[Bar, ...], ...]:
    """The bars of each kind; a number of nothing has none."""
    width = round((x(len(piles)) - x(0)) / len(piles) * (1 - GAP), 1)
    tops = [tuple(accumulate(pile)) for pile in piles]
    return tuple(
        tuple(
            Bar(x(at + GAP / 2), y(top[kind]), width, round(y(top[kind] - pile[kind]) - y(top[kind]), 1))
            for at, (pile, top) in enumerate(zip(piles, tops, strict=True))
            if pile[kind]
        )
        for kind in range(len(piles[0]))
    )


def _round_up(most: int) -> int:
    """The end of an axis: an even number that is a single digit or 10 times a power of ten, and at least this."""
    step = 1
    while True:
        for times in (2, 4, 6, 8, 10):
            if most <= times * step:
                return times * step
        step *= 10
