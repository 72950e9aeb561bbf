"""The outcomes of emails, recorded in their rows, their ledger, the clocks they start, and the numbers of their domains.

    accepted           it is sent, a turn's clock starts, and an address that failed can be reached again; a few at once
    refused recipient  the address does not exist: nothing more is sent there
    unable recipient   tried again, and counted against the address; after the last try nothing more is sent there
    refused sender     tried again, and an alarm: the organiser has to fix something, it is not the reader's fault
    refused message    parked, and an alarm
    later, lost        tried again, ten times in all; then parked, and an alarm

Each is one transaction, under the locks of the emails' games. If an outcome is never recorded, the next claimer sends the same
bytes again. A sender whose lease is gone, because the email was sent again by hand or superseded, records nothing. This module
must never talk to a relay.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

import structlog

from pbem.domain.bounce import Bounce
from pbem.domain.states import EmailKind, EmailStatus
from pbem.mail.send.smtp import Outcome, Result
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import deadlines, outages, reachability
from pbem.service.outgoing import digests
from pbem.service.server import Server
from pbem.store import (
    alarms as alarms_rows,
    email_copies,
    games,
    leases,
    ledger,
    outbox,
    rate_limits,
    reachability as reachability_rows,
    traffic,
)
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow

T = TypeVar("T")

TRIES: Final = 10

AGAIN: Final = timedelta(seconds=5)
"""The wait after a failure of the database."""

AWAY: Final = 2
"""Failures of the database in a row that are not about the emails: each may take as long as a connection waits."""

RETENTION: Final = timedelta(days=400)
"""How long the numbers of domains and past alarms are kept: a year can be compared with the one before."""

_STEPS: Final = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300, 600, 1800, 3600, 7200))
"""The wait after each try; the last one again and again."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One handing over of an email to the relay: the outcome, when, and the domain of the recipient."""

    email: EmailRow
    outcome: Outcome
    at: datetime
    domain: str


def accept(tx: Tx, server: Server, accepted: Collection[Attempt]) -> None:
    """Record that the relay accepted emails: they are sent, and the clocks of their turns start."""
    now = server.now()
    locked = games.lock_all(tx, {attempt.email.game_id for attempt in accepted if attempt.email.game_id is not None})
    ledger.note_each(tx, "accepted", {attempt.email.id: (attempt.at, attempt.outcome.answer) for attempt in accepted})
    leased = leases.lock_leased(tx, [attempt.email for attempt in accepted])
    sent = [attempt for attempt in accepted if attempt.email.id in leased]
    email_copies.send(tx, {attempt.email.id: attempt.at for attempt in sent})
    for person_id in reachability_rows.failing_among(tx, {attempt.email.person_id for attempt in sent}):
        if reachability.note_acceptance(tx, server, person_id):
            reached = [attempt.email.id for attempt in sent if attempt.email.person_id == person_id]
            ledger.note_all(tx, now, "reached", dict.fromkeys(reached, "the address can be reached again"))
    deadlines.emails_accepted(tx, server, locked, [(attempt.email, attempt.at) for attempt in sent])
    for attempt in sent:
        if attempt.email.kind == EmailKind.DIGEST:
            digests.mark_replaced(tx, server, attempt.email)
    # Last of all: everyone who sends to the same domains waits for these rows.
    traffic.count(tx, now.date(), "sent", Counter(attempt.domain for attempt in sent))


def record(tx: Tx, server: Server, attempt: Attempt) -> Result | None:
    """Record an attempt that was not accepted; returns None if the email is tried again."""
    if attempt.email.game_id is not None:
        games.lock(tx, attempt.email.game_id)
    result = _record(tx, server, attempt.email, attempt.outcome) if leases.lock_leased(tx, [attempt.email]) else None
    # Last of all: everyone who sends to the same domain waits for this row.
    if (counted := _COUNTED.get(attempt.outcome.result)) is not None:
        traffic.count(tx, server.now().date(), counted, {attempt.domain: 1})
    return result


def postpone(tx: Tx, server: Server, row: EmailRow, answer: str) -> Result | None:
    """Try an email again later, or park it if this was the last try; returns None if it is tried again."""
    return _postpone(tx, server, row, answer) if leases.lock_leased(tx, [row]) else None


def park(tx: Tx, server: Server, row: EmailRow, answer: str) -> None:
    """Give an email up until an organiser has looked at it."""
    if leases.lock_leased(tx, [row]):
        _park(tx, server, row, answer)


