"""A person's week: days off and working hours, in which their clocks don't run.

They come back every week, in local time of the person's zone, unlike a vacation. A table says how many hours of it count
there, for everyone alike, and people see that before they join: the days off count first, then the working hours, each
whole or not at all. `deadline` decides what a week does to a clock.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR
from pbem.domain.errors import BadInput, Readers, quoted, read_fields
from pbem.domain.interval import Interval, union
from pbem.domain.localtime import local_day, moment_at, parse_wall, stored_zone
from pbem.domain.pace import Pace
from pbem.i18n.speech import gettext as _, mark, ngettext, translate

DAYS: Final = tuple(map(mark, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")))
"""The days of the week, from Monday (0)."""

MOST_DAYS: Final = 3
"""The most days off: the others must be able to wait for the rest."""

LONGEST: Final = 12 * HOUR
"""The longest working hours, which leave half of the day for a deadline."""

MOST: Final = 108
"""The most hours a week in all: a weekend, and twelve hours on the other days."""

BOUNDS: Final = (0, 48, MOST)
"""The hours a week for which a table can let its players' clocks stand still."""

# At a shorter time per turn, people play at the same time, and would wait a weekend for someone who may not know.
_LONG_TURN = 12 * HOUR


@dataclass(frozen=True, slots=True)
class WorkingHours:
    """The time from `begin` until just before `end` on some days; an earlier `end` is on the next day."""

    days: tuple[int, ...]
    begin: time
    end: time

    def __post_init__(self) -> None:
        if not self.days or not timedelta(0) < self.length <= LONGEST:
            raise ValueError(f"nobody works {self}")

    @property
    def length(self) -> timedelta:
        """The length on a day on which the clocks do not change."""
        return (_since_midnight(self.end) - _since_midnight(self.begin)) % DAY


@dataclass(frozen=True, slots=True)
class Week:
    """Whole days off, and working hours on other days, in a zone. Monday is 0."""

    days_off: tuple[int, ...]
    work: WorkingHours | None
    zone: ZoneInfo

    def __post_init__(self) -> None:
        if not self.days_off and self.work is None:
            raise ValueError("a week without time off is no week")
        if len(self.days_off) > MOST_DAYS or self.hours > MOST:
            raise ValueError(f"nobody has {self} off")

    def __str__(self) -> str:
        return f"{self.times}|{self.zone.key}"

    @property
    def times(self) -> str:
        """The text of the days and hours, without the zone."""
        work = f"{_names(self.work.days)} {self.work.begin:%H:%M}-{self.work.end:%H:%M}" if self.work else ""
        return f"{_names(self.days_off)}|{work}"

    @property
    def hours(self) -> float:
        """The hours a week, in a week in which the clocks do not change."""
        return _hours_of_days(self.days_off) + _hours_of_work(self.work)

    def counting(self, bound: int) -> "Week | None":
        """The part that counts at a table with this bound: the days off first, then the working hours, each whole or not at all."""
        days = self.days_off if _hours_of_days(self.days_off) <= bound else ()
        work = self.work if _hours_of_days(days) + _hours_of_work(self.work) <= bound else None
        return replace(self, days_off=days, work=work) if days or work else None

    def intervals(self, start: datetime, end: datetime) -> tuple[Interval, ...]:
        """The time off, in order and apart, with all that begins or ends between two moments."""
        # Two days earlier: working hours can begin on the day before, and a zone can skip a day.
        day, last = local_day(start, self.zone) - 2 * DAY, local_day(end, self.zone) + DAY
        return _time_off(self, day, last)

    def period_around(self, moment: datetime) -> Interval | None:
        """The time off in which the moment is, if it is in one. The first moment of a period isn't: a clock ran until then."""
        # Days off and the working hours around them touch, and are no longer than this together.
        around = self.intervals(moment - (MOST_DAYS + 2) * DAY, moment + (MOST_DAYS + 2) * DAY)
        return next((each for each in around if each.start < moment and each.contains(moment)), None)


def end_of_time_off(moment: datetime, week: Week | None) -> datetime:
    """The end of the time off in which the moment is; otherwise the moment itself."""
    period = week.period_around(moment) if week else None
    return period.end if period and period.end else moment


def parse_week(days_off: Collection[str], workdays: Collection[str], hours: str, zone: ZoneInfo) -> Week | None:
    """A week as typed: days such as `Sat`, and hours such as `09:00-17:00`; None if there is no time off.

    A day off has no working hours. Raises BadInput, by field.
    """
    readers: Readers[object] = {
        "days_off": lambda: _parse_days_off(days_off),
        "workdays": lambda: _parse_days(workdays),
        "hours": lambda: _parse_hours(hours),
    }
    read_fields(readers)
    off, span = _parse_days_off(days_off), _parse_hours(hours)
    working = tuple(day for day in _parse_days(workdays) if day not in off)
    read_fields({"hours": lambda: _check_both(working, span)})
    work = WorkingHours(working, *span) if working and span else None
    if not off and work is None:
        return None
    total = _hours_of_days(off) + _hours_of_work(work)
    read_fields({"hours": lambda: _check_total(total)})
    return Week(off, work, zone)


def read_week(text: str) -> Week:
    """A week with its zone, as stored."""
    off, work, zone = text.split("|")
    working = None
    if work:
        days, hours = work.split(" ")
        begin, end = hours.split("-")
        working = WorkingHours(_numbers(days), time.fromisoformat(begin), time.fromisoformat(end))
    return Week(_numbers(off), working, stored_zone(zone))


