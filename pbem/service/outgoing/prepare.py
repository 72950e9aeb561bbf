"""Claimed emails made ready to leave: each is checked, written if it was not, stored, and checked again.

    check   it is still claimed, still worth sending, and its reader wants it now; stored bytes still promise the right
            deadline. What has to be written becomes a draft: its links are made and its deadline is promised.
    write   the contents are read, and put into templates, outside of that transaction
    store   after a second check: from then on every try sends these bytes. If someone was deleted meanwhile, it is written again

A batch takes as few statements as one email, under the locks of its games in the order of their ids. This module must never
store or log a token.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.delivery import URGENT, Action, Verdict, Way, judge
from pbem.domain.duration import DAY
from pbem.domain.guests import is_guest
from pbem.domain.localtime import stored_zone
from pbem.domain.outdated import ANSWERED
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.domain.topics import read_topics, topic_of
from pbem.mail.write.compose import Letterhead, compose
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import content, email_links, outdated
from pbem.service.outgoing.content import Draft, SeatLinks
from pbem.service.server import Server
from pbem.store import deletions, email_copies, games, ledger, limits, links, outbox, people, preferences, talk
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LIFETIMES, LinkKey, LinkRow
from pbem.store.outbox import EmailRow
from pbem.store.preferences import PreferenceRow
from pbem.tokens import EmailTemplate, Purpose

ASKED_FOR: Final = "at_wish"
"""The fact of an email that its reader has just asked for: no preference holds it back."""

BY_HAND: Final = "by_hand"
"""The fact of an email that an organiser has sent again: it is tried although the relay has refused its address."""

_RATED_AFTER: Final = timedelta(seconds=10)
"""When an email with a result is tried again whose ratings are still being worked out."""

_RATED_WITHIN: Final = timedelta(minutes=10)
"""How long such an email waits; then it leaves without them."""

_CANNOT_WAIT: Final = frozenset(
    {
        "replaced",
        "seat_offered",
        "seat_taken",
        "reservation_lost",
        "round",
        "over",
        "place",
        "no show",
        "removed",
        "called off",
    }
)
"""Notices that take a seat away: its player must hear of it in time to come back. And those of a reservation in vain, and of a
tournament that begins a round, ends, lets someone in or out, or goes on without a no-show."""

_BY_OTHERS: Final = frozenset(
    {EmailKind.NOTICE, EmailKind.LEFT, EmailKind.DECLINED, EmailKind.MENTION, EmailKind.TOURNAMENT}
)
"""Kinds that others at a table cause, and could cause again and again."""

NEWS_A_DAY: Final = 20
"""Emails of each of these kinds to one person about one table in a day. The table's page has all of it."""

NEWS_OF_ALL_A_DAY: Final = 60
"""The same about all their tables: someone can be at many of them with the same player."""

_HELD_BACK: Final = {
    Action.DIGEST: (EmailStatus.DIGEST, "waits", "for its reader's digest"),
    Action.WITHHOLD: (EmailStatus.WITHHELD, "withheld", "its reader doesn't want it"),
    None: (EmailStatus.UNDELIVERABLE, "undeliverable", "email to this address fails at the moment"),
}
"""The status and the line in the ledger of an email that does not leave; None is for an address that fails."""


@dataclass(frozen=True, slots=True)
class PreparedEmail:
    """An email whose bytes are stored, and what they lack until it is sent: tokens, which nothing may store, and addresses.

    `nonces` are those of its reader's links, by the row of the link.
    """

    email: EmailRow
    template: EmailTemplate
    recipient: str
    bounce: LinkRow
    nonces: Mapping[int, int]


def prepare(
    server: Server, letterhead: Letterhead, claimed: Collection[EmailRow], now: datetime
) -> list[PreparedEmail]:
    """Prepare those of these claimed emails that leave now; for the others, the ledger says why not."""
    prepared, drafts = server.run(_check, claimed, now)
    while drafts:
        written, deleted = _write(server, letterhead, drafts, now)
        stored = server.run(_store, written, now, deleted)
        if stored is not None:
            prepared += stored
            break
    return sorted(prepared, key=lambda ready: (ready.email.rank, ready.email.due_at, ready.email.id))


