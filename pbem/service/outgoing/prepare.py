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
from pbem.store.links import LinkRow, Meant
from pbem.store.outbox import OutboxRow
from pbem.tokens import Purpose, Unfilled

Contents = Mapping[int, Unfilled]
"""The bytes of mails, by the mails' numbers."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A mail whose bytes are kept, with what is missing in them: its reader's links, and where it goes and comes back."""

    mail: OutboxRow
    content: Unfilled
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
        for mail in found.unwritten:
            words = outgoing_content.content_of(tx, server, letterhead, mail, found.ready[mail.id], now)
            body = compose(letterhead, words)
            written.append(replace(mail, body=body, message_id=words.thread.message_id, rendered_at=now))
    kept = server.run(_keep, written, now)
    return sorted(found.stored + kept, key=lambda stored: (stored.mail.due_at, stored.mail.id))


def _check(tx: Tx, server: Server, rows: Collection[OutboxRow], now: datetime) -> _Checked:
    tables = games.lock_all(tx, {row.game_id for row in rows if row.game_id is not None})
    worthy = _worth_sending(tx, server, _claimed(tx, rows), tables)
    leaving = preferences.may_leave(tx, server, worthy, tables)
    unfilled = {mail.id: server.keys.unfilled(mail.body) for mail in leaving if mail.body is not None}
    unwritten = _unwritten(tx, server, leaving, unfilled, tables, now)
    for person_id in sorted({mail.person_id for mail in unwritten if mail.game_id is None}):
        people.lock(tx, person_id)
    ready = make_all(tx, server, unwritten, tables, now)
    to_write = {mail.id for mail in unwritten}
    stored = _stored(tx, [mail for mail in leaving if mail.id not in to_write], unfilled)
    return _Checked(stored, unwritten, ready)


def _keep(tx: Tx, server: Server, written: Collection[OutboxRow], now: datetime) -> list[Stored]:
    """Keep the bytes of mails, unless somebody else was faster or they are outdated by now."""
    tables = games.lock_all(tx, {mail.game_id for mail in written if mail.game_id is not None})
    still = {mail.id for mail in _worth_sending(tx, server, _claimed(tx, written), tables)}
    kept = [mail for mail in written if mail.id in still]
    outbox.keep(tx, kept)
    ledger.note_all(tx, now, "rendered", {mail.id: _digest(mail) for mail in kept})
    return _stored(tx, kept, {mail.id: server.keys.unfilled(mail.body) for mail in kept if mail.body is not None})


def _claimed(tx: Tx, rows: Collection[OutboxRow]) -> list[OutboxRow]:
    """The mails as they are now, as far as they are still ours to send."""
    leases = {row.id: row.claimed_until for row in rows}
    kept = outbox.with_ids(tx, leases.keys())
    return [mail for mail in kept if mail.status == "queued" and mail.claimed_until == leases[mail.id]]


def _worth_sending(tx: Tx, server: Server, mails: Collection[OutboxRow], tables: Games) -> list[OutboxRow]:
    """The mails that still are; the others are superseded."""
    outdated = outgoing_outdated.why_outdated(tx, mails, tables)
    now = server.now()
    for mail_id in outdated:
        outbox.change(tx, mail_id, status="superseded", claimed_until=None)
    ledger.note_all(tx, now, "superseded", outdated)
    # They know of the turn without its mail; an answer taken back must not leave a clock that never starts.
    answered = [(mail, now) for mail in mails if outdated.get(mail.id) == outgoing_outdated.ANSWERED]
    deadlines.mails_accepted(tx, server, tables, answered)
    return [mail for mail in mails if mail.id not in outdated]


def _unwritten(
    tx: Tx, server: Server, mails: Collection[OutboxRow], unfilled: Contents, tables: Games, now: datetime
) -> list[OutboxRow]:
    """The mails that have to be written: for the first time, or because the bytes that are kept must not leave any more."""
    stale = _stale(tx, server, [mail for mail in mails if mail.body is not None], unfilled, tables)
    for mail_id in stale:
        outbox.change(tx, mail_id, body=None, message_id=None)
    ledger.note_all(tx, now, "rewritten", stale)
    return [replace(mail, body=None, message_id=None) for mail in mails if mail.body is None or mail.id in stale]


def _stale(tx: Tx, server: Server, mails: Collection[OutboxRow], unfilled: Contents, tables: Games) -> dict[int, str]:
    """Which mails must not leave as they are kept, and why. Once a mail may have left, another would be a second one."""
    turns = {mail.id: turn for mail in mails if (turn := _turn(mail)) is not None}
    broken = deadlines.broken_promises(tx, server, tables, set(turns.values()))
    found = {}
    for mail in mails:
        # Every mail has a link; one without places that we know was written with a key that was revoked since.
        if not unfilled[mail.id].rows:
            found[mail.id] = "its links were made with a key that is gone"
        elif turns.get(mail.id) in broken and not _may_have_left(tx, mail):
            found[mail.id] = "its deadline would not have been right any more"
    return found


def _turn(mail: OutboxRow) -> Key | None:
    if mail.kind != "turn" or mail.game_id is None or mail.turn is None or mail.seat is None:
        return None
    return mail.game_id, mail.turn, mail.seat


def _may_have_left(tx: Tx, mail: OutboxRow) -> bool:
    """Whether some try may have handed these bytes over."""
    if mail.attempts > 1:
        return True
    return any(line.what not in ("rendered", "rewritten") for line in ledger.lines(tx, [mail.id]).get(mail.id, []))


def _stored(tx: Tx, mails: Collection[OutboxRow], unfilled: Contents) -> list[Stored]:
    returns = {mail.id: Meant(Purpose.BOUNCE, mail.person_id, outbox_id=mail.id) for mail in mails}
    bounces = links.find_all(tx, returns.values())
    linked = links.read_all(tx, {row for mail in mails for row in unfilled[mail.id].rows})
    readers = people.read_all(tx, {mail.person_id for mail in mails})
    return [
        Stored(
            mail,
            unfilled[mail.id],
            outgoing_content.address_of(readers[mail.person_id]),
            bounces[returns[mail.id]],
            # Nobody else's links have any business in a mail: without its generation a place cannot be filled.
            {row: linked[row].generation for row in unfilled[mail.id].rows if linked[row].person_id == mail.person_id},
        )
        for mail in mails
    ]


def _digest(mail: OutboxRow) -> str:
    assert mail.body is not None
    return hashlib.sha256(mail.body).hexdigest()[:20]
