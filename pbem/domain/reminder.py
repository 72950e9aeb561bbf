"""Reminders: when to email again before a deadline.

A cadence such as `50%,80%,2h` is a person's preference: after half of the time, after four fifths, and two hours before the
end. Only time in which the clock runs counts, so nobody is reminded on vacation, or on a day off. This module plans reminders; it does not
know whether the player has moved, and must never send one.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from pbem.domain.deadline import Deadline, Turn, negligible, stops
from pbem.domain.duration import parse_duration, short_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.interval import ZERO, Interval, moment_after, running_time
from pbem.domain.quiet_hours import end_of_quiet
from pbem.i18n.speech import gettext as _

# More than this is no reminder but a nuisance.
MOST_REMINDERS = 5

_PERCENT = re.compile(r"([1-9][0-9]?) ?%")


@dataclass(frozen=True, slots=True)
class TimeUsed:
    """A mark at which this percentage of the time has passed."""

    percent: int

    def __str__(self) -> str:
        return f"{self.percent}%"

    def left_of(self, total: timedelta) -> timedelta:
        """How much of the whole time is left at this mark."""
        return total * (100 - self.percent) / 100


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """A mark at which this much time is left."""

    length: timedelta

    def __str__(self) -> str:
        return short_duration(self.length)

    def left_of(self, total: timedelta) -> timedelta:
        """How much of the whole time is left at this mark: its length, however long the whole is."""
        return self.length


@dataclass(frozen=True, slots=True)
class Cadence:
    """The marks at which a person wants to be reminded; empty for no reminders."""

    marks: tuple[TimeUsed | TimeLeft, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.marks)) or "none"


DEFAULT = Cadence((TimeUsed(50), TimeUsed(80), TimeLeft(timedelta(hours=2))))


def parse_cadence(text: str) -> Cadence:
    """Parse a cadence such as `50%,80%,2h`, or `none`. Raises BadInput."""
    words = [word.strip() for word in text.split(",")]
    if words == ["none"]:
        return Cadence(())
    if len(words) > MOST_REMINDERS:
        raise BadInput(
            _("%(many)s reminders are too many.", many=len(words)),
            why=_("The limit is %(most_reminders)s per turn.", most_reminders=MOST_REMINDERS),
            remedy=_("Choose fewer, such as 50%%,80%%,2h."),
        )
    return Cadence(tuple(map(_parse_mark, words)))


def reminders(turn: Turn, due: Deadline, cadence: Cadence) -> tuple[datetime, ...]:
    """The moments of the reminders, in order. Of two close together the later stays, because it is more useful."""
    if due.start is None or due.at is None:
        return ()
    apart = negligible(turn.pace)
    spaced: list[datetime] = []
    for moment in sorted(_moments(turn, due.start, due.at, cadence), reverse=True):
        # Soon after the turn's email, or soon before another reminder, it would say nothing new.
        if moment - due.start >= apart and (not spaced or spaced[-1] - moment >= apart):
            spaced.append(moment)
    return tuple(reversed(spaced))


def _moments(turn: Turn, start: datetime, end: datetime, cadence: Cadence) -> set[datetime]:
    """The moments of the marks at which the clock runs, moved out of quiet hours and time off."""
    still = stops(turn, end)
    off = turn.week.intervals(start, end) if turn.week else ()
    total = running_time(start, end, still)
    moments = set()
    for mark in cadence.marks:
        passed = total - mark.left_of(total)
        # A turn of one hour has no moment at which two hours are left.
        moment = moment_after(start, passed, still) if passed > ZERO else None
        if moment is not None:
            moments.add(_out_of_rest(moment, end, turn, off))
    return {moment for moment in moments if not any(stop.contains(moment) for stop in still)}


def _out_of_rest(moment: datetime, end: datetime, turn: Turn, off: tuple[Interval, ...]) -> datetime:
    """The end of quiet hours and time off if that leaves time to decide, otherwise a moment before the quiet hours."""
    apart, later, settled = negligible(turn.pace), moment, None
    while later != settled:
        settled = later
        later = end_of_quiet(later, turn.quiet)
        later = next((each.end for each in off if each.end and each.contains(later)), later)
    period = turn.quiet.period_around(moment) if turn.quiet else None
    if period is None or later + apart <= end:
        return later
    return period.start - apart


def _parse_mark(word: str) -> TimeUsed | TimeLeft:
    if match := _PERCENT.fullmatch(word):
        return TimeUsed(int(match[1]))
    try:
        return TimeLeft(parse_duration(word))
    except BadInput:
        raise BadInput(
            _("%(word)s isn't a reminder time.", word=quoted(word)),
            why=_("Use percentages of your time per turn (1%% to 99%%), or the time left, such as 50%%,80%%,2h."),
            remedy=_("For no reminders, write “none”."),
        ) from None
