"""How email gets through, without any address or text, or anything about people an organiser plays with."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import Final

from pbem.domain.acts import Actor, Role
from pbem.domain.states import Doubt, EmailStatus
from pbem.service.desk.overview import LATE, reader_of
from pbem.service.incoming.round_trip import COUNTED_AS
from pbem.service.incoming.unread_replies import OF_LOST_SEAT, TO_SOMEONE_GONE
from pbem.service.incoming.unverified_replies import NOT_THEIRS
from pbem.service.server import Server
from pbem.store import insiders, outages, overview, people, reachability, received, traffic
from pbem.store.database import Tx
from pbem.store.outages import OutageRow
from pbem.store.overview import COUNTED, Counts
from pbem.store.reachability import FailingRow
from pbem.store.received import SummaryRow
from pbem.store.traffic import TrafficRow
from pbem.tokens import Purpose

DAYS: Final = 30
WEEK: Final = 7
"""Days that numbers are shown for; those of received emails are not stored for longer."""

PROVIDERS: Final = 20
"""The most domains listed."""

LOOKED_AT: Final = 300
"""Received emails, newest first, in which unusable ones are looked for."""

UNUSED: Final = 20
"""The most unusable emails listed."""

BY_A_PROGRAM: Final = "by a program"
UNREAD: Final = "unread"


class Kind(StrEnum):
    """What a received email was."""

    ANSWER = "answer"
    REPORT = "report"
    TEST = "test"
    DROPPED = "dropped"
    """Nothing of it is stored but that it arrived."""


OUTCOMES: Final[Mapping[str, Kind]] = (
    dict.fromkeys(
        ("reply: carried out", "reply: partly carried out", "reply: refused", "reply: no command"), Kind.ANSWER
    )
    | dict.fromkeys((*Doubt, NOT_THEIRS, BY_A_PROGRAM, OF_LOST_SEAT, TO_SOMEONE_GONE), Kind.ANSWER)
    | dict.fromkeys(
        (f"report: {kind}" for kind in ("failed", "late", "complaint", "away", "arrived", "other")), Kind.REPORT
    )
    | {COUNTED_AS: Kind.TEST}
    | dict.fromkeys(("a stranger", "to no reply address", "to a replaced address"), Kind.DROPPED)
    | dict.fromkeys(("too many", "too large", "unreadable", "replies are off"), Kind.DROPPED)
)
"""Outcomes of received emails, in the order shown."""

UNUSED_OUTCOMES: Final = frozenset(
    {"reply: partly carried out", "reply: refused", "reply: no command", "report: other"}
    | {*Doubt, NOT_THEIRS, BY_A_PROGRAM, OF_LOST_SEAT, TO_SOMEONE_GONE}
)
"""Outcomes of emails that are stored and could not be used, or not fully."""


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many received emails had this outcome, recently and in all days stored."""

    outcome: str
    recent: int
    ever: int


@dataclass(frozen=True, slots=True)
class Unused:
    """A received email that could not be used, and why. `sign` is what marked it as a program's."""

    row: SummaryRow
    kind: Kind
    why: str
    sign: str


@dataclass(frozen=True, slots=True)
class Deliverability:
    """Everything the desk shows about email. `withheld` says that the organiser plays, and is not shown all of it."""

    counts: Counts
    pause: OutageRow | None
    providers: tuple[TrafficRow, ...]
    left_alone: tuple[FailingRow, ...]
    came: Mapping[Kind, tuple[OutcomeCount, ...]]
    unused: tuple[Unused, ...]
    withheld: bool


def summary(tx: Tx, server: Server, actor: Actor) -> Deliverability:
    """How email gets through."""
    now = server.now()
    today = now.date()
    others = played_with(tx, server, actor)
    left_alone = reachability.newest_failing(tx, COUNTED)
    # Left out before they are counted, so that what the others have sent does not show in how many are left.
    came = (row for row in received.newest(tx, LOOKED_AT) if row.person_id not in others)
    # Where few others have a domain, one more email to it is the receipt for someone's move.
    hidden_domains = set(people.domains(tx, others).values())
    went = traffic.since(tx, today - timedelta(days=DAYS))
    return Deliverability(
        overview.counts(tx, now, now - LATE, reader=reader_of(actor)),
        outages.email_pause(tx),
        tuple(islice((row for row in went if row.domain not in hidden_domains), PROVIDERS)),
        tuple(row for row in left_alone if row.person_id not in others),
        _outcome_counts(*(received.counts_since(tx, today - timedelta(days=days - 1)) for days in (WEEK, DAYS))),
        tuple(islice((email for row in came if (email := _unused(row)) is not None), UNUSED)),
        withheld=bool(others),
    )


def played_with(tx: Tx, server: Server, actor: Actor) -> frozenset[int]:
    """The people that the desk hides from an organiser, because they play or played together."""
    if actor.role is not Role.ORGANISER or actor.person_id is None:
        return frozenset()
    return insiders.companions(tx, actor.person_id)


def outcome_of(noted: str) -> str:
    """An outcome in the words of `OUTCOMES`, or unchanged if they do not have it."""
    outcome = noted.removesuffix(", asked before")
    return BY_A_PROGRAM if outcome.startswith(f"{BY_A_PROGRAM}: ") else outcome


def _outcome_counts(recent: Mapping[str, int], ever: Mapping[str, int]) -> dict[Kind, tuple[OutcomeCount, ...]]:
    """Received emails by kind and outcome."""
    sums: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for total, counted in zip(sums, (recent, ever), strict=True):
        for noted, number in counted.items():
            total[outcome_of(noted)] += number
    by_kind: dict[Kind, tuple[OutcomeCount, ...]] = {}
    for outcome in [*OUTCOMES, *sorted(sums[1].keys() - OUTCOMES.keys())]:
        if sums[1][outcome]:
            kind = OUTCOMES.get(outcome, Kind.DROPPED)
            by_kind[kind] = (*by_kind.get(kind, ()), OutcomeCount(outcome, sums[0][outcome], sums[1][outcome]))
    return by_kind


def _unused(row: SummaryRow) -> Unused | None:
    """A received email that could not be used, and why; None if it could, or still may."""
    kind = Kind.REPORT if row.purpose == Purpose.BOUNCE else Kind.ANSWER
    if row.status == EmailStatus.PARKED:
        return Unused(row, kind, UNREAD, "")
    outcome = outcome_of(row.outcome)
    if outcome not in UNUSED_OUTCOMES:
        return None
    return Unused(row, kind, outcome, row.outcome.partition(": ")[2] if outcome == BY_A_PROGRAM else "")