def week_text(week: Week) -> str:
    """A week in words: `Sat, Sun; Mon to Fri 09:00 to 17:00`."""
    parts = [days_text(week.days_off)] if week.days_off else []
    if week.work:
        days, begin, end = days_text(week.work.days), f"{week.work.begin:%H:%M}", f"{week.work.end:%H:%M}"
        parts.append(_("%(days)s from %(begin)s to %(end)s", days=days, begin=begin, end=end))
    return "; ".join(parts)


def days_text(days: Sequence[int]) -> str:
    """Days of the week: `Sat, Sun`, or `Mon to Fri` for three or more in a row."""
    names = [translate(DAYS[day]) for day in days]
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1:
        return _("%(first)s to %(last)s", first=names[0], last=names[-1])
    return ", ".join(names)


def counting_text(week: Week, bound: int) -> str:
    """How much of a person's week counts at a table, in words for that person."""
    counts = week.counting(bound)
    if counts is None:
        return _("Your time off doesn't count at this table.")
    if counts == week:
        return _("Your time off counts: your clocks stop on %(times)s.", times=week_text(counts))
    if counts.work is None:
        return _(
            "Your days off count (%(times)s). Your working hours don't: they'd exceed the table's limit.",
            times=week_text(counts),
        )
    return _(
        "Your working hours count (%(times)s). Your days off don't: they'd exceed the table's limit.",
        times=week_text(counts),
    )


def bound_text(bound: int) -> str:
    """How much time off counts at a table: `up to 48 hours a week`."""
    return ngettext("up to %(num)s hour a week", "up to %(num)s hours a week", bound) if bound else _("none")


def usual_bound(pace: Pace) -> int:
    """The bound of a table for which nothing else was chosen: weekends, unless turns are short."""
    return BOUNDS[1] if pace.scale >= _LONG_TURN else 0


@lru_cache(maxsize=512)
def _time_off(week: Week, day: date, last: date) -> tuple[Interval, ...]:
    """The time off that begins on these days. Kept, because of all the turns that have drawn on a bank."""
    found: list[Interval] = []
    while day <= last:
        if day.weekday() in week.days_off:
            found.append(Interval(moment_at(day, time(0), week.zone), moment_at(day + DAY, time(0), week.zone)))
        if week.work and day.weekday() in week.work.days:
            until = day if week.work.begin < week.work.end else day + DAY
            begin, end = moment_at(day, week.work.begin, week.zone), moment_at(until, week.work.end, week.zone)
            found.append(Interval(begin, end))
        day += DAY
    return union(found)


def _hours_of_days(days: Sequence[int]) -> float:
    return len(days) * DAY / HOUR


def _hours_of_work(work: WorkingHours | None) -> float:
    return len(work.days) * work.length / HOUR if work else 0


def _parse_days_off(days: Collection[str]) -> tuple[int, ...]:
    off = _parse_days(days)
    if len(off) > MOST_DAYS:
        raise BadInput(
            _("%(many)s days off are too many.", many=len(off)),
            why=_("Everyone can have up to three, because others are waiting."),
            remedy=_("Choose fewer days."),
        )
    return off


def _parse_days(days: Collection[str]) -> tuple[int, ...]:
    for day in days:
        if day not in DAYS:
            raise BadInput(_("%(word)s isn't a day of the week.", word=quoted(day)), remedy=_("For example: Sat."))
    return tuple(sorted({DAYS.index(day) for day in days}))


def _parse_hours(text: str) -> tuple[time, time] | None:
    if not text.strip():
        return None
    begin, dash, end = text.replace("–", "-").partition("-")
    if not dash:
        raise BadInput(
            _("%(given)s isn't a range of hours.", given=quoted(text)), remedy=_("Use the format 09:00-17:00.")
        )
    span = parse_wall(begin), parse_wall(end)
    if not timedelta(0) < (_since_midnight(span[1]) - _since_midnight(span[0])) % DAY <= LONGEST:
        raise BadInput(
            _("Working hours of %(given)s aren't possible.", given=quoted(text)),
            why=_("They can last up to twelve hours."),
            remedy=_("Choose a shorter range, such as 09:00-17:00."),
        )
    return span


def _check_both(working: tuple[int, ...], span: tuple[time, time] | None) -> None:
    if working and span is None:
        raise BadInput(
            _("The working hours are missing."), remedy=_("Use the format 09:00-17:00, or choose no workdays.")
        )
    if span and not working:
        raise BadInput(_("No workday is chosen."), remedy=_("Choose your workdays, or leave the working hours empty."))


def _check_total(total: float) -> None:
    if total > MOST:
        raise BadInput(
            _("That's %(hours)s hours a week.", hours=f"{total:g}"),
            why=_("The limit is %(most)s, because others are waiting.", most=MOST),
            remedy=_("Choose shorter working hours, or fewer days."),
        )


def _names(days: Sequence[int]) -> str:
    return ",".join(DAYS[day] for day in days)


def _numbers(names: str) -> tuple[int, ...]:
    return tuple(map(DAYS.index, names.split(","))) if names else ()


def _since_midnight(wall: time) -> timedelta:
    return timedelta(hours=wall.hour, minutes=wall.minute)
