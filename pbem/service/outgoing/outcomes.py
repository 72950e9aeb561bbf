"""What became of a mail, written down: in its row, its ledger, the clock it starts, and the numbers of its domain.

    accepted           it is sent, a turn's clock starts, and an address that failed can be reached again; a few at once
    refused recipient  there is no such address: it is left alone at once
    unable recipient   tried again, and counted against the address; at the last try it is left alone
    refused sender     tried again, and an alarm: the organiser has to mend something, and it is no fault of the reader's
    refused message    parked, and an alarm
    later, lost        tried again, ten times in all; then parked, and an alarm

Each is one transaction, under the locks of the mails' games. What became of a mail of which nothing was written down is
known to nobody: whoever claims it next sends the same bytes once more. A sender whose lease is gone, because the mail was
sent again by hand or is not to be sent any more, has no say in what becomes of it. Nothing here talks to a relay.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from pbem.domain.bounce import Bounce
from pbem.mail.send.relay import Outcome, Result
from pbem.service import alarms
from pbem.service.alarms import What
from pbem.service.clocks import deadlines, reachability
from pbem.service.outgoing import digests
from pbem.service.server import Server
from pbem.store import alarms as alarms_rows
from pbem.store import games, ledger, outbox, quotas, traffic
from pbem.store import reachability as reachability_rows
from pbem.store.database import Tx
from pbem.store.outbox import OutboxRow

TRIES: Final = 10

KEPT: Final = timedelta(days=400)
"""So long the numbers of domains and the alarms of the past are kept: a year can be compared with the one before."""

_STEPS: Final = tuple(timedelta(seconds=each) for each in (30, 60, 120, 300, 600, 1800, 3600, 7200))
"""How long to wait after each try; the last one again and again."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A mail that the relay has taken: when, for somebody at which domain, and what it said."""

    email: OutboxRow
    at: datetime
    domain: str
    said: str


def accept(tx: Tx, server: Server, accepted: Collection[Accepted]) -> None:
    """Write down that the relay has taken mails, and do what follows: they are sent, and the clocks of their turns start."""
    locked = games.lock_all(tx, {each.email.game_id for each in accepted if each.email.game_id is not None})
    ledger.note_each(tx, "accepted", {each.email.id: (each.at, each.said) for each in accepted})
    leased = outbox.lock_leased(tx, [each.email for each in accepted])
    ours = [each for each in accepted if each.email.id in leased]
    outbox.send(tx, {each.email.id: each.at for each in ours})
    for person_id in reachability_rows.failing_among(tx, {each.email.person_id for each in ours}):
        if reachability.note_acceptance(tx, server, person_id):
            reached = {
                each.email.id: "the address can be reached again" for each in ours if each.email.person_id == person_id
            }
            ledger.note_all(tx, server.now(), "reached", reached)
    deadlines.emails_accepted(tx, server, locked, [(each.email, each.at) for each in ours])
    for each in ours:
        if each.email.kind == "digest":
            digests.told_of(tx, server, each.email)
    # The last thing of all: everybody who writes to the same domains waits for these rows.
    traffic.count(tx, server.now().date(), "sent", Counter(each.domain for each in ours))


def record(tx: Tx, server: Server, row: OutboxRow, outcome: Outcome, domain: str) -> Result | None:
    """Write down that a mail to somebody at a domain was not accepted; None if this try did not end it."""
    if row.game_id is not None:
        games.lock(tx, row.game_id)
    result = _record(tx, server, row, outcome) if outbox.lock_leased(tx, [row]) else None
    # The last thing of all: everybody who writes to the same domain waits for this row.
    if (counted := _COUNTED.get(outcome.result)) is not None:
        traffic.count(tx, server.now().date(), counted, {domain: 1})
    return result


def postpone(tx: Tx, server: Server, row: OutboxRow, said: str) -> Result | None:
    """Try a mail again later, or never again if that was the last try."""
    return _postpone(tx, server, row, said) if outbox.lock_leased(tx, [row]) else None


def park(tx: Tx, server: Server, row: OutboxRow, said: str) -> None:
    """Give a mail up until somebody has looked at it."""
    if outbox.lock_leased(tx, [row]):
        _park(tx, server, row, said)


def jittered(server: Server, attempt: int) -> timedelta:
    """How long to wait after this attempt: a tenth more or less, so that not all come back at one moment."""
    step = _STEPS[min(attempt, len(_STEPS)) - 1]
    return step * (0.9 + 0.2 * int.from_bytes(server.randomness.bytes(2)) / 0xFFFF)


def tidy(server: Server) -> None:
    """Drop numbers that nobody looks at any more."""
    now = server.now()

    def work(tx: Tx) -> None:
        traffic.forget_before(tx, now.date() - KEPT)
        alarms_rows.forget_before(tx, now - KEPT)
        quotas.forget_before(tx, now - timedelta(days=1))

    server.store.write(work)


_COUNTED: Final = {
    Result.LATER: "deferred",
    Result.UNABLE: "deferred",
    Result.REFUSED_SENDER: "deferred",
    Result.REFUSED_RECIPIENT: "bounced",
    Result.REFUSED_MESSAGE: "bounced",
}
"""As what an outcome is counted. A connection that broke says nothing of the domain that the mail was for."""


def _record(tx: Tx, server: Server, row: OutboxRow, outcome: Outcome) -> Result | None:
    match outcome.result:
        case Result.REFUSED_RECIPIENT:
            return _refused(tx, server, row, outcome.answer)
        case Result.UNABLE if row.attempts >= TRIES:
            return _refused(tx, server, row, outcome.answer)
        case Result.UNABLE:
            reachability.note_failure(tx, server, row.person_id, Bounce.HARD, outcome.answer)
        case Result.REFUSED_SENDER if row.attempts == 1:
            alarms.raise_alarm(tx, server, What.REFUSED, f"Mail {row.id} ({row.kind}): {outcome.answer}", row.game_id)
        case Result.REFUSED_MESSAGE:
            _log.error("mail_refused", email=row.id, kind=row.kind, said=outcome.answer)
            _park(tx, server, row, outcome.answer)
            return outcome.result
    return _postpone(tx, server, row, outcome.answer)


def _postpone(tx: Tx, server: Server, row: OutboxRow, said: str) -> Result | None:
    if row.attempts >= TRIES:
        _log.error("mail_parked", email=row.id, kind=row.kind, attempts=row.attempts)
        _park(tx, server, row, said)
        return Result.REFUSED_MESSAGE
    now = server.now()
    outbox.change(tx, row.id, claimed_until=None, due_at=now + jittered(server, row.attempts))
    ledger.note(tx, row.id, now, "postponed", said)
    return None


def _park(tx: Tx, server: Server, row: OutboxRow, said: str) -> None:
    outbox.change(tx, row.id, status="parked", claimed_until=None)
    ledger.note(tx, row.id, server.now(), "parked", said)
    # An alarm about an alarm would go on for ever.
    if row.kind != "alert":
        alarms.raise_alarm(tx, server, What.PARKED, f"Mail {row.id} ({row.kind}): {said}", row.game_id)


def _refused(tx: Tx, server: Server, row: OutboxRow, said: str) -> Result:
    outbox.change(tx, row.id, status="undeliverable", claimed_until=None)
    ledger.note(tx, row.id, server.now(), "undeliverable", said)
    reachability.note_refusal(tx, server, row.person_id, said)
    return Result.REFUSED_RECIPIENT
