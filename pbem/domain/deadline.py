"""Deadlines: until when a seat may decide, and why until then.

    start      the later of rendering and acceptance of the turn's mail
    pace       + what the table allows, or the next moment of its calendar
    stopped    + outages, pauses, an unreachable address and vacation: in these the clock stands still
    extended   + what the organiser gave
    promised   never earlier than a moment already told
    notice     never less than some time after the clock stood still for long
    rounded    up to a moment that is easy to remember
    quiet      out of the player's quiet hours

Each line only ever moves the moment later, and each that did is kept with its reason, so that a
mail and the organiser's page can say how the moment came about. One function answers both what to
print (`printed`) and what counts (`due`): the same rules, asked at rendering and asked now.

Everything is an argument. Nothing in here asks the time, fires a time-out or moves a deadline that
is stored; and no result is ever earlier because somebody was down, away or late.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR, parse_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.interval import ZERO, Interval, at_most, later_by, require_utc, union
from pbem.domain.localtime import moment_at, parse_wall, round_up
from pbem.domain.pace import CALENDAR_NOTICE, Pace, PerDecision
from pbem.domain.quiet_hours import QuietHours, end_of_quiet
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import marked

# How long the others wait for an address that cannot be reached before its seat is offered.
PATIENCE = 7 * DAY

# After the clock stood still, a player gets at least this much of it again: half a day where
# people count in days, because that is how often they look.
NOTICE = 12 * HOUR

# A delay that nobody minds, at a pace of four hours or more; at shorter ones it is a quarter.
UNNOTICED = HOUR

# A longer stay is a pause, which is seen as one.
LONGEST_EXTENSION = 30 * DAY

_DAY_AND_WALL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9:]{1,8})")


class Reason(Enum):
    """Why a deadline is when it is; the value names it for whoever reads how it came about."""

    PACE = marked("pace of the table")
    OUTAGE = marked("outage of the server")
    PAUSE = marked("pause of the table")
    UNREACHABLE = marked("address that could not be reached")
    VACATION = marked("vacation")
    EXTENSION = marked("more time from the organiser")
    PROMISE = marked("moment promised before")
    NOTICE = marked("time to come back after a stop")
    ROUNDING = marked("rounding up")
    QUIET = marked("quiet hours")


_IN_ANY_TURN: Final = frozenset({Reason.PACE, Reason.PROMISE, Reason.ROUNDING})

LATE_MAIL: Final = marked("mail that was long on its way")
"""Why the time that the pace gives ends later than the mail of the turn said: its clock started later."""


@dataclass(frozen=True, slots=True)
class ExtendedBy:
    """The organiser gave this much more time."""

    amount: timedelta


@dataclass(frozen=True, slots=True)
class ExtendedTo:
    """The organiser gave time until this moment; it takes nothing from who has longer anyway."""

    moment: datetime

    def __post_init__(self) -> None:
        require_utc(self.moment)


Extension = ExtendedBy | ExtendedTo


@dataclass(frozen=True, slots=True)
class Turn:
    """All that the deadline of one seat in one turn depends on.

    `accepted_at` is when its clock started; None means that it has not.
    `promised` is the latest moment that any mail or page has told this seat. `unreachable` is
    when mail to the seat's address failed, each from the failure until mail went through again.
    """

    pace: Pace
    zone: ZoneInfo
    rendered_at: datetime
    accepted_at: datetime | None = None
    promised: datetime | None = None
    outages: tuple[Interval, ...] = ()
    pauses: tuple[Interval, ...] = ()
    unreachable: tuple[Interval, ...] = ()
    vacations: tuple[Interval, ...] = ()
    extensions: tuple[Extension, ...] = ()
    quiet: QuietHours | None = None
    patience: timedelta = PATIENCE

    def __post_init__(self) -> None:
        for moment in (self.rendered_at, self.accepted_at, self.promised):
            if moment is not None:
                require_utc(moment)
        if self.patience <= ZERO:
            raise ValueError(f"nobody can wait for {self.patience}")


@dataclass(frozen=True, slots=True)
class Part:
    """One step towards the moment: why, by how much, and where it led."""

    reason: Reason
    by: timedelta
    at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """Until when a seat may decide, and how that came about: the parts lead from `start` to `at`.

    `at` is None while there is no such moment: the clock has not started (`start` is None too), or
    it stands still and nobody knows until when (`waits_for` says why).
    """

    start: datetime | None
    at: datetime | None
    parts: tuple[Part, ...] = ()
    waits_for: Reason | None = None


def printed(turn: Turn) -> Due:
    """The deadline to print in the turn's mail: as if it were accepted the moment it is rendered."""
    return due(replace(turn, accepted_at=turn.rendered_at))


def due(turn: Turn) -> Due:
    """The deadline that counts, from all that is known now."""
    if turn.accepted_at is None:
        return Due(None, None)
    start = max(turn.rendered_at, turn.accepted_at)
    at = start
    parts: list[Part] = []
    for reason, moment in _steps(turn, start):
        if moment is None:
            return Due(start, None, tuple(parts), _standing_still(turn))
        if moment > at:
            parts.append(Part(reason, moment - at, moment))
            at = moment
    return Due(start, at, tuple(parts))


def differs(promised: datetime, effective: datetime, pace: Pace) -> bool:
    """Whether the moment that counts is so much later than the one told that the seat must hear it."""
    return effective - promised > unnoticed(pace)


def why_later(found: Due, promised: datetime) -> list[str]:
    """What to tell a player whose time ends later than they were told: not the steps that every deadline takes anyway."""
    pace_alone = next((part.at for part in found.parts if part.reason is Reason.PACE), promised)
    late = [LATE_MAIL] if pace_alone > promised else []
    return late + [part.reason.value for part in found.parts if part.reason not in _IN_ANY_TURN]