def _write(
    server: Server, letterhead: Letterhead, drafts: Collection[Draft], now: datetime
) -> tuple[list[EmailRow], int]:
    """These emails with their bytes, and how many people were deleted before their contents were read."""
    with server.store.read(ahead=True) as tx:
        deleted = deletions.count(tx)
        contents = content.read_contents(tx, server, letterhead, drafts, now)
    written = [
        replace(
            draft.email,
            body=compose(letterhead, says),
            message_id=says.thread.message_id,
            rendered_at=now,
            lines=draft.lines,
        )
        for draft, says in zip(drafts, contents, strict=True)
    ]
    return written, deleted


def make_drafts(tx: Tx, server: Server, emails: Collection[EmailRow], games: Games, now: datetime) -> list[Draft]:
    """Make the links of emails and promise their deadlines. The games are locked, or the readers where there is no game."""
    seats = email_links.seats_spoken_to(tx, emails)
    own_seats = {email.id: email_links.seats_listed(tx, email) for email in emails}
    keys = {email.id: email_links.link_keys(email, games, seats.get(email.id)) for email in emails}
    expiries: dict[LinkKey, datetime | None] = {}
    for email in emails:
        game = None if email.game_id is None else games[email.game_id]
        for of_links in (keys[email.id], *own_seats[email.id].values()):
            expiries |= {key: email_links.expiry_of(purpose, game) for purpose, key in of_links.items()}
        if email.kind == EmailKind.GROUP_INVITATION:
            # As long as one to a table.
            expiries[keys[email.id][Purpose.YES]] = now + LIFETIMES[Purpose.CONFIRM]
    made = links.make_all(tx, server.randomness, expiries, now)
    turns = {
        email.id: key
        for email in emails
        if Purpose.SEAT in keys[email.id] and (key := outdated.turn_key(email)) is not None
    }
    promised = deadlines.promise(tx, games, set(turns.values()), now)
    lines = talk.counts(tx, games)
    return [
        Draft(
            email,
            {purpose: made[key] for purpose, key in keys[email.id].items()},
            seats.get(email.id) if Purpose.SEAT in keys[email.id] else None,
            promised[turns[email.id]] if email.id in turns else None,
            tuple(
                SeatLinks(game_id, seat, {purpose: made[key] for purpose, key in of_links.items()})
                for (game_id, seat), of_links in own_seats[email.id].items()
            ),
            0 if email.game_id is None else lines[email.game_id],
        )
        for email in emails
    ]


def _check(
    tx: Tx, server: Server, claimed: Collection[EmailRow], now: datetime
) -> tuple[list[PreparedEmail], list[Draft]]:
    """The emails of a batch that leave now: those with stored bytes, and those to be written."""
    locked = games.lock_all(tx, {row.game_id for row in claimed if row.game_id is not None})
    emails = _rated(tx, _worth_sending(tx, server, claimed, locked, now), locked, now)
    emails = _not_postponed(tx, server, emails, locked, now)
    templates = {email.id: server.keys.template(email.body) for email in emails if email.body is not None}
    linked = _linked(tx, templates)
    stale = outdated.why_stale(tx, server, emails, templates, linked, locked)
    for email_id in stale:
        outbox.change(tx, email_id, body=None, message_id=None)
    ledger.note_all(tx, now, "rewritten", stale)
    unwritten = [email for email in emails if email.body is None]
    unwritten += [replace(email, body=None, message_id=None) for email in emails if email.id in stale]
    for person_id in sorted({email.person_id for email in unwritten if email.game_id is None}):
        people.lock(tx, person_id)
    drafts = make_drafts(tx, server, unwritten, locked, now)
    stored = [email for email in emails if email.body is not None and email.id not in stale]
    return _prepared(tx, stored, templates, linked), drafts


