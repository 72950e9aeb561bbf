"""Deadlines: when a seat's time runs out, and why then.

    start      when the turn's email was rendered or accepted, whichever is later
    pace       + the time that the table allows, what is left in the bank, or the next moment of its calendar
    stopped    + outages, pauses, an unreachable address, vacation, and days off and working hours, in which the clock stops
    extended   + more time from the organiser, or from other players
    promised   never earlier than a deadline that the player was told
    notice     some time at least after a long stop
    rounded    up to a moment that is easy to remember
    quiet      moved out of the player's quiet hours, and of their days off and working hours

A player's vacations, time off and quiet hours don't move the end of a second chance.

Time off comes back every week, so only what lies before the deadline is looked at. Nobody gets extra notice after it, because it's
known long before. It never skips a moment of a table's calendar: a turn due in someone's time off is due when that ends.

A step only ever moves the deadline later. Each step that did is kept with its reason, so that an email and the
organiser's page can explain the deadline. The same rules give the deadline to print in an email (`printed_deadline`) and
the one that counts (`deadline_of`).

This module must never read a clock, fire a time-out or change a stored deadline. No deadline is ever earlier because a
server was down or a player away.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR
from pbem.domain.extension import ExtendedTo, Extension, SecondChance, givers_of
from pbem.domain.interval import ZERO, Interval, first_part, moment_after, require_utc, running_time, union, without
from pbem.domain.localtime import round_up
from pbem.domain.pace import CALENDAR_NOTICE, Bank, Calendar, Pace
from pbem.domain.quiet_hours import LONGEST as LONGEST_QUIET, QuietHours, end_of_quiet
from pbem.domain.week import Week, end_of_time_off
from pbem.i18n.speech import mark

# How long the others wait for an unreachable address before its seat is offered, and how long its clocks stop in thirty
# days: players can have their own emails fail, or report them as spam.
PATIENCE = 7 * DAY

# The least time a player gets after a long stop: half a day where a pace is counted in days, because that is how often
# people look.
NOTICE = 12 * HOUR

# A delay that nobody minds at a pace of four hours or more. At a shorter pace it is a quarter of the pace.
NEGLIGIBLE = HOUR


class Reason(Enum):
    """A reason for the time of a deadline. The value is what players read."""

    PACE = mark("the table's time per turn")
    BANK = mark("what was left in the bank")
    OUTAGE = mark("server outage")
    PAUSE = mark("table paused")
    UNREACHABLE = mark("undelivered email")
    VACATION = mark("vacation")
    TIME_OFF = mark("days off or working hours")
    EXTENSION = mark("more time from the organiser")
    GIFT = mark("more time from another player")
    SECOND_CHANCE = mark("time to take a missed turn's move back")
    PROMISE = mark("to keep the later deadline we'd already promised")
    NOTICE = mark("time to come back after a break")
    ROUNDING = mark("rounding up")
    QUIET = mark("quiet hours")


WEEK: Final = 7 * DAY

_OF_PACE: Final = frozenset({Reason.PACE, Reason.BANK})
_IN_ANY_TURN: Final = _OF_PACE | {Reason.PROMISE, Reason.ROUNDING}

LATE_MAIL: Final = mark("late email")
"""The reason when the pace alone ends later than the turn's email said: the clock started later."""

GIVEN_BACK: Final = mark("late email, or time given back to your bank")
"""The same for a bank, which also grows when an outage in an earlier turn is found out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that the deadline of one seat in one turn depends on.

    `accepted_at` is when the relay accepted the turn's email; None until then, and the clock has not started.
    `promised` is the latest deadline that any email or page has told this seat. `unreachable` holds the times when email
    to the seat's address failed, each from the failure until an email went through again; those before the turn have used
    up patience. `week` is the part of the player's week that counts at the table, as it was when they were asked.
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
    week: Week | None = None
    patience: timedelta = PATIENCE

    def __post_init__(self) -> None:
        for moment in (self.rendered_at, self.accepted_at, self.promised):
            if moment is not None:
                require_utc(moment)
        if self.patience <= ZERO:
            raise ValueError(f"nobody can wait for {self.patience}")


@dataclass(frozen=True, slots=True)
class Part:
    """One step of a deadline: its reason, its length, the moment it led to, and the seat that gave the time, if one did."""

    reason: Reason
    by: timedelta
    at: datetime
    giver: int | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The deadline of a seat. The parts lead from `start` to `at`.

    `at` is None while there is no deadline: the clock has not started (`start` is None too), or it has stopped without
    a known end (`waits_for` is the reason).
    """

    start: datetime | None
    at: datetime | None
    parts: tuple[Part, ...] = ()
    waits_for: Reason | None = None


