"""Local time: zones by name, typed or stored, and the moment at which the clocks of a zone show a given time.

Twice a year that is not obvious. A time that the clocks skip means the first moment after the gap; a time that they show
twice means the first of the two. Everything that people agree on in local time (calendar paces, quiet hours, vacations,
extensions, starts) goes through `moment_at`.

The arithmetic of zones is `zoneinfo`'s; nothing here may add hours to a local time.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pbem.domain.errors import BadInput, quoted
from pbem.i18n.speech import gettext as _

# Other names are aliases, or depend on the machine ("localtime"), or count leap seconds ("right/").
_ZONE_NAME = re.compile(
    r"UTC|(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)"
    r"(?:/[A-Za-z0-9_+-]{1,32}){1,2}"
)
_WALL = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DAY_AND_WALL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9:]{4,5})")


class _Unknown(ZoneInfo):
    """UTC under the name of a zone that this machine doesn't know."""

    called: str

    @property
    def key(self) -> str:
        return self.called


def parse_zone(name: str) -> ZoneInfo:
    """The time zone of that name, such as `Europe/Berlin`. Raises BadInput."""
    name = name.strip()
    try:
        if _ZONE_NAME.fullmatch(name):
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError):
        pass  # A name of the right shape that is not a zone, or a folder of zones.
    raise BadInput(
        _("%(name)s isn't a time zone.", name=quoted(name)),
        remedy=_("For example: Europe/Berlin, America/New_York or UTC."),
    )


@lru_cache(maxsize=1024)
def stored_zone(name: str) -> ZoneInfo:
    """The zone of that stored name. One that this machine doesn't know is UTC under its own name.

    The machine that stored it may have known it: nothing about other people may fail for that, and `pbem doctor` tells.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        zone = _Unknown.no_cache("UTC")
        zone.called = name
        return zone


def is_known(name: str) -> bool:
    """Whether this machine has the rules of a zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return False
    return True


def parse_wall(text: str) -> time:
    """A time of day, such as `20:00`. Raises BadInput."""
    if wall := _WALL.fullmatch(text.strip()):
        return time(int(wall[1]), int(wall[2]))
    raise BadInput(_("%(given)s isn't a time of day.", given=quoted(text)), remedy=_("Use the format 07:30 or 20:00."))


def moment_at(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """The first moment at which the clocks of the zone show that time of that day, or later."""
    shown = datetime.combine(day, wall.replace(fold=0))
    moment = shown.replace(tzinfo=zone).astimezone(UTC)
    if _shown(moment, zone) == shown:
        return moment
    # The clocks skip that time. With the offset from before the gap it comes after the jump; with the offset from after
    # the gap it comes before. The jump is between the two.
    before = shown.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = moment
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if _shown(middle, zone) < shown:
            before = middle
        else:
            after = middle
    # Clocks jump on whole seconds, and the search ends less than one second after the jump.
    return after.replace(microsecond=0)


def parse_moment(text: str, zone: ZoneInfo) -> datetime:
    """A date and time in the zone, as typed or as a browser sends it: `2026-12-24 20:00`. Raises BadInput."""
    try:
        if typed := _DAY_AND_WALL.fullmatch(text.strip()):
            return moment_at(date.fromisoformat(typed[1]), parse_wall(typed[2]), zone)
    except (BadInput, ValueError, OverflowError):
        pass  # No time of day, no day of the calendar, or one at its very end.
    raise BadInput(
        _("%(given)s isn't a date and time.", given=quoted(text)), remedy=_("Use the format 2026-12-24 20:00.")
    )


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    return moment.astimezone(zone).date()


def round_up(moment: datetime, step: timedelta, zone: ZoneInfo) -> datetime:
    """The first moment, not before this one, at which the clocks of the zone show a multiple of `step`.

    It works in the zone and not in UTC, because a full hour in UTC is a quarter to in Kathmandu.
    """
    # It takes a second round if the clocks jumped by anything but a multiple of the step.
    while over := _since_midnight(_shown(moment, zone)) % step:
        moment += step - over
    return moment


def _shown(moment: datetime, zone: ZoneInfo) -> datetime:
    """The time in the zone, without the zone, so that it compares as it reads."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _since_midnight(shown: datetime) -> timedelta:
    return shown - datetime.combine(shown.date(), time(0))