def one_by_one(
    rows: Sequence[EmailRow], held: list[EmailRow], ready: Callable[[Sequence[EmailRow]], list[T]]
) -> list[T]:
    """What `ready` makes of each of these emails alone, where it failed for all together.

    It adds those to `held` for which the database failed. After two in a row it is away, and so are the others held at once.
    """
    found, in_a_row = list[T](), 0
    for number, row in enumerate(rows, start=1):
        before = len(held)
        found += ready([row])
        in_a_row = in_a_row + 1 if len(held) > before else 0
        if in_a_row == AWAY:
            held += rows[number:]
            break
    return found


def release_held(server: Server, held: list[EmailRow]) -> None:
    """Release emails that a failure of the database left claimed; none counts an attempt."""
    while held:
        server.store.write(partial(leases.release, email=held[-1], due_at=server.now() + AGAIN))
        held.pop()


def jittered(server: Server, attempt: int) -> timedelta:
    """The wait after this attempt: a tenth more or less, so that not all come back at one moment."""
    step = _STEPS[min(attempt, len(_STEPS)) - 1]
    return step * (0.9 + 0.2 * int.from_bytes(server.randomness.bytes(2)) / 0xFFFF)


def tidy(tx: Tx, server: Server) -> None:
    """Delete numbers that are too old to be looked at."""
    old = outages.ago(tx, server, RETENTION)
    traffic.forget_before(tx, old.date())
    alarms_rows.forget_before(tx, old)
    rate_limits.forget_before(tx, outages.ago(tx, server, timedelta(days=1)))


_COUNTED: Final = {
    Result.LATER: "deferred",
    Result.UNABLE: "deferred",
    Result.REFUSED_SENDER: "deferred",
    Result.REFUSED_RECIPIENT: "bounced",
    Result.REFUSED_MESSAGE: "bounced",
}
"""How an outcome is counted. A broken connection tells nothing about the recipient's domain."""


def _record(tx: Tx, server: Server, row: EmailRow, outcome: Outcome) -> Result | None:
    match outcome.result:
        case Result.REFUSED_RECIPIENT:
            return _refused(tx, server, row, outcome.answer)
        case Result.UNABLE if row.attempts >= TRIES:
            return _refused(tx, server, row, outcome.answer)
        case Result.UNABLE:
            reachability.note_failure(tx, server, row.person_id, Bounce.HARD, outcome.answer)
        case Result.REFUSED_SENDER if row.attempts == 1:
            alarms.raise_alarm(tx, server, AlarmKind.REFUSED, f"{_called(row)}: {outcome.answer}", row.game_id)
        case Result.REFUSED_MESSAGE:
            _log.error("mail_refused", email=row.id, kind=row.kind, said=outcome.answer)
            _park(tx, server, row, outcome.answer)
            return outcome.result
    return _postpone(tx, server, row, outcome.answer)


def _postpone(tx: Tx, server: Server, row: EmailRow, answer: str) -> Result | None:
    if row.attempts >= TRIES:
        _log.error("mail_parked", email=row.id, kind=row.kind, attempts=row.attempts)
        _park(tx, server, row, answer)
        return Result.REFUSED_MESSAGE
    now = server.now()
    outbox.change(tx, row.id, lease_id=None, due_at=now + jittered(server, row.attempts))
    ledger.note(tx, row.id, now, "postponed", answer)
    return None


def _park(tx: Tx, server: Server, row: EmailRow, answer: str) -> None:
    outbox.change(tx, row.id, status=EmailStatus.PARKED, lease_id=None)
    ledger.note(tx, row.id, server.now(), "parked", answer)
    # An alarm about an alarm would never end.
    if row.kind != EmailKind.ALERT:
        alarms.raise_alarm(tx, server, AlarmKind.PARKED, f"{_called(row)}: {answer}", row.game_id)


def _called(row: EmailRow) -> str:
    """What an alarm calls an email. The kind of one about a table can tell who has answered, and organisers may play there."""
    return f"Email {row.id}" + (f" ({row.kind})" if row.game_id is None else "")


def _refused(tx: Tx, server: Server, row: EmailRow, answer: str) -> Result:
    outbox.change(tx, row.id, status=EmailStatus.UNDELIVERABLE, lease_id=None)
    ledger.note(tx, row.id, server.now(), "undeliverable", answer)
    reachability.note_refusal(tx, server, row.person_id, answer)
    return Result.REFUSED_RECIPIENT
