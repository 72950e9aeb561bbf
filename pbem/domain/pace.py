"""The pace of a table: the time for a decision, as agreed by the players.

It is a duration that starts with each decision (`5m` for trying out, `12h`, `1d`, `3d`, `7d`), or moments of the calendar at
which all open decisions are due (`Tue,Fri 20:00 Europe/Berlin`), or a bank on which all decisions of a player draw
(`3d+12h max 5d`). Absences and outages are the business of `deadline`, what is left in a bank that of `bank`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR, MINUTE, parse_duration, short_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.localtime import local_day, moment_at, parse_wall, parse_zone, stored_zone
from pbem.i18n.speech import gettext as _

# Within a minute, an email may not even have arrived; after a month, the others have left.
SHORTEST, LONGEST = MINUTE, 30 * DAY

# An email that arrives less than half a day before a calendar moment is due at the one after: people read their email once
# or twice a day.
CALENDAR_NOTICE = 12 * HOUR

_BANK = re.compile(r"(?P<start>[^+]{1,9})\+(?P<refill>.{1,9}?)(?: max (?P<most>.{1,9}))?")
_CALENDAR = re.compile(r"(?P<days>[A-Za-z][A-Za-z, ]{2,80}) (?P<wall>[0-9:]{1,8}) (?P<zone>[^ ]{1,80})")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class PerDecision:
    """A pace of one duration for each decision, counted from its start."""

    allowed: timedelta

    def __post_init__(self) -> None:
        if not SHORTEST <= self.allowed <= LONGEST or self.allowed % MINUTE:
            raise ValueError(f"no pace allows {self.allowed}")

    def __str__(self) -> str:
        return short_duration(self.allowed)

    @property
    def scale(self) -> timedelta:
        """The duration that sets the scale of notices, reminders and rounding."""
        return self.allowed

    @property
    def rounding_step(self) -> timedelta:
        """The unit to which deadlines are rounded up: as fine as the pace needs, and easy to remember."""
        if self.allowed < HOUR:
            return MINUTE
        return 5 * MINUTE if self.allowed < DAY else HOUR


@dataclass(frozen=True, slots=True)
class Calendar:
    """A pace of fixed moments: a time of day on some days of the week (Monday is 0), in one zone."""

    weekdays: tuple[int, ...]
    wall: time
    zone: ZoneInfo

    def __post_init__(self) -> None:
        if not self.weekdays:
            raise ValueError("a calendar needs days of the week")

    def __str__(self) -> str:
        days = ",".join(_WEEKDAYS[day][:3].capitalize() for day in self.weekdays)
        return f"{days} {self.wall:%H:%M} {self.zone.key}"

    @property
    def scale(self) -> timedelta:
        """A day: the least time between two moments of a calendar."""
        return DAY

    @property
    def rounding_step(self) -> timedelta:
        """A minute: the players chose the moment, so it is not rounded."""
        return MINUTE

    def next_moment(self, earliest: datetime) -> datetime:
        """The first moment of this calendar that is not before the given one."""
        # Start from the day before, because a gap can push its moment past midnight. Within a week, or a week and a day
        # if the zone skipped one, there is a moment.
        day = local_day(earliest, self.zone) - DAY
        while True:
            moment = moment_at(day, self.wall, self.zone)
            if day.weekday() in self.weekdays and moment >= earliest:
                return moment
            day += DAY


@dataclass(frozen=True, slots=True)
class Bank:
    """A pace of one budget for all decisions of a player: full at the `start`, and filled by `refill` after each, up to `most`.

    `left` is what a decision may take: all there is.
    """

    start: timedelta
    refill: timedelta
    most: timedelta
    left: timedelta

    def __post_init__(self) -> None:
        steps = (self.start, self.refill, self.most)
        if not SHORTEST <= self.refill <= self.most <= LONGEST or any(step % MINUTE for step in steps):
            raise ValueError(f"no bank has {self.start} and {self.refill}, at most {self.most}")
        if not self.refill <= self.start <= self.most or not timedelta(0) <= self.left <= self.most:
            raise ValueError(f"no bank of at most {self.most} has {self.start}, or {self.left}")

    def __str__(self) -> str:
        most = "" if self.most == self.start else f" max {short_duration(self.most)}"
        return f"{short_duration(self.start)}+{short_duration(self.refill)}{most}"

    @property
    def allowed(self) -> timedelta:
        """The time for a decision."""
        return self.left

    @property
    def scale(self) -> timedelta:
        """What is left, which sets the scale of notices and reminders."""
        return max(self.left, MINUTE)

    @property
    def rounding_step(self) -> timedelta:
        """A minute: a bank is counted exactly."""
        return MINUTE

    def after(self, spent: timedelta) -> "Bank":
        """The bank after a decision that has taken this time, which may be more than there was."""
        return replace(self, left=min(self.most, max(timedelta(0), self.left - spent) + self.refill))


Pace = PerDecision | Calendar | Bank


def parse_pace(text: str) -> Pace:
    """Parse a pace: `12h`, `Tue,Fri 20:00 Europe/Berlin`, or `3d+12h max 5d`. Raises BadInput."""
    return _parse(text, parse_zone)


def read_pace(text: str) -> Pace:
    """A pace as stored, also in a zone that this machine doesn't know."""
    return _parse(text, stored_zone)