def printed_deadline(turn: Turn) -> Deadline:
    """The deadline to print in the turn's email, as if it were accepted the moment it is rendered."""
    return deadline_of(replace(turn, accepted_at=turn.rendered_at))


def deadline_of(turn: Turn) -> Deadline:
    """The deadline that counts, from everything known now."""
    if any(isinstance(each, SecondChance) for each in turn.extensions):
        # Its player knows the end of it before they book a vacation or choose quiet hours.
        turn = replace(turn, vacations=(), quiet=None, week=None)
    if turn.accepted_at is None:
        return Deadline(None, None)
    start = max(turn.rendered_at, turn.accepted_at)
    if turn.week is None:
        return _deadline(turn, start, ())
    # A deadline before the horizon doesn't depend on time off after it.
    ahead = WEEK + 2 * turn.pace.scale
    while True:
        deadline = _deadline(turn, start, turn.week.intervals(start, start + ahead))
        if deadline.at is None or deadline.at <= start + ahead:
            return deadline
        ahead *= 2


def _deadline(turn: Turn, start: datetime, off: tuple[Interval, ...]) -> Deadline:
    """The deadline of a turn whose clock starts at that moment, with these times off."""
    at = start
    parts: list[Part] = []
    givers = iter(givers_of(turn.extensions))
    for reason, moment in _steps(turn, start, off):
        giver = next(givers) if reason is Reason.GIFT else None
        if moment is None:
            return Deadline(start, None, tuple(parts), _endless_stop(turn))
        if moment > at:
            parts.append(Part(reason, moment - at, moment, giver))
            at = moment
    return Deadline(start, at, tuple(parts))


def is_noticeably_later(promised: datetime, effective: datetime, pace: Pace) -> bool:
    """Whether the deadline that counts is so much later than the promised one that the player must be told."""
    return effective - promised > negligible(pace)


def reasons_later(deadline: Deadline, promised: datetime) -> list[str]:
    """The reasons to give a player whose deadline is later than promised, without the steps that every deadline takes."""
    pace = next((part for part in deadline.parts if part.reason in _OF_PACE), None)
    later = GIVEN_BACK if pace is not None and pace.reason is Reason.BANK else LATE_MAIL
    late = [later] if pace is not None and pace.at > promised else []
    # A player knows their own time off; it is a reason where the clock stopped for it after the promised deadline.
    parts = [part for part in deadline.parts if part.reason is not Reason.TIME_OFF or part.at > promised]
    return [*late, *dict.fromkeys(part.reason.value for part in parts if part.reason not in _IN_ANY_TURN)]


def seat_offer_at(turn: Turn) -> datetime | None:
    """When an unreachable seat is offered, perhaps in the future; None if an email went through again in time."""
    failures = without(
        (failure for failure in turn.unreachable if failure.end is None or failure.end > turn.rendered_at), turn.outages
    )
    waited = first_part(failures, turn.patience)
    return waited[-1].end if waited != failures else None


def waits_for_email(turn: Turn, now: datetime) -> bool:
    """Whether email to the seat fails, and its clock stands still for that."""
    failing = any(failure.end is None for failure in turn.unreachable)
    return failing and any(stop.end is not None and stop.end > now for stop in _waited(turn))


def stops(turn: Turn, until: datetime) -> tuple[Interval, ...]:
    """The times in which this seat's clock stops, with all that begin before that moment."""
    off = turn.week.intervals(turn.rendered_at, until) if turn.week else ()
    return union((*(interval for _, intervals in _stops(turn) for interval in intervals), *off))


def notice(pace: Pace) -> timedelta:
    """The least time a player has after a long stop."""
    return NOTICE if pace.scale >= DAY else pace.scale / 4


def negligible(pace: Pace) -> timedelta:
    """The longest delay or stop that makes no difference at that pace."""
    return min(NEGLIGIBLE, pace.scale / 4)


def _reason_of(extension: Extension) -> Reason:
    if isinstance(extension, SecondChance):
        return Reason.SECOND_CHANCE
    return Reason.GIFT if givers_of([extension]) else Reason.EXTENSION


