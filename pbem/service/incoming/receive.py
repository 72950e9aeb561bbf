"""Email that comes in: stored first, then processed, once however often it arrives and wherever a process dies.

    receive    the recipient is looked up; the email is stored without attachments and tokens, or counted and dropped
    process    a lease, which counts as an attempt; then what follows depends on the recipient:

    to r+TOKEN    a reply, to a turn or an offered seat. If a program wrote it, it is dropped; if it is from its player, it is
                  carried out; if that is in doubt it waits, and the player is asked at the address on file. A reply to a
                  test email is noted.
    to b+TOKEN    a mail server's report about one of our emails: noted in its ledger, and acted on
    complaints@   reports of spam, which name one of our emails in the same way

Strangers get no answer. Who counts as the player follows from the setting `sender_check`: strict asks for the token, the
player's own address and our mail server's word for its domain; token for the first two; off for the token alone. This module
must never store or log a token, and never interpret a line of a reply.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from typing import Final

import structlog

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Gone, NotFound
from pbem.domain.states import Doubt, EmailKind, ReceivedStatus
from pbem.mail.read import auto_replies, delivery_reports, inbound, sender_check
from pbem.mail.read.inbound import InboundEmail
from pbem.mail.read.reply import Reply, parse_reply
from pbem.service import links
from pbem.service.clocks import outages, reachability
from pbem.service.incoming import answers, authenticity, bounces, invitations, replies, round_trip, unread_replies
from pbem.service.incoming.authenticity import InboundSettings
from pbem.service.links import EmailLink, MoveLink
from pbem.service.server import Server
from pbem.store import limits, people, received as rows
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.links import LinkRow
from pbem.store.outbox import NewEmail
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose

ReplyLink = MoveLink | EmailLink
"""The links of addresses for replies: to a turn, or to an email that offers a seat."""

LEASE: Final = timedelta(minutes=5)
"""The time for which nobody else processes a claimed email."""

BATCH: Final = 20
TRIES: Final = 5
PAUSE: Final = timedelta(minutes=2)
"""The wait after a failed try, times the number of tries."""

AGAIN: Final = timedelta(seconds=5)
"""The wait after a failure of the database."""

MOST_AN_HOUR: Final = 30
"""Emails an hour to one of our addresses: more than a person writes, less than two programs that answer each other."""

RETENTION: Final = timedelta(days=30)
"""How long an email is recognised when it comes again; mail servers try for five days. Then its row is deleted."""

Held = list[ReceivedRow]
"""Emails that were claimed when the database failed."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Arrival:
    """An email that arrives, for one recipient or several. What takes long is done once, and only if it may be stored."""

    server: Server
    settings: InboundSettings
    envelope_from: str
    raw: bytes = field(repr=False)

    def receive(self, envelope_to: str) -> str:
        """Store the email for a recipient, or drop it; returns a word for what was done. Raises if it could not be stored."""
        server, settings = self.server, self.settings
        link = _find_link(server, settings, envelope_to, self.raw)
        if isinstance(link, str):
            return _drop(server, link)
        if len(self.raw) > settings.most_bytes:
            return self._drop_unread(link, "too large")
        if link.purpose == Purpose.REPLY and not settings.replies:
            return _drop(server, "replies are off")
        if server.read(_is_flooded, link):
            return _drop(server, "too many")
        if self._hidden is None:
            return self._drop_unread(link, "unreadable")
        # By the id of the link and not its token, which must not be stored, and whose letters may change case on the way.
        fingerprint = inbound.fingerprint(self.raw, f"{link.purpose}{link.id}")
        name = inbound.message_id(self._headers)
        message_id = name if name.encode() in self._hidden else ""
        is_addressed = inbound.is_for(self._headers, envelope_to, settings.domain)
        stored = inbound.marked_as_addressed(self._hidden) if is_addressed else self._hidden
        return server.run(_store, link, fingerprint, message_id, self._signatures, stored)

    def _drop_unread(self, link: LinkRow, why: str) -> str:
        """Drop a reply that cannot be stored; its player hears so, unless a program wrote it."""
        is_reply = link.purpose == Purpose.REPLY and link.person_id is not None and self.settings.replies
        if is_reply and not self._may_be_by_a_program():
            self.server.run(unread_replies.tell_player, link_of(link))
        return _drop(self.server, why)

    def _may_be_by_a_program(self) -> bool:
        """Whether the email is a program's, or has more headers than are read."""
        headers = inbound.raw_headers(self.raw)
        headers["Return-Path"] = self.envelope_from
        sign = auto_replies.automation_sign(headers, self.settings.domain, self.settings.sender)
        return sign is not None or inbound.has_more_headers(self.raw)

    @cached_property
    def _hidden(self) -> bytes | None:
        """The email as it is stored, without attachments and tokens; None if it can't be read."""
        try:
            sanitised = inbound.sanitise(self.raw, self.envelope_from)
        except BadInput:
            return None
        return self.server.read(links.hide_tokens, sanitised)

    @cached_property
    def _headers(self) -> InboundEmail:
        return inbound.raw_headers(self.raw)

    @cached_property
    def _signatures(self) -> tuple[str, ...]:
        return sender_check.signatures(self.raw)


