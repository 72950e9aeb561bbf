"""Delivery: when a person wants to be mailed about their tables, or whether at all.

    at once      as soon as there is something to say
    after 30m    so much later, and not at all if it was answered meanwhile
    daily        one digest a day, at a time of day of the person's own
    reminders    only when an answer is still missing, and how a game ended
    results      only how a game ended
    nothing      only what they have asked for themselves

A wish is for all tables or for one. It is about mails and never about time: a turn's clock starts when a mail sent at
once would have left, so that nobody gets more time than the others by reading their mail later. Quiet hours are for
everybody's mails: what would leave in them leaves at their end. Which mails there are, and sending them, is the services'
business.
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
from pbem.i18n.speech import gettext as _

USUAL_DIGEST: Final = time(8)
"""When a digest comes unless its reader says when: before the day begins."""

LONGEST_DELAY: Final = 12 * HOUR
"""Whoever wants to wait longer wants a digest."""

ASKED_FOR: Final = frozenset({"confirm", "links", "receipt", "was_it_you", "alert", "new_address", "farewell"})
"""Kinds of mail that somebody waits for just now: they leave whatever is wished, also in quiet hours."""

ANSWERS: Final = frozenset({"call_answered", "moved", "merged", "banned"})
"""Kinds that answer something, however long ago it was asked, or concern their reader in person: never withheld."""

RUNNING: Final = frozenset(
    {"welcome", "turn", "reminder", "sealed", "auto_passed", "notice", "seated", "resigned", "host", "end_proposed"}
)
"""Kinds that tell what happens at a table that is being played: the ones that a digest takes the place of."""

RESULTS: Final = frozenset({"result", "voided"})
"""Kinds that tell how a game ended."""


class Way(StrEnum):
    """The ways of being mailed."""

    AT_ONCE = "at once"
    DELAYED = "after"
    DAILY = "daily"
    REMINDERS = "reminders"
    RESULTS = "results"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One way of being mailed; `delay` is there where it is the delayed one."""

    way: Way
    delay: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        fits = MINUTE <= self.delay <= LONGEST_DELAY and not self.delay % MINUTE
        if (self.way is Way.DELAYED) != bool(self.delay) or (self.delay and not fits):
            raise ValueError(f"there is no delivery {self.way} with a delay of {self.delay}")

    def __str__(self) -> str:
        return f"{self.way} {short_duration(self.delay)}" if self.delay else str(self.way)


AT_ONCE: Final = Delivery(Way.AT_ONCE)


class Fate(Enum):
    """What becomes of a mail that is due."""

    SEND = "send"
    WAIT = "wait"
    DIGEST = "digest"
    WITHHOLD = "withhold"


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a mail that is due, and until when it waits if it does."""

    fate: Fate
    until: datetime | None = None


def parse_delivery(text: str) -> Delivery:
    """A way of being mailed from what a person typed: `at once`, `after 30m`, `daily`, `results`, `nothing`."""
    words = " ".join(text.lower().split())
    if words.startswith("after "):
        delay = parse_duration(words.removeprefix("after "))
        if delay > LONGEST_DELAY:
            raise BadInput(
                _("Mails cannot be held back by %(removeprefix)s.", removeprefix=quoted(words.removeprefix("after "))),
                why=_("Twelve hours are the most."),
                remedy=_("Choose a shorter time, or a daily digest."),
            )
        return Delivery(Way.DELAYED, delay)
    try:
        return Delivery(Way(words))
    except ValueError:
        raise BadInput(
            _("%(given)s is not a way to be mailed.", given=quoted(text)),
            why=_(
                "There are %(list)s, and a delay such as after 30m.",
                list=", ".join(way for way in Way if way is not Way.DELAYED),
            ),
            remedy=_("Choose one of these."),
        ) from None


def judge(
    kind: str, wish: Delivery, queued_at: datetime, now: datetime, quiet: QuietHours | None, *, last: bool = False
) -> Judged:
    """What becomes of a mail of this kind that is due now.

    `last` says that it is the last word before a clock runs out, which would come too late in a digest.
    """
    if kind in ASKED_FOR:
        return Judged(Fate.SEND)
    if not _wanted(kind, wish.way):
        return Judged(Fate.WITHHOLD)
    if wish.way is Way.DAILY and kind in RUNNING and not last:
        return Judged(Fate.DIGEST)
    moment = end_of_quiet(max(now, queued_at + wish.delay), quiet)
    return Judged(Fate.SEND) if moment <= now else Judged(Fate.WAIT, moment)


def starts_without_mail(asked_at: datetime, hold: timedelta, quiet: QuietHours | None) -> datetime:
    """When the clock of a turn starts whose mail is not sent at once because its reader does not want that.

    It is when a mail sent at once would have left: after the hold of the table, and not in quiet hours.
    """
    return end_of_quiet(asked_at + hold, quiet)


def digest_day(now: datetime, at: time, zone: ZoneInfo, last: date | None) -> date | None:
    """The day, in the reader's zone, whose digest is to be looked after now; None if none is.

    Each day has one, also a day on which the clocks change, or that follows one on which nobody worked.
    """
    today = local_day(now, zone)
    if moment_at(today, at, zone) > now or (last is not None and last >= today):
        return None
    return today


def _wanted(kind: str, way: Way) -> bool:
    if kind in ANSWERS:
        return True
    if way is Way.NOTHING:
        return False
    if way is Way.REMINDERS and kind == "reminder":
        return True
    return way not in (Way.REMINDERS, Way.RESULTS) or kind not in RUNNING
