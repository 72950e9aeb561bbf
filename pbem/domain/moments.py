"""How moments and deadlines are said to people: absolute, with the weekday, in two zones.

    Tue 24 Nov 2026, 20:00 (Europe/Berlin); 19:00 UTC

A mail is read hours after it was written and by people in other zones, so a moment is never said
without its day and zone; words like `in 2 days` only ever stand beside it. The names of days and
months are our own, because those of the C library change with the machine's locale. What is said
here was decided elsewhere.
"""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from pbem.domain.deadline import Due
from pbem.domain.duration import MINUTE, spoken
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import marked, translated

_WEEKDAYS = tuple(map(marked, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")))
_MONTHS = tuple(
    map(marked, ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")),
)


def said(moment: datetime, zone: ZoneInfo) -> str:
    """The moment as clocks and calendars of the zone show it, and in UTC."""
    local, universal = moment.astimezone(zone), moment.astimezone(UTC)
    if zone.key == "UTC":
        return f"{_day(universal)} {universal.year}, {universal:%H:%M} UTC"
    # A second day is said only where it is another one, so that the eye need not compare.
    other_day = "" if local.date() == universal.date() else f"{_day(universal)}, "
    return f"{_day(local)} {local.year}, {local:%H:%M} ({zone.key}); {other_day}{universal:%H:%M} UTC"


def said_of_day(day: date) -> str:
    """A whole day, for what does not hang on an hour."""
    return f"{_day(day)} {day.year}"


def from_now(now: datetime, moment: datetime) -> str:
    """How far away the moment is: `in 2 days`, `now`, `3 hours ago`."""
    if abs(moment - now) < MINUTE:
        return _("now")
    if moment > now:
        return _("in %(time)s", time=spoken(moment - now))
    return _("%(time)s ago", time=spoken(now - moment))


def explained(due: Due, zone: ZoneInfo) -> tuple[str, ...]:
    """How a deadline came about, a line for each step."""
    if due.start is None:
        return (_("The clock has not started: the mail is still on its way."),)
    lines = [_("Start: %(moment)s", moment=said(due.start, zone))]
    lines += [f"+ {spoken(part.by)}: {translated(part.reason.value)}" for part in due.parts]
    if due.at is not None:
        lines.append(_("Due: %(moment)s", moment=said(due.at, zone)))
    elif due.waits_for is not None:
        lines.append(_("The clock stands still: %(reason)s", reason=translated(due.waits_for.value)))
    return tuple(lines)


def _day(moment: date) -> str:
    weekday, month = translated(_WEEKDAYS[moment.weekday()]), translated(_MONTHS[moment.month - 1])
    return _("%(weekday)s %(day)s %(month)s", weekday=weekday, day=moment.day, month=month)
