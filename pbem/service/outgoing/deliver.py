"""Sending what is due: emails are claimed, prepared, handed to the relay, and their outcomes recorded.

    claim     under a lease, and counted as an attempt: many emails that nobody has begun, or one that its sender left behind
    prepare   checked, written and stored as bytes (`prepare`)
    send      outside of any transaction, as are filling in the tokens and signing
    record    the outcome (`outcomes`); accepted emails are recorded a few at a time

A lease is short, and a living worker renews it: what a dead one held is free within seconds. A crash between two steps repeats
them, and sends the same bytes under the same Message-ID, so a mail program shows one email. At most as many are sent twice as
are recorded together. Emails that a dead sender left behind are claimed one at a time, after a batch of others: an email that
kills its sender again and again takes no other with it. Once an email may have left, it is never written again. This module
must never store or log a token.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from pbem import failpoints
from pbem.mail.send.rate_limits import Throttle
from pbem.mail.send.relay import Session, Transport
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result
from pbem.mail.write.compose import ANSWERS, Letterhead
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.outgoing import outcomes, prepare
from pbem.service.outgoing.outcomes import Attempt
from pbem.service.outgoing.prepare import PreparedEmail
from pbem.service.server import Server
from pbem.store import leases, outages, people, rate_limits, traffic
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.outbox import EmailRow
from pbem.store.schema import LeaseRow
from pbem.tokens import Purpose

if TYPE_CHECKING:
    from pbem.mail.send.dkim import Signer

LEASE: Final = timedelta(seconds=20)
"""The time for which nobody else sends a claimed email unless the lease is renewed, as it is with each heartbeat."""

UNSURE: Final = timedelta(seconds=5)
"""A sender whose lease ends as soon as this hands over nothing more: its worker may have slept, and another one be at work."""

BATCH: Final = 100
"""Emails that are claimed, prepared and sent over one connection."""

IN_A_ROW: Final = 5
"""Failures in a row after which a domain is left alone for a while; broken connections, after which the relay is."""

RESTS: Final = timedelta(minutes=5)
"""The time for which a domain is left alone."""

LONGEST_REST: Final = timedelta(minutes=1)
"""The relay is tried again after less. A rest that seems longer began before the clock was set back."""

TOGETHER: Final = 10
"""Accepted emails that are recorded in one transaction: what a sender that dies may have sent and not recorded."""

RECORDED: Final = timedelta(seconds=1)
"""The longest time that an accepted email waits to be recorded with others."""

_BROKEN: Final = ""
"""The key under which broken connections are counted; they belong to no domain."""

ALARMED: Final = timedelta(minutes=5)
"""The time after which the organisers are told that the relay is away."""

_log = structlog.get_logger(__name__)

Sendable = tuple[EmailRow, OutgoingEmail]
"""An email, and what the relay gets."""


@dataclass(slots=True)
class Post:
    """What one process sends with, the lease it sends under, and what it remembers of failures.

    `in_a_row` counts failures in a row by domain, and broken connections under no name. `served` is the domain that had its
    turn last, `finished` the last lease that holds nothing any more, and `left_behind` says whether dead senders left emails.
    `held` are emails that were claimed when the database failed, and `unrecorded` those that the relay accepted then.
    """

    letterhead: Letterhead
    transport: Transport
    stopping: threading.Event = field(default_factory=threading.Event, kw_only=True)
    throttle: Throttle = field(default_factory=Throttle)
    signer: "Signer | None" = None
    failures: int = 0
    rests_until: datetime | None = None
    down_since: datetime | None = None
    alarmed: bool = False
    in_a_row: Counter[str] = field(default_factory=Counter)
    lease: LeaseRow | None = None
    finished: int = 0
    left_behind: bool = False
    served: str = ""
    held: list[EmailRow] = field(default_factory=list)
    unrecorded: list[Attempt] = field(default_factory=list, init=False)


@dataclass(slots=True)
class Delivered:
    """What one batch did with its emails."""

    accepted: int = 0
    superseded: int = 0
    postponed: int = 0
    given_up: int = 0

    @property
    def dealt_with(self) -> int:
        """The number of emails in the batch."""
        return self.accepted + self.superseded + self.postponed + self.given_up

    def count(self, result: Result | None) -> None:
        """Count an email that was not accepted: given up, or postponed without a result."""
        if result is None:
            self.postponed += 1
        else:
            self.given_up += 1


def deliver(server: Server, post: Post, limit: int = BATCH) -> Delivered:
    """Send the emails that are due, at most one batch; then those that senders left behind, as many at most."""
    done, started = Delivered(), server.now()
    # Nothing leaves while the database can't record what left before: it would leave again and again.
    _record(server, post)
    if post.rests_until is not None and timedelta(0) < post.rests_until - started <= LONGEST_REST:
        return done
    post.rests_until = None
    outcomes.release_held(server, post.held)
    if post.failures:
        # One email finds out whether the relay is back.
        limit = 1
    with post.transport.session() as session:
        _deliver(server, post, session, partial(_next, post=post, limit=limit), done)
        left, before = limit if post.left_behind else 0, -1
        while left and done.dealt_with != before and not _must_rest(post):
            left, before = left - 1, done.dealt_with
            _deliver(server, post, session, leases.claim_left, done)
    return done


def _must_rest(post: Post) -> bool:
    return post.rests_until is not None or post.stopping.is_set()


class Leasing(Protocol):
    """Something that sends under a lease."""

    lease: LeaseRow | None


def keep_lease(server: Server, post: Leasing) -> None:
    """Renew the lease of what is being sent, if anything is: its worker lives."""
    lease, until = post.lease, server.now() + LEASE
    if lease is not None and server.store.write(partial(leases.renew, lease_id=lease.id, until=until)):
        post.lease = replace(lease, until=until) if post.lease is lease else post.lease


def end_leases(server: Server) -> None:
    """Free at once what senders of the past held, where no other process can be sending: on SQLite."""
    if server.store.on_sqlite:
        server.store.write(partial(leases.end_all, now=server.now()))


Claim = Callable[[Tx, datetime, int], list[EmailRow]]
"""Claims emails that are due at a moment, under a lease."""


def _next(tx: Tx, now: datetime, lease_id: int, post: Post, limit: int) -> list[EmailRow]:
    post.left_behind = leases.any_left(tx)
    emails, post.served = leases.claim(tx, now, lease_id, limit, post.served)
    return emails


def _deliver(server: Server, post: Post, session: Session, claim: Claim, done: Delivered) -> None:
    """Claim emails, and send them under a lease."""
    now = server.now()
    lease = LeaseRow(int.from_bytes(server.randomness.bytes(7)), now + LEASE)
    claimed, postponed = server.store.write(lambda tx: _claim(tx, post, now, lease, claim))
    done.postponed += postponed
    if not claimed:
        return
    outer, post.lease = post.lease, lease
    try:
        for row in claimed:
            if row.attempts > outcomes.TRIES:
                server.run(outcomes.park, row, "its sender has failed too often")
                done.given_up += 1
        tried = [row for row in claimed if row.attempts <= outcomes.TRIES]
        _send(server, post, session, _prepare(server, post, tried, now, done) if tried else [], done)
        if not post.held:
            post.finished = lease.id
    finally:
        post.lease = outer


def _claim(tx: Tx, post: Post, now: datetime, lease: LeaseRow, claim: Claim) -> tuple[list[EmailRow], int]:
    """Claim due emails. Returns those that may leave now, and how many were put off because of their domain's quota."""
    if outages.email_pause(tx) is not None:
        return [], 0
    leases.end(tx, now, post.finished)
    rows = claim(tx, now, lease.id)
    if not rows:
        return [], 0
    leases.begin(tx, lease.id, lease.until)
    domains = people.domains(tx, {row.person_id for row in rows})
    shares = {name for domain in domains.values() for name in post.throttle.share_names(domain)}
    used = rate_limits.lock(tx, shares)
    before = dict(used)
    domain_names = set(domains.values())
    familiar = traffic.known_domains(tx, domain_names, now.date()) if post.throttle.new_domain else domain_names
    free, waiting = [], Counter[str]()
    for row in rows:
        domain = domains[row.person_id]
        if wait := post.throttle.wait(used, domain, now, new=domain not in familiar):
            # One after the other, so that they do not all come back at the first free moment.
            leases.release(tx, row, now + wait + post.throttle.interval(domain) * waiting[domain])
            waiting[domain] += 1
        else:
            free.append(row)
    rate_limits.write(tx, {name: moment for name, moment in used.items() if before.get(name) != moment})
    return free, waiting.total()


