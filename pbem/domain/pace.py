"""The pace of a table: the time for a decision, as agreed by the players.

It is either a duration that starts with each decision (`5m` for trying out, `12h`, `1d`, `3d`, `7d`), or moments of the
calendar at which all open decisions are due (`Tue,Fri 20:00 Europe/Berlin`). Absences and outages are the business of
`deadline`.
"""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR, MINUTE, parse_duration, short_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.localtime import local_day, moment_at, parse_wall, parse_zone
from pbem.i18n.speech import gettext as _

# Within a minute, an email may not even have arrived; after a month, the others have left.
SHORTEST, LONGEST = MINUTE, 30 * DAY

# An email that arrives less than half a day before a calendar moment is due at the one after: people read their email once
# or twice a day.
CALENDAR_NOTICE = 12 * HOUR

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


Pace = PerDecision | Calendar


def parse_pace(text: str) -> Pace:
    """Parse a pace: `12h`, or `Tue,Fri 20:00 Europe/Berlin`. Raises BadInput."""
    if calendar := _CALENDAR.fullmatch(" ".join(text.split())):
        return Calendar(_parse_weekdays(calendar["days"]), parse_wall(calendar["wall"]), parse_zone(calendar["zone"]))
    try:
        allowed = parse_duration(text)
    except BadInput:
        raise BadInput(
            _("%(given)s isn't a time per turn.", given=quoted(text)),
            remedy=_("Use a length of time, such as 12h, or fixed deadlines, such as Tue,Fri 20:00 Europe/Berlin."),
        ) from None
    if not SHORTEST <= allowed <= LONGEST:
        raise BadInput(
            _("%(given)s per turn isn't possible.", given=quoted(text)),
            why=_("A turn can take from one minute to thirty days."),
            remedy=_("Use a length of time, such as 12h or 3d."),
        )
    return PerDecision(allowed)


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
