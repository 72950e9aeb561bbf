"""Delivery: when a person's emails about tables are sent, if at all.

    at once      as soon as there is news
    after 30m    after that delay, unless the player has moved by then
    daily        one digest a day, at a time of the person's choice
    reminders    only when a move is still missing, and how a game ended
    results      only how a game ended
    nothing      only emails the person has asked for

A preference is for all tables or for one. It changes emails and never time: a turn's clock starts when an email sent at
once would have left, so nobody gains time by reading their email later. Quiet hours apply to everyone: an email due in
them leaves when they end. This module must never know a table, or send an email.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum, StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from pbem.domain.duration import HOUR, MINUTE, parse_duration, short_duration
from pbem.domain.errors import BadInput, quoted
from pbem.domain.localtime import local_day, moment_at
from pbem.domain.quiet_hours import QuietHours, end_of_quiet
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _

DEFAULT_DIGEST: Final = time(8)
"""The time of a digest unless its reader chooses another: before the day begins."""

LONGEST_DELAY: Final = 12 * HOUR
"""The longest delay; for a longer one there is the digest."""

URGENT: Final = frozenset(
    {
        EmailKind.CONFIRM,
        EmailKind.LINKS,
        EmailKind.RECEIPT,
        EmailKind.INVITATION_RECEIPT,
        EmailKind.WAS_IT_YOU,
        EmailKind.ALERT,
        EmailKind.NEW_ADDRESS,
        EmailKind.DELETION,
    }
)
"""Kinds of email that the reader is waiting for: sent at once under any preference, and in quiet hours."""

PERSONAL: Final = frozenset(
    {EmailKind.CALL_ANSWERED, EmailKind.CHANNEL, EmailKind.MOVED, EmailKind.MERGED, EmailKind.BANNED}
)
"""Kinds that answer the reader or concern them in person: never withheld."""

GAME_NEWS: Final = frozenset(
    {
        EmailKind.WELCOME,
        EmailKind.TURN,
        EmailKind.REMINDER,
        EmailKind.SEALED,
        EmailKind.MENTION,
        EmailKind.AUTO_PASSED,
        EmailKind.NOTICE,
        EmailKind.SEATED,
        EmailKind.RESIGNED,
        EmailKind.HOST,
        EmailKind.END_PROPOSED,
        EmailKind.BACK_PROPOSED,
    }
)
"""Kinds about a game in progress, which a digest replaces."""

UNTIL_THE_NEXT_MOVE: Final = frozenset({EmailKind.BACK_PROPOSED})
"""Kinds of those that can be answered until someone moves: too soon for a digest or a delay."""

RESULTS: Final = frozenset({EmailKind.RESULT, EmailKind.VOIDED})
"""Kinds about the end of a game."""


class Way(StrEnum):
    """The delivery preferences."""

    AT_ONCE = "at once"
    DELAYED = "after"
    DAILY = "daily"
    REMINDERS = "reminders"
    RESULTS = "results"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery preference; `delay` is set for the delayed way only."""

    way: Way
    delay: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        fits = MINUTE <= self.delay <= LONGEST_DELAY and not self.delay % MINUTE
        if (self.way is Way.DELAYED) != bool(self.delay) or (self.delay and not fits):
            raise ValueError(f"there is no delivery {self.way} with a delay of {self.delay}")

    def __str__(self) -> str:
        return f"{self.way} {short_duration(self.delay)}" if self.delay else str(self.way)


AT_ONCE: Final = Delivery(Way.AT_ONCE)


class Action(Enum):
    """What to do with an email that is due."""

    SEND = "send"
    WAIT = "wait"
    DIGEST = "digest"
    WITHHOLD = "withhold"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The action for an email that is due; `until` is set if it has to wait."""

    action: Action
    until: datetime | None = None


def parse_delivery(text: str) -> Delivery:
    """Parse a delivery preference: `at once`, `after 30m`, `daily`, `results`, `nothing`. Raises BadInput."""
    words = " ".join(text.lower().split())
    if words.startswith("after "):
        delay = parse_duration(words.removeprefix("after "))
        if delay > LONGEST_DELAY:
            raise BadInput(
                _("Emails can't be delayed by %(removeprefix)s.", removeprefix=quoted(words.removeprefix("after "))),
                why=_("The longest delay is twelve hours."),
                remedy=_("Choose a shorter time, or a daily digest."),
            )
        return Delivery(Way.DELAYED, delay)
    try:
        return Delivery(Way(words))
    except ValueError:
        raise BadInput(
            _("%(given)s isn't an email setting.", given=quoted(text)),
            why=_(
                "You can choose %(list)s, or a delay such as after 30m.",
                list=", ".join(way for way in Way if way is not Way.DELAYED),
            ),
            remedy=_("Choose one of these."),
        ) from None


def judge(
    kind: str, preference: Delivery, queued_at: datetime, now: datetime, quiet: QuietHours | None, *, last: bool = False
) -> Verdict:
    """Decide about an email that is due; `last` marks the last one before a clock runs out, too late for a digest."""
    if kind in URGENT:
        return Verdict(Action.SEND)
    if not _is_allowed(kind, preference.way):
        return Verdict(Action.WITHHOLD)
    soon = kind in UNTIL_THE_NEXT_MOVE
    if preference.way is Way.DAILY and kind in GAME_NEWS and not (last or soon):
        return Verdict(Action.DIGEST)
    moment = end_of_quiet(max(now, queued_at if soon else queued_at + preference.delay), quiet)
    return Verdict(Action.SEND) if moment <= now else Verdict(Action.WAIT, moment)


def starts_without_mail(asked_at: datetime, hold: timedelta, quiet: QuietHours | None) -> datetime:
    """When a turn's clock starts if its email is held back.

    That is when an email sent at once would have left: after the table's hold, and outside quiet hours.
    """
    return end_of_quiet(asked_at + hold, quiet)


def digest_day(now: datetime, at: time, zone: ZoneInfo, last: date | None) -> date | None:
    """The day, in the reader's zone, whose digest is due now; None if none is.

    Every day has one, including days on which the clocks change and the day after an outage.
    """
    today = local_day(now, zone)
    if moment_at(today, at, zone) > now or (last is not None and last >= today):
        return None
    return today


def _is_allowed(kind: str, way: Way) -> bool:
    if kind in PERSONAL:
        return True
    if way is Way.NOTHING:
        return False
    if way is Way.REMINDERS and (kind == EmailKind.REMINDER or kind in UNTIL_THE_NEXT_MOVE):
        return True
    return way not in (Way.REMINDERS, Way.RESULTS) or kind not in GAME_NEWS
