"""Mails that come in: kept first, then dealt with, each once however often it is handed in and wherever a process dies.

    receive    the address is looked up; the mail is kept, without attachments and tokens, or counted and dropped
    attend     a lease, which counts as an attempt; then what the mail is decides what is done:

    to r+TOKEN    an answer to a mail: what a program wrote is dropped; what the seat's player wrote is carried out; what only
                  may be theirs waits, and the player is asked at the address on file; an answer to a test mail is noted
    to b+TOKEN    what mail servers say of one mail of ours: a line in its ledger, and word to whom it concerns
    complaints@   reports of spam, which name a mail of ours in the same way

Strangers get no answer, whatever they write. What a sender is believed follows from the setting `sender_check`: strict is
the token, the player's own address, and our mail server's word that the address's domain has sent it; token is the first
two; off is the token alone. This module must never store or log a token, and never decide what a line of a reply means.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from pbem.config.settings import Config, SenderCheck
from pbem.domain import bounce
from pbem.domain.bounce import Bounce
from pbem.domain.errors import BadInput, Gone, NotFound
from pbem.mail.read import auto_replies, inbound, reports, sender
from pbem.mail.read.inbound import InboundEmail
from pbem.mail.read.reply import parse_reply
from pbem.mail.read.reports import Report, ReportKind
from pbem.service import alarms, links
from pbem.service.alarms import What
from pbem.service.clocks import reachability
from pbem.service.incoming import replies, test_mail
from pbem.service.links import Link
from pbem.service.outgoing import rate_limits
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import ledger
from pbem.store import outbox as store_outbox
from pbem.store import people as person_rows
from pbem.store import received as rows
from pbem.store.database import Tx
from pbem.store.outbox import NewEmail
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose, contains_token

LEASE: Final = timedelta(minutes=5)
"""So long nobody else reads a claimed mail."""

BATCH: Final = 20
TRIES: Final = 5
PAUSE: Final = timedelta(minutes=2)
"""How long a mail waits that could not be dealt with, times the number of its tries."""

MOST_AN_HOUR: Final = 30
"""Mails to one address of ours; nobody writes so many, but programs do that answer each other."""

KEPT: Final = timedelta(days=30)
"""So long a mail is known by its name; mail servers try for five days. Whatever text is left then goes."""

ANOTHER_SENDER: Final = "another sender"
UNVOUCHED: Final = "a sender nobody vouches for"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Letterbox:
    """What a process knows of how mails come in, by the settings."""

    domain: str
    sender: str = field(repr=False)
    authserv_id: str
    check: SenderCheck = SenderCheck.STRICT
    replies: bool = True
    most_bytes: int = 2**20


def letterbox_of(config: Config) -> Letterbox:
    """The letterbox of these settings."""
    email, inbound = config.mail, config.inbound
    return Letterbox(
        email.domain,
        email.sender,
        inbound.authserv_id,
        inbound.sender_check,
        inbound.replies,
        config.limits.mail_bytes,
    )


def receive(server: Server, box: Letterbox, envelope_from: str, envelope_to: str, raw: bytes) -> str:
    """Keep a mail that came in, or drop it; what it was taken for. Raises where it could not be kept."""
    link = _addressed(server, box, envelope_to, raw)
    if isinstance(link, str):
        return _dropped(server, link)
    if len(raw) > box.most_bytes:
        return _dropped(server, "too large")
    if link.purpose == Purpose.REPLY and not box.replies:
        return _dropped(server, "replies are off")
    name = inbound.raw_message_id(raw)
    if contains_token(name.encode(), server.keys):
        name = ""
    try:
        fit = inbound.sanitise(raw, envelope_from, name)
    except BadInput:
        return _dropped(server, "unreadable")
    # The number of the link and not the token: that may change its letters on the way, and must be kept nowhere.
    known_by = inbound.fingerprint(raw, f"{link.purpose}{link.id}")
    return server.run(_keep, link, known_by, name, fit)


def attend(server: Server, box: Letterbox, limit: int = BATCH) -> int:
    """Deal with mails that were kept, as many as one look takes; how many that were."""
    now = server.now()
    claimed = server.store.write(lambda tx: rows.claim(tx, now, now + LEASE, limit))
    for row in claimed:
        try:
            _attend_one(server, box, row)
        except Exception:  # noqa: BLE001 - a mail that cannot be dealt with must not hold up the others
            _log.exception("mail_not_read", email=row.id, attempts=row.attempts)
            _try_later(server, row)
    return len(claimed)


def retry(tx: Tx, server: Server) -> int:
    """Let the mails that were given up be read again, because what was in their way is mended; how many those are.

    What a mail has led to already is not done again, and one that is too late by now is told so, as any that comes late.
    """
    return rows.unpark(tx, server.now())


def note_carried_out(tx: Tx, server: Server, received_id: int, link: Link, outcome: str) -> None:
    """Note that what a player wrote was done, or refused with a word to them. It shows that mails reach them."""
    assert link.person_id is not None
    reachability.heard_from(tx, server, link.person_id)
    finish(tx, server, received_id, outcome)


def finish(tx: Tx, server: Server, received_id: int, outcome: str) -> None:
    """Note what has become of a mail, and let go of its text."""
    rows.change(tx, received_id, status="done", outcome=outcome, raw=None, claimed_until=None)
    rows.count(tx, server.now().date(), outcome)


def tidy(tx: Tx, server: Server) -> None:
    """Drop mails of long ago, whatever became of them."""
    rows.forget_before(tx, server.now() - KEPT)


def _addressed(server: Server, box: Letterbox, envelope_to: str, raw: bytes) -> Link | str:
    """What the token in an address stands for; or why the mail is not kept."""
    if inbound.is_complaint_address(envelope_to, box.domain):
        tokens = inbound.bounce_tokens(raw[: box.most_bytes])
        opened = (_opened(server, token, Purpose.BOUNCE) for token in tokens)
        return next((link for link in opened if not isinstance(link, str)), "a stranger")
    to = inbound.parse_recipient(envelope_to, box.domain)
    if to is None:
        return "a stranger"
    if to.purpose not in (Purpose.REPLY, Purpose.BOUNCE):
        return "to no address for mails"
    return _opened(server, to.token, to.purpose)


def _opened(server: Server, token: str, purpose: Purpose) -> Link | str:
    try:
        return server.read(links.follow, token, purpose)
    except NotFound:
        return "a stranger"
    except Gone:
        return "to an address that was replaced"


def _dropped(server: Server, why: str) -> str:
    """Count a mail of which nothing is kept."""
    server.store.write(lambda tx: rows.count(tx, server.now().date(), why))
    return why


def _keep(tx: Tx, server: Server, link: Link, known_by: bytes, name: str, fit: bytes) -> str:
    now = server.now()
    if rows.count_since(tx, link.id, now - timedelta(hours=1)) >= MOST_AN_HOUR:
        rows.count(tx, now.date(), "too many")
        return "too many"
    kept = rows.keep(tx, fingerprint=known_by, link_id=link.id, message_id=name, raw=fit, now=now)
    return "again" if kept is None else "kept"


def _attend_one(server: Server, box: Letterbox, row: ReceivedRow) -> None:
    if row.attempts > TRIES:
        # Each try failed, or ended the process that made it.
        _if_ours(server, row, lambda tx: _park(tx, row))
        return
    assert row.raw is not None
    with server.store.read() as tx:
        link = links.read(tx, row.link_id)
    email = inbound.parse(row.raw)
    if link.purpose == Purpose.BOUNCE:
        reported = reports.parse_report(email)
        _if_ours(server, row, lambda tx: _report(tx, server, row, link, reported))
        return
    program = auto_replies.automation_sign(email, box.domain, box.sender)
    if link.person_id is None:
        believed, says = _trial(box, email, program)
        _if_ours(server, row, lambda tx: test_mail.note(tx, server, row.id, believed=believed, says=says))
    elif program is not None:
        _if_ours(server, row, lambda tx: finish(tx, server, row.id, f"by a program: {program}"))
    elif doubt := _doubt(server, box, link, email):
        _if_ours(server, row, lambda tx: _ask(tx, server, row, link, doubt))
    elif (outcome := server.run(replies.act, row.id, link, parse_reply(email))) is not None:
        _if_ours(server, row, lambda tx: note_carried_out(tx, server, row.id, link, outcome))


def _trial(box: Letterbox, email: InboundEmail, program: str | None) -> tuple[bool, str]:
    """Whether who answered a test mail would be believed as a player, and what is known of the sender."""
    address = sender.sender_of(email)
    found = ", ".join(sender.verdicts(email, box.authserv_id)) or f"no word about it by {box.authserv_id}"
    if address is None:
        return False, f"from no single address; {found}"
    says = f"from {address.rpartition('@')[2].lower()}; {found}"
    if program is not None:
        return False, f"{says}; written by a program ({program})"
    vouched = box.check is not SenderCheck.STRICT or sender.is_authenticated(email, address, box.authserv_id)
    return vouched, says


def _doubt(server: Server, box: Letterbox, link: Link, email: InboundEmail) -> str:
    """Why a reply may not be by the player whose address it came to; nothing if there is no doubt."""
    if box.check is SenderCheck.OFF:
        return ""
    assert link.person_id is not None
    with server.store.read() as tx:
        known = person_rows.read(tx, link.person_id).mailbox
    address = sender.sender_of(email)
    if address is None or _as_compared(address) != known:
        return ANOTHER_SENDER
    if box.check is SenderCheck.STRICT and not sender.is_authenticated(email, address, box.authserv_id):
        return UNVOUCHED
    return ""


def _as_compared(address: str) -> str:
    try:
        return addresses.normalised(address)[1]
    except BadInput:
        return ""


def _ask(tx: Tx, server: Server, row: ReceivedRow, link: Link, doubt: str) -> None:
    """Ask the player at the address on file whether a reply was theirs; if that was asked already, one page is for both."""
    assert link.person_id is not None
    facts = {"received": row.id}
    email = NewEmail(link.person_id, "was_it_you", link.game_id, None, link.seat, link.turn, facts)
    outcome = doubt if rate_limits.queue_answer(tx, server, email, error=doubt) else f"{doubt}, asked before"
    rows.change(tx, row.id, status="doubted", outcome=outcome, claimed_until=None)
    rows.count(tx, server.now().date(), outcome)


def _report(tx: Tx, server: Server, row: ReceivedRow, link: Link, report: Report) -> None:
    """Write into the ledger what was reported of a mail of ours, and tell it to whom it concerns."""
    assert link.person_id is not None
    assert link.outbox_id is not None
    note = {
        ReportKind.LATE: "delayed",
        ReportKind.AWAY: "away",
        ReportKind.COMPLAINT: "complained",
        ReportKind.FAILED: "bounced",
    }
    if report.kind is ReportKind.COMPLAINT:
        reachability.bounced(tx, server, link.person_id, Bounce.COMPLAINT, report.answer)
    elif report.kind is ReportKind.FAILED:
        store_outbox.came_back(tx, link.outbox_id)
        if bounce.is_about_sender(report.answer):
            _log.error("mail_refused_later", email=link.outbox_id, said=report.answer)
            alarms.raise_alarm(tx, server, What.REFUSED, f"Mail {link.outbox_id}, later: {report.answer}", link.game_id)
        else:
            kind = Bounce.HARD if report.permanent else Bounce.SOFT
            reachability.bounced(tx, server, link.person_id, kind, report.answer)
    if report.kind in note:
        ledger.note(tx, link.outbox_id, server.now(), note[report.kind], report.answer)
    finish(tx, server, row.id, f"report: {report.kind}")


def _if_ours(server: Server, row: ReceivedRow, work: Callable[[Tx], None]) -> None:
    """Do something about a mail unless somebody else has claimed it since, or has dealt with it."""

    def only_then(tx: Tx) -> None:
        kept = rows.lock(tx, row.id)
        if kept is not None and kept.status == "waiting" and kept.claimed_until == row.claimed_until:
            work(tx)

    server.store.write(only_then)


def _try_later(server: Server, row: ReceivedRow) -> None:
    later = server.now() + PAUSE * row.attempts
    _if_ours(server, row, lambda tx: rows.change(tx, row.id, claimed_until=None, due_at=later))


def _park(tx: Tx, row: ReceivedRow) -> None:
    _log.error("mail_parked_unread", email=row.id)
    rows.change(tx, row.id, status="parked", outcome="tried too often", claimed_until=None)