def _prepare(server: Server, post: Post, rows: Sequence[EmailRow], now: datetime, done: Delivered) -> list[Sendable]:
    """Those of some claimed emails that leave now, as they are sent."""
    try:
        prepared = prepare.prepare(server, post.letterhead, rows, now)
        sendable = [(email.email, _filled(server, post, email)) for email in prepared]
    except Exception as error:  # noqa: BLE001 - an email that cannot be written must not hold up the others
        if len(rows) > 1:
            # One of them failed, and nobody knows which, so each is prepared by itself.
            return outcomes.one_by_one(rows, post.held, lambda each: _prepare(server, post, each, now, done))
        (row,) = rows
        if is_outage(error):
            _log.warning("mail_waits", email=row.id, error=type(error).__name__)
            post.held.append(row)
            return []
        _log.exception("mail_not_written", email=row.id, kind=row.kind, attempts=row.attempts)
        done.count(server.run(outcomes.postpone, row, f"it couldn't be written ({type(error).__name__})"))
        return []
    done.superseded += len(rows) - len(sendable)
    return sendable


def _filled(server: Server, post: Post, prepared: PreparedEmail) -> OutgoingEmail:
    """The email with the tokens of its reader, signed."""
    email = prepared.email
    assert email.rendered_at is not None, "stored with the bytes"
    assert email.message_id is not None, "stored with the bytes"
    content = prepared.template.fill(prepared.nonces)
    if post.signer is not None:
        content = post.signer.sign(content, email.rendered_at)
    returns = server.keys.make(Purpose.BOUNCE, prepared.bounce.id, prepared.bounce.nonce)
    return OutgoingEmail(
        # The random part of the Message-ID: a number would tell each reader how many emails others had in between.
        name=email.message_id.strip("<>").partition(".")[0],
        # An answer has no return address, so that no program can answer it in turn (RFC 3834).
        sender="" if email.kind in ANSWERS else f"b+{returns}@{post.letterhead.domain}",
        recipient=prepared.recipient,
        content=content,
    )


