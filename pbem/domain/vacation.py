"""Vacations: whole days on which a player's clocks stop, out of a yearly budget.

Days are in the player's own zone, and the first and the last both count. Booking ahead is the player's right and needs
nobody's consent, so the budget is what protects the table. `deadline` applies vacations to clocks.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY
from pbem.domain.errors import BadInput, Refusal, TooMany, quoted
from pbem.domain.interval import Interval
from pbem.domain.localtime import local_day, moment_at
from pbem.domain.moments import day_text
from pbem.i18n.speech import gettext as _, mark

# About as many days of leave as most people have. It is counted by calendar years, which anyone can check by hand.
YEARLY_BUDGET = 30

# Nobody plans further ahead, and a typo in the year should be noticed.
FURTHEST_AHEAD = 366 * DAY

_VACATION = re.compile(r"(?:from )?([0-9]{4}-[0-9]{2}-[0-9]{2})(?: (?:to|until|-|–) ([0-9]{4}-[0-9]{2}-[0-9]{2}))?")
_FROM_TODAY = re.compile(r"^(?:to|until) (?=[0-9]{4}-[0-9]{2}-[0-9]{2}$)")
_EXAMPLE = mark("Use the format 2026-12-20 to 2027-01-03. Both days count.")


@dataclass(frozen=True, slots=True)
class Vacation:
    """The days from the first to the last, both included."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a vacation cannot end on {self.last}, before {self.first}")

    def __str__(self) -> str:
        if self.first == self.last:
            return day_text(self.first)
        return _("%(first)s to %(last)s", first=day_text(self.first), last=day_text(self.last))

    def days_in(self, year: int) -> int:
        """The number of its days in that calendar year."""
        first = max(self.first, date(year, 1, 1))
        last = min(self.last, date(year, 12, 31))
        return max((last - first).days + 1, 0)

    def interval(self, zone: ZoneInfo) -> Interval:
        """The time it covers in that zone."""
        return Interval(moment_at(self.first, time(0), zone), moment_at(self.last + DAY, time(0), zone))


def parse_vacation(text: str, today: date | None = None) -> Vacation:
    """Parse `2026-12-20 to 2027-01-03`, a single day, or with `today`, `until 2027-01-03`. Raises BadInput."""
    words = " ".join(text.split())
    if today is not None:
        words = _FROM_TODAY.sub(f"{today} to ", words)
    match = _VACATION.fullmatch(words)
    if match is None:
        raise BadInput(_("%(given)s isn't a range of days.", given=quoted(text)), remedy=_(_EXAMPLE))
    first = parse_day(match[1])
    last = parse_day(match[2]) if match[2] else first
    if last < first:
        raise BadInput(
            _(
                "This vacation would end on %(last)s, before it starts on %(first)s.",
                last=day_text(last),
                first=day_text(first),
            ),
            remedy=_("Choose a later last day, or an earlier first one."),
        )
    return Vacation(first, last)


def check_vacation(vacation: Vacation, booked: Collection[Vacation], now: datetime, zone: ZoneInfo) -> None:
    """Check a new vacation. Raises BadInput if past or too far ahead, Refusal if it overlaps, TooMany over budget."""
    today = local_day(now, zone)
    if vacation.first < today:
        raise BadInput(
            _("This vacation would start in the past: today is %(today)s.", today=day_text(today)),
            remedy=_("Choose today or later."),
        )
    if vacation.first > today + FURTHEST_AHEAD:
        raise BadInput(
            _("This vacation would start more than a year from now, on %(first)s.", first=day_text(vacation.first)),
            remedy=_("Check the year, or book it later."),
        )
    for other in booked:
        if vacation.first <= other.last and other.first <= vacation.last:
            raise Refusal(
                _("You already have a vacation then: %(other)s.", other=other),
                why=_("Vacations can't overlap."),
                remedy=_("Choose other days, or cancel that one first."),
            )
    for year in range(vacation.first.year, vacation.last.year + 1):
        left = days_left(year, booked)
        asked = vacation.days_in(year)
        if asked > left:
            raise TooMany(
                _(
                    "This vacation takes %(asked)s days in %(year)s, but you have %(left)s left.",
                    asked=asked,
                    year=year,
                    left=left,
                ),
                why=_(
                    "Everyone gets %(budget)s vacation days a year, so that no table waits forever.",
                    budget=YEARLY_BUDGET,
                ),
                remedy=_("Choose fewer days, or ask the organiser for more time."),
            )


def days_left(year: int, booked: Collection[Vacation], budget: int = YEARLY_BUDGET) -> int:
    """The days of that year's budget that are not booked yet."""
    return max(budget - sum(vacation.days_in(year) for vacation in booked), 0)


def parse_day(text: str) -> date:
    """Parse a day of the calendar. Raises BadInput."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(_("%(given)s isn't a real date.", given=quoted(text)), remedy=_(_EXAMPLE)) from None
