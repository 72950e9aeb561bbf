"""Moments and deadlines as text for people: absolute, with the weekday, in two zones.

    Tue 24 Nov 2026, 20:00 (Europe/Berlin); 19:00 UTC

An email is read hours after it was written and by people in other zones, so a moment is always printed with its day and
zone, and a phrase like `in 2 days` only ever beside it. The names of days and months are in our catalogue, because those
of the C library change with the machine's locale.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from pbem.domain.deadline import Deadline, Part
from pbem.domain.duration import MINUTE, duration_text
from pbem.i18n.speech import gettext as _, mark, translate

_WEEKDAYS = tuple(map(mark, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")))
_MONTHS = tuple(map(mark, ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")))


def moment_text(moment: datetime, zone: ZoneInfo) -> str:
    """The moment in local time of the zone and in UTC."""
    local, universal = moment.astimezone(zone), moment.astimezone(UTC)
    if zone.key == "UTC":
        return f"{_day(universal)} {universal.year}, {universal:%H:%M} UTC"
    # The day in UTC is printed only if it differs, to save readers comparing the two.
    other_day = "" if local.date() == universal.date() else f"{_day(universal)}, "
    return f"{_day(local)} {local.year}, {local:%H:%M} ({zone.key}); {other_day}{universal:%H:%M} UTC"


def short_moment_text(moment: datetime, zone: ZoneInfo) -> str:
    """The moment in local time of the zone, where there is no room for more: `Tue 24 Nov, 20:00`."""
    local = moment.astimezone(zone)
    return f"{_day(local)}, {local:%H:%M}"


def day_text(day: date) -> str:
    """A whole day, for events without a time of day."""
    return f"{_day(day)} {day.year}"


def month_text(day: date) -> str:
    """The month of a day, with its year."""
    return _("%(month)s %(year)s", month=translate(_MONTHS[day.month - 1]), year=day.year)


def axis_day_text(day: date) -> str:
    """A day without its weekday and year, for a chart."""
    return _("%(day)s %(month)s", day=day.day, month=translate(_MONTHS[day.month - 1]))


def relative_text(now: datetime, moment: datetime) -> str:
    """The time until or since a moment: `in 2 days`, `now`, `3 hours ago`."""
    if abs(moment - now) < MINUTE:
        return _("now")
    if moment > now:
        return _("in %(time)s", time=duration_text(moment - now))
    return _("%(time)s ago", time=duration_text(now - moment))


def explanation(due: Deadline, zone: ZoneInfo, names: Mapping[int, str]) -> tuple[str, ...]:
    """The steps of a deadline, a line for each; `names` are those of the players, by seat."""
    if due.start is None:
        return (_("Your time starts when the email goes out."),)
    lines = [_("Start: %(moment)s", moment=moment_text(due.start, zone))]
    lines += [f"+ {duration_text(part.by)}: {_reason(part, names)}" for part in due.parts]
    if due.at is not None:
        lines.append(_("Due: %(moment)s", moment=moment_text(due.at, zone)))
    elif due.waits_for is not None:
        lines.append(_("Clock stopped: %(reason)s", reason=translate(due.waits_for.value)))
    return tuple(lines)


def _reason(part: Part, names: Mapping[int, str]) -> str:
    if part.giver is None:
        return translate(part.reason.value)
    return _("more time from %(who)s", who=names[part.giver])


def _day(moment: date) -> str:
    weekday, month = translate(_WEEKDAYS[moment.weekday()]), translate(_MONTHS[moment.month - 1])
    return _("%(weekday)s %(day)s %(month)s", weekday=weekday, day=moment.day, month=month)
