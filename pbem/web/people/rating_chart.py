"""A person's ratings as a chart: a line for each kind of game, and one for all games."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pbem.domain.evenly import evenly
from pbem.domain.rating_words import rating_text
from pbem.domain.ratings import OVERALL, Rating
from pbem.i18n.speech import gettext as _
from pbem.service.account.ratings import OwnRatings
from pbem.web.charts import Row, ticks
from pbem.web.tables.charts import FRAME as SCORES, LineChart, Mark, apart, lines_to_ends, round_numbers

FRAME: Final = replace(SCORES, left=46)
"""With room for numbers of four digits."""

MOST_MARKS: Final = 60
MOST_TICKS: Final = 5


def rating_chart(found: OwnRatings, game_named: Callable[[str], str]) -> LineChart | None:
    """The ratings game by game, the person's first of them on the left; None with fewer than two games."""
    seqs = sorted({seq for _kind, course in found.courses for seq, _rating in course})
    if len(seqs) < 2:
        return None
    shown = evenly(range(len(seqs)), MOST_MARKS)
    names = tuple(game_named(kind) if kind != OVERALL else _("All games") for kind, _course in found.courses)
    # Between its games a rating stays what it was.
    courses = [_at_each(dict(course), seqs) for _kind, course in found.courses]
    values = [rating.shown for course in courses for rating in course if rating is not None]
    low, high = min(values), max(*values, min(values) + 1)
    x, y = FRAME.x(1, len(seqs)), FRAME.y(low, high)
    series = [
        [Mark(x(number + 1), y(rating.shown)) for number in shown if (rating := course[number]) is not None]
        for course in courses
    ]
    return LineChart(
        frame=FRAME,
        columns=names,
        rows=tuple(
            Row(
                str(number + 1),
                tuple("" if (now := course[number]) is None else rating_text(now) for course in courses),
            )
            for number in shown
        ),
        across=ticks(x, apart([number + 1 for number in evenly(shown, MOST_TICKS)], x)),
        up=ticks(y, round_numbers(low, high)),
        lines=lines_to_ends(series, names),
    )


def _at_each(course: Mapping[int, Rating], seqs: Sequence[int]) -> list[Rating | None]:
    """The rating after each of these endings; None before the first."""
    found: list[Rating | None] = []
    for seq in seqs:
        found.append(course.get(seq, found[-1] if found else None))
    return found