def _steps(turn: Turn, start: datetime, off: tuple[Interval, ...]) -> Iterator[tuple[Reason, datetime | None]]:
    """The moment that each rule leads to, in order. A None ends it: there is no deadline yet."""
    at = _agreed(turn.pace, start, (), ())
    yield (Reason.BANK if isinstance(turn.pace, Bank) else Reason.PACE), at
    still: tuple[Interval, ...] = ()
    for reason, intervals in _stops(turn):
        still = union((*still, *intervals))
        at = _agreed(turn.pace, start, still, ())
        yield reason, at
    if off:
        at = _agreed(turn.pace, start, still, off)
        yield Reason.TIME_OFF, at
    if at is None:
        return
    never = union((*still, *off))
    for extension in turn.extensions:
        if isinstance(extension, SecondChance):
            at = max(at, extension.missed)
            yield Reason.PROMISE, at
        at = _extended(at, extension, never)
        yield _reason_of(extension), at
        if at is None:
            return
    if turn.promised is not None:
        at = max(at, turn.promised)
        yield Reason.PROMISE, at
    # Each of these may move the deadline to where another one applies: repeat until none does.
    settled = None
    while at != settled:
        settled = at
        at = _with_notice(turn.pace, start, at, still, never)
        yield Reason.NOTICE, at
        if at is None:
            return
        for reason, moment in _out_of_rest(at, turn):
            at = moment
            yield reason, at


def _out_of_rest(at: datetime, turn: Turn) -> list[tuple[Reason, datetime]]:
    """The steps to the first round moment outside quiet hours and time off.

    Only the quiet hours of one night count, so that with working hours all day and quiet hours all night there is a deadline.
    """
    steps = list(_rest(at, turn, turn.quiet))
    if turn.week and steps[-1][1] - at > LONGEST_QUIET:
        awake = running_time(at, steps[-1][1], turn.week.intervals(at, steps[-1][1]))
        if awake > LONGEST_QUIET:
            return list(_rest(at, turn, None))
    return steps


def _rest(at: datetime, turn: Turn, quiet: QuietHours | None) -> Iterator[tuple[Reason, datetime]]:
    first, settled = at, None
    while at != settled and at - first <= 2 * WEEK:
        settled = at
        at = round_up(at, turn.pace.rounding_step, turn.zone)
        yield Reason.ROUNDING, at
        at = end_of_quiet(at, quiet)
        yield Reason.QUIET, at
        at = end_of_time_off(at, turn.week)
        yield Reason.TIME_OFF, at


def _stops(turn: Turn) -> tuple[tuple[Reason, tuple[Interval, ...]], ...]:
    """The stops of the clock, by reason. Time that two of them share counts for the first."""
    return (
        (Reason.OUTAGE, turn.outages),
        (Reason.PAUSE, turn.pauses),
        (Reason.UNREACHABLE, _waited(turn)),
        (Reason.VACATION, turn.vacations),
    )


def _waited(turn: Turn) -> tuple[Interval, ...]:
    """The part of all known failures for which the others wait; outages use up no patience."""
    return first_part(without(turn.unreachable, turn.outages), turn.patience)


def _endless_stop(turn: Turn) -> Reason | None:
    """The reason for a stop without a known end."""
    for reason, intervals in _stops(turn):
        if any(interval.end is None for interval in intervals):
            return reason
    return None


def _agreed(pace: Pace, start: datetime, still: tuple[Interval, ...], off: tuple[Interval, ...]) -> datetime | None:
    """The moment at which the time of the pace runs out, with a clock that stands still and times off."""
    never = (*still, *off)
    if not isinstance(pace, Calendar):
        return moment_after(start, pace.allowed, never)
    earliest = moment_after(start, CALENDAR_NOTICE, never)
    while earliest is not None:
        moment = pace.next_moment(earliest)
        stop = next((stop for stop in still if stop.start < moment and stop.contains(moment)), None)
        if stop is None:
            return moment
        earliest = stop.end
    return None


def _extended(at: datetime, extension: Extension, still: tuple[Interval, ...]) -> datetime | None:
    if isinstance(extension, ExtendedTo):
        return max(at, extension.moment)
    return moment_after(at, extension.amount, still)


def _with_notice(
    pace: Pace, start: datetime, at: datetime, still: tuple[Interval, ...], never: tuple[Interval, ...]
) -> datetime | None:
    """The moment itself, or later if stops before it call for notice: time in which the clock runs."""
    for stop in still:
        if stop.start >= at or (stop.end is not None and stop.end <= start):
            continue
        if stop.end is None:
            return None
        long = stop.end - stop.start > negligible(pace)
        enough = moment_after(stop.end, notice(pace) if long else ZERO, never)
        if enough is None:
            return None
        at = max(at, enough)
    return at
