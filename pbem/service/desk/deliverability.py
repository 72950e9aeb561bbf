"""How mail gets through, for the desk: what waits, what became of it by provider, who is left alone, and what came in.

Nothing in here holds an address, and nothing of what a mail says. Whoever plays is told what a player is told: an organiser
is shown nothing about people with whom they play.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from pbem.domain.acts import Actor, Role
from pbem.service.desk.overview import LATE
from pbem.service.incoming.receive import ANOTHER_SENDER, UNVOUCHED
from pbem.service.incoming.reply_check import COUNTED_AS
from pbem.service.incoming.unverified import NOT_THEIRS
from pbem.service.server import Server
from pbem.store import overview, people, reachability, received, traffic
from pbem.store.database import Tx
from pbem.store.overview import COUNTED, Counts
from pbem.store.reachability import LeftAloneRow
from pbem.store.received import CameRow
from pbem.store.traffic import TrafficRow
from pbem.tokens import Purpose

DAYS: Final = 30
WEEK: Final = 7
"""Of so many days numbers are shown; what came in is kept no longer."""

PROVIDERS: Final = 20
"""So many domains of mail are listed."""

LOOKED_AT: Final = 300
"""Among so many of the newest mails that came in those are looked for that could not be used."""

UNUSED: Final = 20
"""So many of them are listed."""

BY_A_PROGRAM: Final = "by a program"
UNREAD: Final = "unread"


class Kind(StrEnum):
    """What a mail was that came in."""

    ANSWER = "answer"
    REPORT = "report"
    TEST = "test"
    DROPPED = "dropped"
    """Nothing is kept of it but that it came."""


OUTCOMES: Final[Mapping[str, Kind]] = {
    "reply: carried out": Kind.ANSWER,
    "reply: partly carried out": Kind.ANSWER,
    "reply: refused": Kind.ANSWER,
    "reply: no command": Kind.ANSWER,
    ANOTHER_SENDER: Kind.ANSWER,
    UNVOUCHED: Kind.ANSWER,
    NOT_THEIRS: Kind.ANSWER,
    BY_A_PROGRAM: Kind.ANSWER,
    "report: failed": Kind.REPORT,
    "report: late": Kind.REPORT,
    "report: complaint": Kind.REPORT,
    "report: away": Kind.REPORT,
    "report: arrived": Kind.REPORT,
    "report: other": Kind.REPORT,
    COUNTED_AS: Kind.TEST,
    "a stranger": Kind.DROPPED,
    "to no address for mails": Kind.DROPPED,
    "to an address that was replaced": Kind.DROPPED,
    "too many": Kind.DROPPED,
    "too large": Kind.DROPPED,
    "unreadable": Kind.DROPPED,
    "replies are off": Kind.DROPPED,
}
"""What can become of a mail that comes in, in the order in which it is told."""

UNUSED_ENDS: Final = frozenset(
    {
        "reply: partly carried out",
        "reply: refused",
        "reply: no command",
        ANOTHER_SENDER,
        UNVOUCHED,
        NOT_THEIRS,
        BY_A_PROGRAM,
        "report: other",
    }
)
"""What became of mails that are kept and could not be used, or not wholly."""


@dataclass(frozen=True, slots=True)
class Came:
    """How many mails came in that ended like this, in the last days and in all days that are kept."""

    outcome: str
    lately: int
    ever: int


@dataclass(frozen=True, slots=True)
class Unused:
    """A mail that came in and could not be used: to what of ours it came, and why. `sign` is what a program left on it."""

    row: CameRow
    kind: Kind
    why: str
    sign: str


@dataclass(frozen=True, slots=True)
class Deliverability:
    """Everything that the desk shows about mail. `withheld` is how many rows it keeps from somebody who plays."""

    counts: Counts
    providers: tuple[TrafficRow, ...]
    left_alone: tuple[LeftAloneRow, ...]
    came: Mapping[Kind, tuple[Came, ...]]
    unused: tuple[Unused, ...]
    withheld: int


def look(tx: Tx, server: Server, actor: Actor) -> Deliverability:
    """How mail gets through."""
    now = server.now()
    today = now.date()
    others = _played_with(tx, actor)
    left_alone = reachability.left_alone(tx, COUNTED)
    unused = [found for row in received.newest(tx, LOOKED_AT) if (found := _unused(row)) is not None][:UNUSED]
    seen_alone = tuple(row for row in left_alone if row.person_id not in others)
    seen_unused = tuple(each for each in unused if each.row.person_id not in others)
    return Deliverability(
        overview.counts(tx, now, now - LATE),
        tuple(traffic.since(tx, today - timedelta(days=DAYS))[:PROVIDERS]),
        seen_alone,
        _came(*(received.counted(tx, today - timedelta(days=days - 1)) for days in (WEEK, DAYS))),
        seen_unused,
        len(left_alone) - len(seen_alone) + len(unused) - len(seen_unused),
    )


def outcome_of(noted: str) -> str:
    """What became of a mail, in the words of `OUTCOMES`, from what was noted of it; as it is where they do not know it."""
    said = noted.removesuffix(", asked before")
    return BY_A_PROGRAM if said.startswith(f"{BY_A_PROGRAM}: ") else said


def _played_with(tx: Tx, actor: Actor) -> frozenset[int]:
    if actor.role is not Role.ORGANISER or actor.person_id is None:
        return frozenset()
    return people.companions(tx, actor.person_id)


def _came(lately: Mapping[str, int], ever: Mapping[str, int]) -> dict[Kind, tuple[Came, ...]]:
    """What came in, kind by kind."""
    sums: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for total, counted in zip(sums, (lately, ever), strict=True):
        for noted, number in counted.items():
            total[outcome_of(noted)] += number
    found: dict[Kind, tuple[Came, ...]] = {}
    for outcome in [*OUTCOMES, *sorted(sums[1].keys() - OUTCOMES.keys())]:
        if sums[1][outcome]:
            kind = OUTCOMES.get(outcome, Kind.DROPPED)
            found[kind] = (*found.get(kind, ()), Came(outcome, sums[0][outcome], sums[1][outcome]))
    return found


def _unused(row: CameRow) -> Unused | None:
    """A mail that could not be used, and why; None if it could, or may yet."""
    kind = Kind.REPORT if row.purpose == Purpose.BOUNCE else Kind.ANSWER
    if row.status == "parked":
        return Unused(row, kind, UNREAD, "")
    outcome = outcome_of(row.outcome)
    if outcome not in UNUSED_ENDS:
        return None
    return Unused(row, kind, outcome, row.outcome.partition(": ")[2] if outcome == BY_A_PROGRAM else "")
