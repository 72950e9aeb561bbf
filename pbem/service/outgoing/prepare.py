"""From claimed mails to bytes that may leave: each is checked, written if it never was, kept, and checked once more.

    check      still claimed, still worth sending, wanted now; what is kept as bytes still promises rightly. The links and the
               promise of what is to be written are made with the check.
    write      read and put into words and templates, outside of that transaction
    keep       the bytes, which are what is sent on every try from now on, after a second check

A batch is checked and kept with as few statements as one mail, under the locks of its games in the order of their numbers.
This module must never store or log a token.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pbem.mail.write.compose import Letterhead, compose
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import content as outgoing_content
from pbem.service.outgoing import outdated as outgoing_outdated
from pbem.service.outgoing import preferences
from pbem.service.outgoing.email_links import EmailLinks, make_all
from pbem.service.server import Server
from pbem.store import games, ledger, links, outbox, people
from pbem.store.database import Tx
from pbem.store.deadlines import Key
from pbem.store.links import LinkKey, LinkRow
from pbem.store.outbox import OutboxRow
from pbem.tokens import EmailTemplate, Purpose

Contents = Mapping[int, EmailTemplate]
"""The bytes of mails, by the mails' numbers."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A mail whose bytes are kept, with what is missing in them: its reader's links, and where it goes and comes back."""

    email: OutboxRow
    content: EmailTemplate
    recipient: str
    bounce: LinkRow
    generations: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the check has found: mails that are kept as bytes, and those that are to be written, with what that takes."""

    stored: list[Stored]
    unwritten: list[OutboxRow]
    ready: Mapping[int, EmailLinks]


def prepare(server: Server, letterhead: Letterhead, rows: Collection[OutboxRow]) -> list[Stored]:
    """Those of some claimed mails that leave now, as bytes that are kept; of the others it is written down why not."""
    now = server.now()
    found = server.run(_check, rows, now)
    if not found.unwritten:
        return found.stored
    written = []
    with server.store.read(ahead=True) as tx:
        outgoing_content.read_ahead(tx, found.unwritten, found.ready)
        for email in found.unwritten:
            words = outgoing_content.content_of(tx, server, letterhead, email, found.ready[email.id], now)
            body = compose(letterhead, words)
            written.append(replace(email, body=body, message_id=words.thread.message_id, rendered_at=now))
    kept = server.run(_keep, written, now)
    return sorted(found.stored + kept, key=lambda stored: (stored.email.due_at, stored.email.id))


def _check(tx: Tx, server: Server, rows: Collection[OutboxRow], now: datetime) -> _Checked:
    tables = games.lock_all(tx, {row.game_id for row in rows if row.game_id is not None})
    worthy = _worth_sending(tx, server, _claimed(tx, rows), tables)
    leaving = preferences.may_leave(tx, server, worthy, tables)
    unfilled = {email.id: server.keys.template(email.body) for email in leaving if email.body is not None}
    unwritten = _unwritten(tx, server, leaving, unfilled, tables, now)
    for person_id in sorted({email.person_id for email in unwritten if email.game_id is None}):
        people.lock(tx, person_id)
    ready = make_all(tx, server, unwritten, tables, now)
    to_write = {email.id for email in unwritten}
    stored = _stored(tx, [email for email in leaving if email.id not in to_write], unfilled)
    return _Checked(stored, unwritten, ready)


def _keep(tx: Tx, server: Server, written: Collection[OutboxRow], now: datetime) -> list[Stored]:
    """Keep the bytes of mails, unless somebody else was faster or they are outdated by now."""
    tables = games.lock_all(tx, {email.game_id for email in written if email.game_id is not None})
    still = {email.id for email in _worth_sending(tx, server, _claimed(tx, written), tables)}
    kept = [email for email in written if email.id in still]
    outbox.keep(tx, kept)
    ledger.note_all(tx, now, "rendered", {email.id: _digest(email) for email in kept})
    return _stored(tx, kept, {email.id: server.keys.template(email.body) for email in kept if email.body is not None})