def receive(server: Server, settings: InboundSettings, envelope_from: str, envelope_to: str, raw: bytes) -> str:
    """Store an email for its one recipient, or drop it, as `Arrival` does."""
    return Arrival(server, settings, envelope_from, raw).receive(envelope_to)


def process(server: Server, settings: InboundSettings, limit: int = BATCH, held: Held | None = None) -> int:
    """Process stored emails, at most one batch; returns how many.

    Each is claimed when its turn comes, so a worker that is killed holds back one. A failure of the database is no fault of
    the email's: it is among those `held`, and no attempt is counted.
    """
    held = [] if held is None else held
    _release_held(server, held)
    for done in range(limit):
        now = server.now()
        claimed = server.store.write(partial(rows.claim, now=now, until=now + LEASE, limit=1))
        if not claimed:
            return done
        (row,) = claimed
        try:
            _process_one(server, settings, row)
        except Exception as error:  # noqa: BLE001 - an email that cannot be processed must not hold up the others
            if is_outage(error):
                _log.warning("mail_waits", email=row.id, error=type(error).__name__)
                held.append(row)
                continue
            _log.exception("mail_not_read", email=row.id, attempts=row.attempts)
            _try_later(server, row)
    return limit


def retry(tx: Tx, server: Server) -> int:
    """Let parked emails be processed again, because the cause has been fixed; returns how many.

    Nothing is done twice, and a reply that is too late by now gets a receipt that says so.
    """
    return rows.unpark(tx, server.now())


def link_of(row: LinkRow) -> ReplyLink:
    """What a reply was sent to: a turn, or an email that offers a seat."""
    return MoveLink.of(row) if row.outbox_id is None else EmailLink.of(row)


def carry_out(tx: Tx, server: Server, received_id: int, link: ReplyLink, reply: Reply) -> str | None:
    """Carry out a stored reply of a player; returns the outcome in a few words, None if it is done already."""
    if isinstance(link, MoveLink):
        return replies.carry_out(tx, server, received_id, link, reply)
    return invitations.carry_out(tx, server, received_id, link, reply)


def finish_reply(tx: Tx, server: Server, received_id: int, person_id: int, outcome: str) -> None:
    """Note the outcome of a player's reply, which also shows that email reaches them."""
    reachability.note_contact(tx, server, person_id)
    finish(tx, server, received_id, outcome)


def finish(tx: Tx, server: Server, received_id: int, outcome: str, counted_as: str = "") -> None:
    """Note the outcome of an email, and delete its text; it is counted under its outcome or another name."""
    rows.change(tx, received_id, status=ReceivedStatus.DONE, outcome=outcome, raw=None, claimed_until=None)
    rows.count(tx, server.now().date(), counted_as or outcome)


def tidy(tx: Tx, server: Server) -> None:
    """Delete old emails, whatever became of them."""
    rows.forget_before(tx, outages.ago(tx, server, RETENTION))


def _find_link(server: Server, settings: InboundSettings, envelope_to: str, raw: bytes) -> LinkRow | str:
    """The link that the recipient names; or the reason for dropping the email."""
    if inbound.is_complaint_address(envelope_to, settings.domain):
        tokens = inbound.bounce_tokens(raw[: settings.most_bytes])
        followed = (_follow(server, token, Purpose.BOUNCE) for token in tokens)
        return next((link for link in followed if not isinstance(link, str)), "a stranger")
    recipient = inbound.parse_recipient(envelope_to, settings.domain)
    if recipient is None:
        return "a stranger"
    if recipient.purpose not in (Purpose.REPLY, Purpose.BOUNCE):
        return "to no reply address"
    return _follow(server, recipient.token, recipient.purpose)


def _follow(server: Server, token: str, purpose: Purpose) -> LinkRow | str:
    try:
        if purpose == Purpose.REPLY:
            return server.read(links.follow_reply, token)
        return server.read(links.follow, token, purpose)
    except NotFound:
        return "a stranger"
    except Gone:
        return "to a replaced address"


