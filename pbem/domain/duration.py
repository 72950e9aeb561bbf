"""Durations: the short form (`5m`, `12h`, `3d`) that settings, commands and paces share, and words (`2 days`)."""

import re
from datetime import timedelta

from pbem.domain.errors import BadInput, quoted
from pbem.i18n.speech import gettext as _, ngettext

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

# A day is 24 hours, even when the clocks change; a calendar pace names a time of day instead.
_UNITS = {"d": DAY, "h": HOUR, "m": MINUTE}
_DURATION = re.compile(r"([0-9]{1,5}) ?([mhd])", re.IGNORECASE)


def parse_duration(text: str) -> timedelta:
    """Parse `5m`, `12h` or `3d`. Raises BadInput, also for zero."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise BadInput(
            _("%(given)s isn't an amount of time.", given=quoted(text)),
            why=_("Use a whole number with m, h or d, for minutes, hours or days."),
            remedy=_("For example: 30m, 12h or 3d."),
        )
    return int(match[1]) * _UNITS[match[2].lower()]


def extension_text(more: str) -> str:
    """Extra time from an organiser for people to read: a duration in words; a moment stays as it is."""
    return duration_text(parse_duration(more)) if _DURATION.fullmatch(more) else more


def short_duration(length: timedelta) -> str:
    """The short form of a duration, in the largest unit that fits. Raises ValueError unless it is whole minutes."""
    for unit, size in _UNITS.items():
        if length and length % size == timedelta(0):
            return f"{length // size}{unit}"
    raise ValueError(f"{length} is not a whole number of minutes")


def rough_text(length: timedelta) -> str:
    """A duration in words, in its largest unit, rounded down: `3 hours`."""
    return duration_text(length - length % next((unit for unit in _UNITS.values() if length >= unit), MINUTE))


def duration_text(length: timedelta) -> str:
    """A duration in words, in its two largest units, rounded down: `1 day 3 hours`."""
    minutes = length // MINUTE
    if minutes < 1:
        return _("less than a minute")
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        ngettext("%(num)s day", "%(num)s days", days) if days else "",
        ngettext("%(num)s hour", "%(num)s hours", hours) if hours else "",
        ngettext("%(num)s minute", "%(num)s minutes", minutes) if minutes else "",
    ]
    largest = next(place for place, part in enumerate(parts) if part)
    return " ".join(part for part in parts[largest : largest + 2] if part)