def _store(
    tx: Tx, server: Server, written: Collection[EmailRow], now: datetime, deleted: int
) -> list[PreparedEmail] | None:
    """Store the bytes of emails, unless another worker was faster or they are outdated by now.

    None if more than `deleted` people are deleted by now: the emails may have their names, and are to be written again.
    """
    locked = games.lock_all(tx, {email.game_id for email in written if email.game_id is not None})
    if deletions.hold_off(tx) != deleted:
        return None
    worth_sending = {email.id for email in _worth_sending(tx, server, written, locked, now)}
    stored = [email for email in written if email.id in worth_sending]
    email_copies.keep(tx, stored)
    ledger.note_all(tx, now, "rendered", {email.id: _body_hash(email) for email in stored})
    templates = {email.id: server.keys.template(email.body) for email in stored if email.body is not None}
    return _prepared(tx, stored, templates, _linked(tx, templates))


def _worth_sending(
    tx: Tx, server: Server, claimed: Collection[EmailRow], games: Games, now: datetime
) -> list[EmailRow]:
    """Those of these emails, as they are now, that are still claimed and worth sending; the others are superseded."""
    held = {email.id: email.lease_id for email in claimed}
    rows = outbox.with_ids(tx, held.keys())
    emails = [email for email in rows if email.status == EmailStatus.QUEUED and email.lease_id == held[email.id]]
    reasons = outdated.why_outdated(tx, emails, games)
    for email_id in reasons:
        outbox.change(tx, email_id, status=EmailStatus.SUPERSEDED, lease_id=None)
    ledger.note_all(tx, now, "superseded", reasons)
    # They know of the turn without its email. If they take their answer back, there must be a clock that runs.
    answered = [(email, now) for email in emails if reasons.get(email.id) == ANSWERED]
    if answered:
        deadlines.emails_accepted(tx, server, games, answered)
    return [email for email in emails if email.id not in reasons]


def _rated(tx: Tx, emails: Collection[EmailRow], games: Games, now: datetime) -> list[EmailRow]:
    """The emails without those of results that change ratings, while these are being worked out: they say what changed."""
    ready = []
    for email in emails:
        game = None if email.game_id is None or email.kind != EmailKind.RESULT else games[email.game_id]
        waits = game is not None and game.rated and game.result_seq is None and now < email.queued_at + _RATED_WITHIN
        if waits:
            outbox.change(tx, email.id, due_at=now + _RATED_AFTER, lease_id=None, attempts=0)
            ledger.note(tx, email.id, now, "waits", "until the ratings are worked out")
        else:
            ready.append(email)
    return ready


def _not_postponed(tx: Tx, server: Server, emails: Collection[EmailRow], games: Games, now: datetime) -> list[EmailRow]:
    """The emails that their readers want now; the others wait, are left to a digest, or are withheld."""
    preferred = preferences.read_all(tx, {(email.person_id, email.game_id) for email in emails})
    too_many = _beyond_the_day(tx, emails, now)
    leaving = []
    for email in emails:
        if email.id in too_many:
            outbox.change(tx, email.id, status=EmailStatus.WITHHELD, lease_id=None)
            ledger.note(tx, email.id, now, "withheld", "its reader has had many such emails today")
            continue
        preference = preferred[email.person_id, email.game_id]
        verdict = _judge(email, preference, now, None if email.game_id is None else games[email.game_id])
        if verdict is not None and verdict.action is Action.SEND:
            leaving.append(email)
            continue
        _hold_back(tx, email, verdict, now)
        key = outdated.turn_key(email)
        if verdict is not None and key is not None and _goes_without(verdict, preference):
            game_id, turn, seat = key
            deadlines.start_without_mail(tx, server, games[game_id], turn, seat, email.person_id)
    return leaving