def _drop(server: Server, why: str) -> str:
    """Count an email that is not stored."""
    server.store.write(lambda tx: rows.count(tx, server.now().date(), why))
    return why


def _is_flooded(tx: Tx, server: Server, link: LinkRow) -> bool:
    return rows.count_in(tx, link.id, limits.last(timedelta(hours=1), server.now())) >= MOST_AN_HOUR


def _store(
    tx: Tx, server: Server, link: LinkRow, fingerprint: bytes, message_id: str, signatures: tuple[str, ...], raw: bytes
) -> str:
    now = server.now()
    if _is_flooded(tx, server, link):
        rows.count(tx, now.date(), "too many")
        return "too many"
    stored = rows.add(
        tx,
        fingerprint=fingerprint,
        link_id=link.id,
        nonce=link.nonce,
        message_id=message_id,
        signatures=signatures,
        raw=raw,
        now=now,
    )
    return "again" if stored is None else "kept"


def _process_one(server: Server, settings: InboundSettings, row: ReceivedRow) -> None:
    if row.attempts > TRIES:
        # Each try failed, or ended the process that made it.
        _give_up(server, row)
        return
    assert row.raw is not None
    with server.store.read() as tx:
        link_row = links.read(tx, row.link_id)
        is_gone = link_row.person_id is not None and is_former(people.read(tx, link_row.person_id).address)
    if link_row.purpose == Purpose.BOUNCE:
        report = delivery_reports.read_report(row.raw)

        def apply(tx: Tx) -> None:
            bounces.apply_report(tx, server, EmailLink.of(link_row), report)
            finish(tx, server, row.id, f"report: {report.kind}")

        _if_claimed(server, row, apply)
        return
    email = inbound.parse(row.raw)
    if link_row.person_id is None:
        _if_claimed(server, row, lambda tx: _finish_test(tx, server, settings, row, email))
        return
    program = auto_replies.automation_sign(email, settings.domain, settings.sender)
    link = link_of(link_row)
    if is_gone:
        # The address has moved to another person since, and what its invitations said is forgotten.
        sender = "" if program is not None else authenticity.vouched_sender(server, settings, email)
        reply = parse_reply(email)
        _if_claimed(server, row, lambda tx: _tell_owner(tx, server, row, sender, reply))
    elif program is not None:
        _if_claimed(server, row, lambda tx: finish(tx, server, row.id, f"by a program: {program}"))
    elif doubt := authenticity.find_doubt(server, settings, link.person_id, row, email):
        reply = parse_reply(email)
        _if_claimed(server, row, lambda tx: _ask_player(tx, server, row, link, doubt, reply))
    else:
        _carry_out_claimed(server, row, link, parse_reply(email))


def _carry_out_claimed(server: Server, row: ReceivedRow, link: ReplyLink, reply: Reply) -> None:
    """Carry out a reply that is from its player, or ask them if it is unclear or its address was replaced meanwhile."""
    outcome = server.run(_carry_out_unless_revoked, row, reply) if reply.is_clear else Doubt.UNCLEAR
    if isinstance(outcome, Doubt):
        _if_claimed(server, row, lambda tx: _ask_player(tx, server, row, link, outcome, reply))
    elif outcome is not None:
        _if_claimed(server, row, lambda tx: finish_reply(tx, server, row.id, link.person_id, outcome))


def _carry_out_unless_revoked(tx: Tx, server: Server, row: ReceivedRow, reply: Reply) -> str | Doubt | None:
    """The outcome of a reply, or a doubt; its own command may have revoked its address after it was carried out."""
    link = links.read_to_act(tx, row.link_id)
    if link.nonce != row.nonce:
        current = rows.lock(tx, row.id)
        if current is not None and current.status == ReceivedStatus.WAITING and not json.loads(current.acts):
            return Doubt.REVOKED
    return carry_out(tx, server, row.id, link_of(link), reply)


def _finish_test(tx: Tx, server: Server, settings: InboundSettings, row: ReceivedRow, email: InboundEmail) -> None:
    """Measure where our mail server writes its results, and note what a reply to a test email or a forged one shows."""
    round_trip.measure(tx, server, settings.authserv_id, email)
    above = round_trip.received_above(tx, settings.results_place, settings.authserv_id)
    if round_trip.is_forged(email):
        outcome: str = round_trip.check_forged(email, settings.authserv_id, above)
    else:
        outcome = _check_reply(settings, email, above)
    finish(tx, server, row.id, outcome, round_trip.COUNTED_AS)