def offered_at(turn: Turn) -> datetime | None:
    """When the others need wait no longer for an unreachable address and its seat is offered.

    None where mail went through again in time. The moment may lie ahead: it holds if nothing changes.
    """
    failures, waited = _failures(turn), _waited(turn)
    return waited[-1].end if waited != failures else None


def stopped(turn: Turn) -> tuple[Interval, ...]:
    """The time in which this seat's clock stands still."""
    return union(interval for _, intervals in _stops(turn) for interval in intervals)


def notice(pace: Pace) -> timedelta:
    """What is left of a player's time, at least, after the clock stood still for long."""
    return NOTICE if pace.scale >= DAY else pace.scale / 4


def unnoticed(pace: Pace) -> timedelta:
    """A delay, or a stop, too short to make a difference at that pace."""
    return min(UNNOTICED, pace.scale / 4)


def parse_extension(text: str, now: datetime, zone: ZoneInfo) -> Extension:
    """What an organiser typed: `1d`, or `2026-12-01 20:00` as the clocks of the zone show it."""
    match = _DAY_AND_WALL.fullmatch(" ".join(text.split()))
    extension: Extension
    try:
        if match:
            moment = moment_at(date.fromisoformat(match[1]), parse_wall(match[2]), zone)
            extension, gained = ExtendedTo(moment), moment - now
        else:
            gained = parse_duration(text)
            extension = ExtendedBy(gained)
    except (BadInput, ValueError, OverflowError):
        raise BadInput(
            _("%(given)s is neither a length of time nor a moment.", given=quoted(text)),
            why=_("More time is given by an amount, or until a day and a time of that day."),
            remedy=_("Write it like 12h or 2d, or like 2026-12-01 20:00."),
        ) from None
    if not ZERO < gained <= LONGEST_EXTENSION:
        raise BadInput(
            _("More time cannot be given by %(given)s.", given=quoted(text)),
            why=_("The moment has to lie ahead, and thirty days is the most at once."),
            remedy=_("Choose another moment, or pause the table for longer breaks."),
        )
    return extension


def _steps(turn: Turn, start: datetime) -> Iterator[tuple[Reason, datetime | None]]:
    """Where each rule leads, in their order. The first None is the last word: no moment yet."""
    at = _agreed(turn.pace, start, ())
    yield Reason.PACE, at
    still: tuple[Interval, ...] = ()
    for reason, intervals in _stops(turn):
        still = union((*still, *intervals))
        at = _agreed(turn.pace, start, still)
        yield reason, at
    if at is None:
        return
    for extension in turn.extensions:
        at = _extended(at, extension, still)
        yield Reason.EXTENSION, at
        if at is None:
            return
    if turn.promised is not None:
        at = max(at, turn.promised)
        yield Reason.PROMISE, at
    # Each of these may lead to where another one moves it on: go round until none does.
    settled = None
    while at != settled:
        settled = at
        at = _with_notice(turn.pace, start, at, still)
        yield Reason.NOTICE, at
        if at is None:
            return
        at = round_up(at, turn.pace.friendly_step, turn.zone)
        yield Reason.ROUNDING, at
        at = end_of_quiet(at, turn.quiet)
        yield Reason.QUIET, at


def _stops(turn: Turn) -> tuple[tuple[Reason, tuple[Interval, ...]], ...]:
    """What stops the clock, by reason. Time that two of them share counts for the first."""
    return (
        (Reason.OUTAGE, turn.outages),
        (Reason.PAUSE, turn.pauses),
        (Reason.UNREACHABLE, _waited(turn)),
        (Reason.VACATION, turn.vacations),
    )


def _failures(turn: Turn) -> tuple[Interval, ...]:
    """When the address could not be reached, as far as it concerns this turn.

    A failure counts from its own beginning: an address that has been dead for a week does not
    get another week at each new turn.
    """
    return union(failure for failure in turn.unreachable if failure.end is None or failure.end > turn.rendered_at)


def _waited(turn: Turn) -> tuple[Interval, ...]:
    """The part of the failures that the others wait for."""
    return at_most(_failures(turn), turn.patience)


def _standing_still(turn: Turn) -> Reason | None:
    """What stops the clock with no end in sight."""
    for reason, intervals in _stops(turn):
        if any(interval.end is None for interval in intervals):
            return reason
    return None


def _agreed(pace: Pace, start: datetime, still: tuple[Interval, ...]) -> datetime | None:
    """When the time that the pace gives has run out."""
    if isinstance(pace, PerDecision):
        return later_by(start, pace.allowed, still)
    earliest = later_by(start, CALENDAR_NOTICE, still)
    while earliest is not None:
        moment = pace.next_moment(earliest)
        stop = next((stop for stop in still if stop.start < moment and stop.holds(moment)), None)
        if stop is None:
            return moment
        earliest = stop.end
    return None


def _extended(at: datetime, extension: Extension, still: tuple[Interval, ...]) -> datetime | None:
    if isinstance(extension, ExtendedTo):
        return max(at, extension.moment)
    return later_by(at, extension.amount, still)


def _with_notice(pace: Pace, start: datetime, at: datetime, still: tuple[Interval, ...]) -> datetime | None:
    """The moment itself, or as much later as the stops before it ask for."""
    for stop in still:
        if stop.start >= at or (stop.end is not None and stop.end <= start):
            continue
        if stop.end is None:
            return None
        long = stop.end - stop.start > unnoticed(pace)
        enough = later_by(stop.end, notice(pace) if long else ZERO, still)
        if enough is None:
            return None
        at = max(at, enough)
    return at