def _beyond_the_day(tx: Tx, emails: Collection[EmailRow], now: datetime) -> set[int]:
    """Those of these emails that their reader gets too many of, so that nobody can have us flood a fellow player."""
    news = {email.id: json.loads(email.facts) for email in emails if email.kind in _BY_OTHERS}
    may_wait = [
        email_id
        for email_id, facts in news.items()
        if facts.get("what") not in _CANNOT_WAIT and not facts.keys() & {ASKED_FOR, BY_HAND}
    ]
    if not may_wait:
        return set()
    today = limits.last(DAY, now)
    of_all = outbox.beyond(tx, may_wait, NEWS_OF_ALL_A_DAY, today, of_any_table=True)
    return of_all | outbox.beyond(tx, may_wait, NEWS_A_DAY, today)


def _judge(email: EmailRow, preference: PreferenceRow, now: datetime, game: GameRow | None) -> Verdict | None:
    """What becomes of an email that is due, by its reader's preferences; None if email to them fails at present."""
    facts = json.loads(email.facts)
    if email.kind in URGENT or facts.get(ASKED_FOR):
        return Verdict(Action.WITHHOLD if is_guest(preference.address) else Action.SEND)
    if preference.failing and not facts.get(BY_HAND):
        return None
    topic = topic_of(email.kind, facts.get("what", ""))
    if topic is not None and topic not in read_topics(preference.topics):
        return Verdict(Action.WITHHOLD)
    quiet = parse_quiet(preference.quiet, stored_zone(preference.zone)) if preference.quiet else None
    # A digest speaks of running games alone.
    alone = game is not None and game.status != TableStatus.PLAYING
    last = alone or bool(facts.get("last")) or facts.get("what") in _CANNOT_WAIT
    return judge(email.kind, preference.preferred, email.queued_at, now, quiet, last=last)


def _goes_without(verdict: Verdict, preference: PreferenceRow) -> bool:
    """Whether a clock starts although the email of its turn does not leave; in quiet hours it waits with the email."""
    return verdict.action is Action.WITHHOLD or preference.preferred.way is not Way.AT_ONCE


def _hold_back(tx: Tx, email: EmailRow, verdict: Verdict | None, now: datetime) -> None:
    """Note that an email does not leave now, and why."""
    if verdict is not None and verdict.action is Action.WAIT:
        # It was not tried, so this attempt does not count.
        outbox.change(tx, email.id, due_at=verdict.until, lease_id=None, attempts=0)
        ledger.note(tx, email.id, now, "waits", "as its reader preferred")
        return
    status, what, why = _HELD_BACK[None if verdict is None else verdict.action]
    outbox.change(tx, email.id, status=status, lease_id=None)
    ledger.note(tx, email.id, now, what, why)


def _linked(tx: Tx, templates: Mapping[int, EmailTemplate]) -> dict[int, LinkRow]:
    """The links in the stored bytes of emails, by their ids."""
    rows = {row for template in templates.values() for row in template.rows}
    return links.read_all(tx, rows) if rows else {}


def _prepared(
    tx: Tx, emails: Collection[EmailRow], templates: Mapping[int, EmailTemplate], linked: Mapping[int, LinkRow]
) -> list[PreparedEmail]:
    """Emails with stored bytes, and what is missing in them."""
    if not emails:
        return []
    bounces = {email.id: LinkKey(Purpose.BOUNCE, email.person_id, outbox_id=email.id) for email in emails}
    bounce_links = links.find_all(tx, bounces.values())
    readers = people.read_all(tx, {email.person_id for email in emails})
    return [
        PreparedEmail(
            email,
            templates[email.id],
            readers[email.person_id].delivery_address,
            bounce_links[bounces[email.id]],
            # Without its nonce a placeholder cannot be filled: an email never has links of another person.
            {row: linked[row].nonce for row in templates[email.id].rows if linked[row].person_id == email.person_id},
        )
        for email in emails
    ]


def _body_hash(email: EmailRow) -> str:
    assert email.body is not None
    return hashlib.sha256(email.body).hexdigest()[:20]