def _check_reply(settings: InboundSettings, email: InboundEmail, above: int | None) -> str:
    """The outcome of a reply to a test email: would a player be believed, and what is known about the sender."""
    address = sender_check.sender_of(email)
    found = sender_check.verdicts(email, settings.authserv_id, above)
    verdicts = ", ".join(found) or f"no word about it by {settings.authserv_id}"
    if address is None:
        return round_trip.outcome(believed=False, findings=f"from no single address; {verdicts}")
    findings = f"from {address.rpartition('@')[2].lower()}; {verdicts}"
    program = auto_replies.automation_sign(email, settings.domain, settings.sender)
    if program is not None:
        return round_trip.outcome(believed=False, findings=f"{findings}; written by a program ({program})")
    if not authenticity.is_addressed(settings, email):
        return round_trip.outcome(believed=False, findings=f"{findings}; not written to the address for replies")
    return round_trip.outcome(believed=authenticity.is_vouched_for(settings, email, address, above), findings=findings)


def _ask_player(tx: Tx, server: Server, row: ReceivedRow, link: ReplyLink, doubt: Doubt, reply: Reply) -> None:
    """Ask the player at the address on file whether a reply is theirs. If they were asked before, one page is for all replies to
    one address. Someone who has lost the seat is only told so.

    Only the reply is kept of the email, as it was read: nobody who opens the page makes us read an email again.
    """
    if isinstance(link, MoveLink) and not unread_replies.plays(tx, link):
        unread_replies.tell_former_player(tx, server, link)
        finish(tx, server, row.id, unread_replies.OF_LOST_SEAT)
        return
    seat, turn = (link.seat, link.turn) if isinstance(link, MoveLink) else (None, None)
    facts: dict[str, object] = {"received": row.id, "link": row.link_id, "to_offer": seat is None}
    if isinstance(link, EmailLink):
        facts |= invitations.facts_of_offer(tx, link)
    email = NewEmail(link.person_id, EmailKind.WAS_IT_YOU, link.game_id, None, seat, turn, facts)
    outcome = doubt if answers.queue(tx, server, email, error=doubt) else f"{doubt}, asked before"
    raw = json.dumps(asdict(reply)).encode()
    rows.change(tx, row.id, status=ReceivedStatus.DOUBTED, outcome=outcome, claimed_until=None, raw=raw)
    rows.count(tx, server.now().date(), outcome)


def _tell_owner(tx: Tx, server: Server, row: ReceivedRow, sender: str, reply: Reply) -> None:
    """Tell the person whose address the sender has now that a reply came too late for the one who had it before."""
    owner = people.by_mailbox(tx, sender)
    if owner is not None:
        unread_replies.tell_owner(tx, server, owner.id, reply)
    finish(tx, server, row.id, unread_replies.TO_SOMEONE_GONE)


def _if_claimed(server: Server, row: ReceivedRow, work: Callable[[Tx], None]) -> None:
    """Do something about an email unless another worker has claimed or processed it since."""

    def locked(tx: Tx) -> None:
        current = rows.lock(tx, row.id)
        claim = (ReceivedStatus.WAITING, row.claimed_until)
        if current is not None and (current.status, current.claimed_until) == claim:
            work(tx)

    server.store.write(locked)


def _try_later(server: Server, row: ReceivedRow) -> None:
    later = server.now() + PAUSE * row.attempts
    _if_claimed(server, row, lambda tx: rows.change(tx, row.id, claimed_until=None, due_at=later))


def _release_held(server: Server, held: Held) -> None:
    """Release the emails that a failure of the database left claimed."""
    while held:
        _release(server, held[-1])
        held.pop()


def _release(server: Server, row: ReceivedRow) -> None:
    free = {"claimed_until": None, "attempts": row.attempts - 1, "due_at": server.now() + AGAIN}
    _if_claimed(server, row, lambda tx: rows.change(tx, row.id, **free))


def _give_up(server: Server, row: ReceivedRow) -> None:
    """Park an email that could not be processed, and tell the player whose reply it may be."""
    _log.error("mail_parked_unread", email=row.id)
    try:
        _if_claimed(server, row, lambda tx: _park(tx, row, server))
    except Exception:  # noqa: BLE001 - an email that cannot be answered either must not be tried for ever
        _log.exception("mail_not_answered", email=row.id)
        _if_claimed(server, row, lambda tx: _park(tx, row))


def _park(tx: Tx, row: ReceivedRow, server: Server | None = None) -> None:
    link = links.read(tx, row.link_id)
    if server is not None and link.purpose == Purpose.REPLY and link.person_id is not None:
        unread_replies.tell_player(tx, server, link_of(link))
    rows.change(tx, row.id, status=ReceivedStatus.PARKED, outcome="tried too often", claimed_until=None)