def _claimed(tx: Tx, rows: Collection[OutboxRow]) -> list[OutboxRow]:
    """The mails as they are now, as far as they are still ours to send."""
    leases = {row.id: row.claimed_until for row in rows}
    kept = outbox.with_ids(tx, leases.keys())
    return [email for email in kept if email.status == "queued" and email.claimed_until == leases[email.id]]


def _worth_sending(tx: Tx, server: Server, emails: Collection[OutboxRow], tables: Games) -> list[OutboxRow]:
    """The mails that still are; the others are superseded."""
    outdated = outgoing_outdated.why_outdated(tx, emails, tables)
    now = server.now()
    for mail_id in outdated:
        outbox.change(tx, mail_id, status="superseded", claimed_until=None)
    ledger.note_all(tx, now, "superseded", outdated)
    # They know of the turn without its mail; an answer taken back must not leave a clock that never starts.
    answered = [(email, now) for email in emails if outdated.get(email.id) == outgoing_outdated.ANSWERED]
    deadlines.emails_accepted(tx, server, tables, answered)
    return [email for email in emails if email.id not in outdated]


def _unwritten(
    tx: Tx, server: Server, emails: Collection[OutboxRow], unfilled: Contents, tables: Games, now: datetime
) -> list[OutboxRow]:
    """The mails that have to be written: for the first time, or because the bytes that are kept must not leave any more."""
    stale = _stale(tx, server, [email for email in emails if email.body is not None], unfilled, tables)
    for mail_id in stale:
        outbox.change(tx, mail_id, body=None, message_id=None)
    ledger.note_all(tx, now, "rewritten", stale)
    return [replace(email, body=None, message_id=None) for email in emails if email.body is None or email.id in stale]


def _stale(tx: Tx, server: Server, emails: Collection[OutboxRow], unfilled: Contents, tables: Games) -> dict[int, str]:
    """Which mails must not leave as they are kept, and why. Once a mail may have left, another would be a second one."""
    turns = {email.id: turn for email in emails if (turn := _turn(email)) is not None}
    broken = deadlines.broken_promises(tx, server, tables, set(turns.values()))
    found = {}
    for email in emails:
        # Every mail has a link; one without places that we know was written with a key that was revoked since.
        if not unfilled[email.id].rows:
            found[email.id] = "its links were made with a key that is gone"
        elif turns.get(email.id) in broken and not _may_have_left(tx, email):
            found[email.id] = "its deadline would not have been right any more"
    return found


def _turn(email: OutboxRow) -> Key | None:
    if email.kind != "turn" or email.game_id is None or email.turn is None or email.seat is None:
        return None
    return email.game_id, email.turn, email.seat


def _may_have_left(tx: Tx, email: OutboxRow) -> bool:
    """Whether some try may have handed these bytes over."""
    if email.attempts > 1:
        return True
    return any(line.what not in ("rendered", "rewritten") for line in ledger.lines(tx, [email.id]).get(email.id, []))


def _stored(tx: Tx, emails: Collection[OutboxRow], unfilled: Contents) -> list[Stored]:
    returns = {email.id: LinkKey(Purpose.BOUNCE, email.person_id, outbox_id=email.id) for email in emails}
    bounces = links.find_all(tx, returns.values())
    linked = links.read_all(tx, {row for email in emails for row in unfilled[email.id].rows})
    readers = people.read_all(tx, {email.person_id for email in emails})
    return [
        Stored(
            email,
            unfilled[email.id],
            outgoing_content.address_of(readers[email.person_id]),
            bounces[returns[email.id]],
            # Nobody else's links have any business in a mail: without its generation a place cannot be filled.
            {
                row: linked[row].generation
                for row in unfilled[email.id].rows
                if linked[row].person_id == email.person_id
            },
        )
        for email in emails
    ]


def _digest(email: OutboxRow) -> str:
    assert email.body is not None
    return hashlib.sha256(email.body).hexdigest()[:20]