def _parse(text: str, zone: Callable[[str], ZoneInfo]) -> Pace:
    if calendar := _CALENDAR.fullmatch(" ".join(text.split())):
        return Calendar(_parse_weekdays(calendar["days"]), parse_wall(calendar["wall"]), zone(calendar["zone"]))
    if bank := _BANK.fullmatch(" ".join(text.split())):
        return _parse_bank(bank["start"], bank["refill"], bank["most"] or bank["start"])
    try:
        allowed = parse_duration(text)
    except BadInput:
        raise BadInput(
            _("%(given)s isn't a time per turn.", given=quoted(text)),
            remedy=_(
                "Use a length of time, such as 12h, fixed deadlines, such as Tue,Fri 20:00 Europe/Berlin, or a bank, such as 3d+12h."
            ),
        ) from None
    if not SHORTEST <= allowed <= LONGEST:
        raise BadInput(
            _("%(given)s per turn isn't possible.", given=quoted(text)),
            why=_("A turn can take from one minute to thirty days."),
            remedy=_("Use a length of time, such as 12h or 3d."),
        )
    return PerDecision(allowed)


def _parse_bank(*lengths: str) -> Bank:
    start, refill, most = map(parse_duration, lengths)
    if not SHORTEST <= refill <= start <= most <= LONGEST:
        raise BadInput(
            _("This bank isn't possible: %(given)s.", given=", ".join(lengths)),
            why=_(
                "What is added after each turn can't be more than the bank at the start, and no bank holds more than thirty days."
            ),
            remedy=_("For example: 3d+12h, or 3d+12h max 5d."),
        )
    return Bank(start, refill, most, start)


def _parse_weekdays(text: str) -> tuple[int, ...]:
    """Parse `Tue,Fri` or `tuesday and friday` into numbers, without duplicates, Monday (0) first."""
    words = text.lower().replace(" and ", " ").replace(",", " ").split()
    return tuple(sorted({_parse_weekday(word) for word in words}))


def _parse_weekday(word: str) -> int:
    # Three letters or more, so that Tuesday is never taken for Thursday.
    if len(word) >= 3:
        for day, name in enumerate(_WEEKDAYS):
            if name.startswith(word):
                return day
    raise BadInput(
        _("%(word)s isn't a day of the week.", word=quoted(word)),
        why=_("Weekdays come first, then a time and a time zone."),
        remedy=_("For example: Tue,Fri 20:00 Europe/Berlin."),
    )
