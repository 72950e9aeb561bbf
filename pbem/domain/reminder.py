"""Reminders: when to ask again before a deadline.

A cadence such as `50%,80%,2h` is a person's own: after half of the time, after four fifths, and two
hours before the end. Marks are counted in time during which the clock runs, so that nobody is
reminded on vacation. Whether the move has been made, or a reminder was sent before, is not known
here: this module plans, and never sends.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from pbem.domain.deadline import Due, Turn, stopped, unnoticed
from pbem.domain.duration import parse_duration, short_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.interval import ZERO, later_by, running
from pbem.i18n.speech import gettext as _

# More than this is no reminder but a nuisance.
MOST_REMINDERS = 5

_PERCENT = re.compile(r"([1-9][0-9]?) ?%")


@dataclass(frozen=True, slots=True)
class Passed:
    """When this share of the time has passed."""

    percent: int

    def __str__(self) -> str:
        return f"{self.percent}%"

    def left_of(self, total: timedelta) -> timedelta:
        """How much of the whole time is left at this mark."""
        return total * (100 - self.percent) / 100


@dataclass(frozen=True, slots=True)
class Left:
    """When this much of the time is left."""

    length: timedelta

    def __str__(self) -> str:
        return short_duration(self.length)

    def left_of(self, total: timedelta) -> timedelta:
        """How much of the whole time is left at this mark: its length, whatever the whole is."""
        return self.length


@dataclass(frozen=True, slots=True)
class Cadence:
    """The marks at which a person wants to be reminded; none at all for no reminders."""

    marks: tuple[Passed | Left, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.marks)) or "none"


USUAL = Cadence((Passed(50), Passed(80), Left(timedelta(hours=2))))


def parse_cadence(text: str) -> Cadence:
    """A cadence from what a person typed, such as `50%,80%,2h`, or `none`."""
    words = [word.strip() for word in text.split(",")]
    if words == ["none"]:
        return Cadence(())
    if len(words) > MOST_REMINDERS:
        raise BadInput(
            _("%(many)s reminders are too many.", many=len(words)),
            why=_("%(most_reminders)s for one turn is the most.", most_reminders=MOST_REMINDERS),
            remedy=_("Choose the ones that help you, such as 50%%,80%%,2h."),
        )
    return Cadence(tuple(map(_parse_mark, words)))


def reminders(turn: Turn, due: Due, cadence: Cadence) -> tuple[datetime, ...]:
    """The moments at which to remind, in order; none while there is no deadline.

    Where two would come close together the later one stays, because it is the one that counts.
    """
    if due.start is None or due.at is None:
        return ()
    apart = unnoticed(turn.pace)
    kept: list[datetime] = []
    for moment in sorted(_wanted(turn, due.start, due.at, cadence), reverse=True):
        # Soon after the turn's mail, or soon before another reminder, it would say nothing new.
        if moment - due.start >= apart and (not kept or kept[-1] - moment >= apart):
            kept.append(moment)
    return tuple(reversed(kept))


def _wanted(turn: Turn, start: datetime, end: datetime, cadence: Cadence) -> set[datetime]:
    """The moments of the marks, out of quiet hours, as far as the clock runs at them."""
    still = stopped(turn)
    total = running(start, end, still)
    moments = set()
    for mark in cadence.marks:
        passed = total - mark.left_of(total)
        # Of an hour altogether, there is no moment at which two hours are left.
        moment = later_by(start, passed, still) if passed > ZERO else None
        if moment is not None:
            moments.add(_out_of_quiet(moment, end, turn))
    return {moment for moment in moments if not any(stop.holds(moment) for stop in still)}


def _out_of_quiet(moment: datetime, end: datetime, turn: Turn) -> datetime:
    """After the quiet hours where that leaves time to decide, otherwise in time before them."""
    stretch = turn.quiet.around(moment) if turn.quiet else None
    if stretch is None or stretch.end is None:
        return moment
    apart = unnoticed(turn.pace)
    return stretch.end if stretch.end + apart <= end else stretch.start - apart


def _parse_mark(word: str) -> Passed | Left:
    if match := _PERCENT.fullmatch(word):
        return Passed(int(match[1]))
    try:
        return Left(parse_duration(word))
    except BadInput:
        raise BadInput(
            _("%(word)s is not a moment for a reminder.", word=quoted(word)),
            why=_("It is a share of your time, from 1%% to 99%%, or the time that is left."),
            remedy=_("Write for example 50%%,80%%,2h, or none."),
        ) from None
