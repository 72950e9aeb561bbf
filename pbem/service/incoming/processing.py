"""Stored email, processed once: wherever a process dies, and however often the email came.

A worker claims an email, which counts as an attempt. What follows depends on its recipient:

    a reply     to a turn or an offered seat. If a program wrote it, it is dropped; if it is from its player, it is carried out;
                if that is in doubt it waits, and the player is asked at the address on file. A reply to a test email is noted.
    a report    of a mail server or a spam filter about one of our emails: noted in its ledger, and acted on

Strangers get no answer. Who counts as the player follows from the setting `sender_check`: strict asks for the token, the
player's own address and our mail server's word for its domain; token for the first two; off for the token alone. This module
must never interpret a line of a reply.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from pbem.domain.deleted_people import is_former
from pbem.domain.states import Doubt, EmailKind, ReceivedStatus
from pbem.mail.read import auto_replies, delivery_reports, inbound, sender_check
from pbem.mail.read.inbound import InboundEmail
from pbem.mail.read.reply import Reply, parse_reply
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.incoming import answers, authenticity, bounces, invitations, replies, round_trip, unread_replies
from pbem.service.incoming.authenticity import InboundSettings
from pbem.service.links import EmailLink, MoveLink, ReplyLink
from pbem.service.server import Server
from pbem.store import people, received as rows
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.outbox import NewEmail
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose

LEASE: Final = timedelta(minutes=5)
"""The time for which nobody else processes a claimed email."""

BATCH: Final = 20
TRIES: Final = 5
PAUSE: Final = timedelta(minutes=2)
"""The wait after a failed try, times the number of tries."""

AGAIN: Final = timedelta(seconds=5)
"""The wait after a failure of the database."""

Held = list[ReceivedRow]
"""Emails that were claimed when the database failed."""

_log = structlog.get_logger(__name__)


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
    link = links.reply_link(link_row)
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
    return carry_out(tx, server, row.id, links.reply_link(link), reply)


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
        unread_replies.tell_player(tx, server, links.reply_link(link))
    rows.change(tx, row.id, status=ReceivedStatus.PARKED, outcome="tried too often", claimed_until=None)
