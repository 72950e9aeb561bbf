"""Quiet hours: the part of each day in which a person's clock never runs out and no reminder is sent.

They are in local time of the person's zone and may cross midnight. A moment inside them moves to their end, never to their
beginning. `deadline` decides which moments move.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, HOUR
from pbem.domain.errors import BadInput, quoted
from pbem.domain.interval import Interval, union
from pbem.domain.localtime import local_day, moment_at, parse_wall
from pbem.i18n.speech import gettext as _

# The rest of the day must contain a full hour for a deadline, even when the clocks change; and the others at the table
# have to wait as well.
LONGEST = 16 * HOUR

_QUIET = re.compile(r"(?P<begin>[0-9:]{1,8}) ?(?:-|–|to) ?(?P<end>[0-9:]{1,8})")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The time from `begin` until just before `end`, which is on the next day if it is the earlier of the two."""

    begin: time
    end: time
    zone: ZoneInfo

    def __post_init__(self) -> None:
        if not timedelta(0) < self.length <= LONGEST:
            raise ValueError(f"quiet hours cannot be {self}")

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M}"

    @property
    def length(self) -> timedelta:
        """The length on a day on which the clocks do not change."""
        return (_since_midnight(self.end) - _since_midnight(self.begin)) % DAY

    def period_around(self, moment: datetime) -> Interval | None:
        """The quiet period that contains the moment, if one does."""
        today = local_day(moment, self.zone)
        # Two days to each side: in a zone that skips a whole day, two nights touch.
        nights = (self._beginning_on(today + days * DAY) for days in range(-2, 3))
        return next((period for period in union(nights) if period.contains(moment)), None)

    def _beginning_on(self, day: date) -> Interval:
        last = day if self.begin < self.end else day + DAY
        return Interval(moment_at(day, self.begin, self.zone), moment_at(last, self.end, self.zone))


def end_of_quiet(moment: datetime, quiet: QuietHours | None) -> datetime:
    """The end of the quiet period that contains the moment; without one, the moment itself."""
    period = quiet.period_around(moment) if quiet else None
    return period.end if period and period.end else moment


def parse_quiet(text: str, zone: ZoneInfo) -> QuietHours:
    """Parse quiet hours in a person's zone, such as `22:00-07:00`. Raises BadInput."""
    match = _QUIET.fullmatch(text.strip())
    if match is None:
        raise BadInput(
            _("%(given)s isn't a range of hours.", given=quoted(text)), remedy=_("Use the format 22:00-07:00.")
        )
    begin, end = parse_wall(match["begin"]), parse_wall(match["end"])
    try:
        return QuietHours(begin, end, zone)
    except ValueError:
        raise BadInput(
            _("Quiet hours of %(given)s aren't possible.", given=quoted(text)),
            why=_("They can last up to sixteen hours, because others are waiting for you."),
            remedy=_("Choose a shorter range, such as 22:00-07:00."),
        ) from None


def _since_midnight(wall: time) -> timedelta:
    return timedelta(hours=wall.hour, minutes=wall.minute)