def _send(server: Server, post: Post, session: Session, sendable: list[Sendable], done: Delivered) -> None:
    """Hand emails over one by one, and record the outcome of each."""
    refused, now = set[int](), server.now()
    for position, (email, outgoing) in enumerate(sendable):
        # Preparing may have taken long, too: what is left over is the next claimer's.
        if post.lease is None or now >= post.lease.until - UNSURE or post.stopping.is_set():
            server.run(_give_back, sendable[position:])
            break
        if email.person_id in refused:
            # The next batch finds out whether anything more goes there.
            server.run(_give_back, [(email, outgoing)])
            continue
        outcome = session.send(outgoing)
        failpoints.hit("mail.handed_over")
        now = server.now()
        if outcome.result is Result.DOWN:
            _rest(server, post, outcome)
            server.run(_give_back, sendable[position:])
            break
        if outcome.result in (Result.REFUSED_RECIPIENT, Result.UNABLE):
            refused.add(email.person_id)
        attempt = Attempt(email, outcome, now, outgoing.recipient.rpartition("@")[2].lower())
        if outcome.result is Result.ACCEPTED:
            done.accepted += 1
            post.unrecorded.append(attempt)
        else:
            _record(server, post)
            done.count(server.run(outcomes.record, attempt))
        _watch(server, post, attempt)
        if post.rests_until is not None:
            server.run(_give_back, sendable[position + 1 :])
            break
        waiting = post.unrecorded
        together = waiting and (len(waiting) == TOGETHER or now >= waiting[0].at + RECORDED)
        if together and _record(server, post):
            server.run(_give_back, sendable[position + 1 :])
            break
    # Before the connection is closed, for which a relay may take its time.
    _record(server, post)


def _record(server: Server, post: Post) -> bool:
    """Record that emails were accepted; returns whether email has been paused. If the database fails, they stay unrecorded."""
    if not post.unrecorded:
        return False
    try:
        paused = server.run(_accept, post.unrecorded)
    except Exception as error:
        if not is_outage(error):
            post.unrecorded.clear()
        raise
    post.unrecorded.clear()
    return paused


def _accept(tx: Tx, server: Server, accepted: list[Attempt]) -> bool:
    outcomes.accept(tx, server, accepted)
    return outages.email_pause(tx) is not None


def _watch(server: Server, post: Post, attempt: Attempt) -> None:
    """Leave the relay or a domain alone after too many failures in a row."""
    outcome, domain = attempt.outcome, attempt.domain
    lost = outcome.result is Result.LOST
    if not lost:
        post.failures, post.down_since, post.alarmed = 0, None, False
        del post.in_a_row[_BROKEN]
    failing = _BROKEN if lost else domain
    if outcome.result not in (Result.LATER, Result.REFUSED_SENDER, Result.LOST):
        del post.in_a_row[domain]
        return
    post.in_a_row[failing] += 1
    if post.in_a_row[failing] < IN_A_ROW:
        return
    del post.in_a_row[failing]
    if lost:
        _rest(server, post, outcome)
        return
    until = server.now() + RESTS
    server.store.write(lambda tx: rate_limits.write(tx, {domain: until}))
    _log.warning("domain_rests", domain=domain, said=outcome.answer)


def _rest(server: Server, post: Post, outcome: Outcome) -> None:
    """Leave the relay alone for a while: it is away. The organisers are told if that lasts."""
    now = server.now()
    post.failures += 1
    post.rests_until = now + outcomes.jittered(server, 1)
    post.down_since = post.down_since or now
    _log.warning("relay_down", failures=post.failures, said=outcome.answer)
    if now - post.down_since >= ALARMED and not post.alarmed:
        post.alarmed = True
        since = f"{post.down_since:%Y-%m-%d %H:%M} UTC"
        _log.error("relay_away", since=post.down_since, said=outcome.answer)
        text = f"The relay has accepted no email since {since}. It said: {outcome.answer}"
        server.run(alarms.raise_alarm, AlarmKind.RELAY, text)


def _give_back(tx: Tx, server: Server, sendable: list[Sendable]) -> None:
    """Give claimed emails back without an attempt."""
    now = server.now()
    for email, _outgoing in sendable:
        leases.release(tx, email, now)
