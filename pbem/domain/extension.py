"""More time for one turn: from the organiser, from another player, or to take a missed turn's move back.

`deadline` adds it to a deadline. This module must never read a clock.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pbem.domain.duration import DAY, parse_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.interval import ZERO, require_utc
from pbem.domain.localtime import parse_moment
from pbem.i18n.speech import gettext as _

# Anything longer should be a pause, which players can see.
LONGEST_EXTENSION = 30 * DAY


@dataclass(frozen=True, slots=True)
class ExtendedBy:
    """Extra time, as a length: from the organiser, or from the player of a seat, the `giver`."""

    amount: timedelta
    giver: int | None = None


@dataclass(frozen=True, slots=True)
class ExtendedTo:
    """Extra time from the organiser, until a moment. A later deadline stays as it is."""

    moment: datetime

    def __post_init__(self) -> None:
        require_utc(self.moment)


@dataclass(frozen=True, slots=True)
class SecondChance:
    """The time to take back the move made for a missed turn, and play: so long after the deadline that was `missed`.

    Neither vacations, time off nor quiet hours move its end, which is stated when the turn is missed.
    """

    missed: datetime
    amount: timedelta

    def __post_init__(self) -> None:
        require_utc(self.missed)


Extension = ExtendedBy | ExtendedTo | SecondChance


def parse_extension(text: str, now: datetime, zone: ZoneInfo) -> Extension:
    """Parse extra time from an organiser: `1d`, or `2026-12-01 20:00` in local time of the zone. Raises BadInput."""
    text = " ".join(text.split())
    extension: Extension
    try:
        if "-" in text:
            moment = parse_moment(text, zone)
            extension, gained = ExtendedTo(moment), moment - now
        else:
            gained = parse_duration(text)
            extension = ExtendedBy(gained)
    except BadInput:
        raise BadInput(
            _("%(given)s isn't an amount of time or a date.", given=quoted(text)),
            remedy=_("Use a length of time, such as 12h or 2d, or a date and time, such as 2026-12-01 20:00."),
        ) from None
    if not ZERO < gained <= LONGEST_EXTENSION:
        raise BadInput(
            _("%(given)s is too long, or in the past.", given=quoted(text)),
            why=_("You can give up to thirty days."),
            remedy=_("Choose another time, or pause the table."),
        )
    return extension


def givers_of(extensions: Iterable[Extension]) -> tuple[int, ...]:
    """The seats of the players who gave more time, in the order in which they did."""
    return tuple(each.giver for each in extensions if isinstance(each, ExtendedBy) and each.giver is not None)


def read_extensions(text: str) -> tuple[Extension, ...]:
    """The extensions of a deadline, as stored."""
    return tuple(_read_extension(each) for each in json.loads(text))


def with_extension(text: str, extension: Extension) -> str:
    """The stored extensions of a deadline with one more."""
    return json.dumps([*json.loads(text), _written(extension)])


def _written(extension: Extension) -> str:
    if isinstance(extension, ExtendedTo):
        return extension.moment.isoformat()
    if isinstance(extension, SecondChance):
        return f"{extension.missed.isoformat()} {int(extension.amount.total_seconds())}"
    giver = "" if extension.giver is None else f"@{extension.giver}"
    return f"{int(extension.amount.total_seconds())}{giver}"


def _read_extension(text: str) -> Extension:
    seconds, _at, giver = text.partition("@")
    if seconds.isdigit():
        return ExtendedBy(timedelta(seconds=int(seconds)), int(giver) if giver else None)
    moment, _blank, amount = text.partition(" ")
    at = datetime.fromisoformat(moment).astimezone(UTC)
    return SecondChance(at, timedelta(seconds=int(amount))) if amount else ExtendedTo(at)
