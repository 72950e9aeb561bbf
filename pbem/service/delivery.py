"""Mails on their way out: leased, written once, checked once more, handed over, and written down.

    claim      a lease, which counts as an attempt
    check      under the game's lock: a mail whose turn is over is superseded, one that its reader does not want waits
    write      links and promise with the check, the words read in another transaction, the bytes kept in a third, which
               checks once more
    send       outside of any transaction, as is filling in the links and signing
    record     what became of it, with a line in the ledger; a turn's clock starts

A crash between any two steps repeats the steps and sends the same bytes under the same name, so that a mail program shows
one mail. Once a mail may have left, it is never written anew. This module must never store or log a token.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog

from pbem import faults
from pbem.config import Config
from pbem.domain.errors import BadInput
from pbem.domain.speech import gettext as _
from pbem.links import Purpose
from pbem.mail.compose import Letterhead, compose
from pbem.mail.mailbox import LocalMailbox
from pbem.mail.send import Outcome, Parcel, Relay, Result, Session, Transport
from pbem.mail.throttle import Throttle
from pbem.service import alarms, answers, news, outcomes, shares, timekeeping, wishes
from pbem.service.alarms import What
from pbem.service.house import House
from pbem.service.ready import Ready, make_ready_in
from pbem.store import games, links, outbox, people, quotas
from pbem.store.database import Tx
from pbem.store.links import LinkRow, Meant
from pbem.store.outbox import OutboxRow

if TYPE_CHECKING:
    from pbem.mail.sign import Signer

LEASE: Final = timedelta(minutes=5)
"""So long nobody else sends a claimed mail. The sender stops at half of it, as long as a relay may take to answer."""

BATCH: Final = 20

IN_A_ROW: Final = 5
"""After so many mails in a row that did not get through, a domain is left alone for a while; the relay after as many breaks."""

RESTS: Final = timedelta(minutes=5)
"""So long a domain is left alone."""

_BROKEN: Final = ""
"""Under this name broken connections are counted, which are no domain's."""

ALARMED: Final = timedelta(minutes=5)
"""A relay that is away for so long is told to the organisers."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Post:
    """What one process sends mails with. It remembers since when the relay has been away, and who was in the way lately.

    `in_a_row` counts the mails to each domain that did not get through one after the other; under no name, broken
    connections.
    """

    letterhead: Letterhead
    transport: Transport
    throttle: Throttle = field(default_factory=Throttle)
    signer: "Signer | None" = None
    failures: int = 0
    rests_until: datetime | None = None
    down_since: datetime | None = None
    alarmed: bool = False
    in_a_row: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Delivered:
    """What one look at the queue did."""

    accepted: int = 0
    superseded: int = 0
    postponed: int = 0
    given_up: int = 0

    @property
    def dealt_with(self) -> int:
        """How many mails it has done something about."""
        return self.accepted + self.superseded + self.postponed + self.given_up


def post_of(config: Config) -> Post:
    """What to send with, by the settings: the relay, or without one the local mailbox."""
    letterhead = Letterhead(
        config.site.name,
        config.base_url,
        config.mail.domain,
        config.mail.sender,
        config.site.contact,
        replies=config.inbound.replies,
    )
    signer = signer_of(config)
    if config.smtp is None:
        return Post(letterhead, mailbox_of(config), signer=signer)
    return Post(letterhead, Relay(config.smtp), _throttle(config), signer)


def signer_of(config: Config) -> "Signer | None":
    """What signs our mails, if there is a key for it."""
    if config.dkim is None:
        return None
    try:
        from pbem.mail.sign import signer
    except ImportError:
        what = "Mails cannot be signed: the library for it is not installed."
        raise BadInput(
            what, remedy=_("Install it with pbem's extra `dkim`, or take PBEM_DKIM_PRIVATE_KEY away.")
        ) from None
    return signer(config.dkim)


def mailbox_of(config: Config) -> LocalMailbox:
    """Where mails are kept on a server without a relay."""
    return LocalMailbox(config.data_dir / "mailbox")


def deliver(house: House, post: Post, limit: int = BATCH) -> Delivered:
    """Send the mails that are due, as many as one look takes."""
    done, started = Delivered(), house.now()
    if post.rests_until is not None and started < post.rests_until:
        return done
    until = started + LEASE
    rows, waiting = house.write(lambda tx: shares.claim_in(tx, post.throttle, started, until, limit))
    done.postponed += waiting
    with post.transport.session() as session:
        for place, row in enumerate(rows):
            if house.now() >= started + LEASE / 2 or not _deliver_one(house, post, session, row, done):
                _give_back(house, rows[place:])
                break
            if post.rests_until is not None:
                _give_back(house, rows[place + 1 :])
                break
    return done


def _deliver_one(house: House, post: Post, session: Session, row: OutboxRow, done: Delivered) -> bool:
    """One mail; False if it, and those after it, cannot be sent just now, by no fault of theirs."""
    if row.attempts > outcomes.TRIES:
        house.write(lambda tx: outcomes.park_in(tx, house, row, "its sender has failed too often"))
        done.given_up += 1
        return True
    try:
        parcel = _parcel(house, post, row)
    except Exception as error:  # noqa: BLE001 - a mail that cannot be written must not hold up the others
        _log.exception("mail_not_written", mail=row.id, kind=row.kind, attempts=row.attempts)
        said = f"it could not be written ({type(error).__name__})"
        _count(done, house.write(lambda tx: outcomes.postpone_in(tx, house, row, said)))
        return True
    if parcel is None:
        done.superseded += 1
        return True
    assert row.claimed_until is not None
    if house.now() >= row.claimed_until:
        # Writing took so long that the lease ran out: whoever has it now sends this mail.
        return False
    outcome = session.send(parcel)
    faults.point("mail.handed_over")
    if outcome.result is Result.DOWN:
        _rest(house, post, outcome)
        return False
    domain = _domain(parcel.recipient)
    _count(done, house.write(lambda tx: outcomes.record_in(tx, house, row, outcome, domain)))
    _watch(house, post, outcome, domain)
    return True


def _parcel(house: House, post: Post, row: OutboxRow) -> Parcel | None:
    """The mail as it is sent, written if it never was; None if it does not leave now."""
    now = house.now()
    found = house.write(lambda tx: _checked(tx, house, row, now))
    if isinstance(found, _Unwritten):
        mail, ready = found.mail, found.ready
        with house.store.read() as tx:
            words = news.words_in(tx, house, post.letterhead, mail, ready, now)
        body = compose(post.letterhead, words)
        found = house.write(lambda tx: _kept(tx, house, mail, body, words.thread.message_id, now))
    return None if found is None else _filled(house, post, found)


@dataclass(frozen=True, slots=True)
class _Unwritten:
    """A mail that is to be written, with its links and the moment that it promises."""

    mail: OutboxRow
    ready: Ready


@dataclass(frozen=True, slots=True)
class _Stored:
    """A mail whose bytes are kept, with what is missing in them: its reader's links, and where it goes and comes back."""

    mail: OutboxRow
    recipient: str
    bounce: LinkRow
    generations: Mapping[int, int]


def _checked(tx: Tx, house: House, row: OutboxRow, now: datetime) -> _Unwritten | _Stored | None:
    """The mail as it is now, if it is still ours and worth sending, or what it takes to write it, for the first time or anew."""
    mail = _ours(tx, house, row)
    if mail is None or not wishes.may_leave_in(tx, house, mail):
        return None
    if mail.body is not None:
        if (why := _why_anew(tx, house, mail)) is None:
            return _stored(tx, house, mail)
        outbox.note(tx, mail.id, now, "rewritten", why)
        outbox.change(tx, mail.id, body=None, message_id=None)
        mail = replace(mail, body=None, message_id=None)
    if mail.game_id is None:
        people.lock(tx, mail.person_id)
    return _Unwritten(mail, make_ready_in(tx, house, mail, now))


def _why_anew(tx: Tx, house: House, mail: OutboxRow) -> str | None:
    """Why the bytes that are kept must not leave any more, and others should; None if they may."""
    assert mail.body is not None
    # Every mail has a link; one without places that we know was written with a key that was revoked since.
    if not house.keys.placeholders(mail.body):
        return "its links were made with a key that is gone"
    if not _promises_rightly(tx, house, mail) and not _may_have_left(tx, mail):
        return "its deadline would not have been right any more"
    return None


def _promises_rightly(tx: Tx, house: House, row: OutboxRow) -> bool:
    """Whether the moment that a turn's mail names is still near enough to the truth."""
    if row.kind != "turn" or row.game_id is None or row.window is None or row.seat is None:
        return True
    return timekeeping.still_promised(tx, house, row.game_id, row.window, row.seat)


def _ours(tx: Tx, house: House, row: OutboxRow) -> OutboxRow | None:
    """The mail as it is now, under its game's lock; None if somebody else has it, or it was or is superseded."""
    game = None if row.game_id is None else games.lock(tx, row.game_id)
    kept = outbox.read(tx, row.id)
    if kept is None or kept.status != "queued" or kept.claimed_until != row.claimed_until:
        return None
    why = news.why_outdated(tx, kept, game)
    if why is None:
        return kept
    now = house.now()
    outbox.change(tx, kept.id, status="superseded", claimed_until=None)
    outbox.note(tx, kept.id, now, "superseded", why)
    if why == news.ANSWERED:
        # They know of the turn without its mail; an answer taken back must not leave a clock that never starts.
        timekeeping.mail_accepted(tx, house, kept, now)
    return None


def _may_have_left(tx: Tx, row: OutboxRow) -> bool:
    """Whether some try may have handed these bytes over: then another mail under their name would be a second one."""
    if row.attempts > 1:
        return True
    return any(line.what not in ("rendered", "rewritten") for line in outbox.lines(tx, [row.id]).get(row.id, []))


def _kept(tx: Tx, house: House, row: OutboxRow, body: bytes, name: str, now: datetime) -> _Stored | None:
    """Keep the bytes of a mail, unless somebody else was faster or it is outdated by now."""
    mail = _ours(tx, house, row)
    if mail is None:
        return None
    outbox.change(tx, mail.id, body=body, message_id=name, rendered_at=now)
    outbox.note(tx, mail.id, now, "rendered", hashlib.sha256(body).hexdigest()[:20])
    return _stored(tx, house, replace(mail, body=body, message_id=name, rendered_at=now))


def _stored(tx: Tx, house: House, mail: OutboxRow) -> _Stored:
    assert mail.body is not None
    bounce = links.find(tx, Meant(Purpose.BOUNCE, mail.person_id, outbox_id=mail.id))
    assert bounce is not None, "made when the mail was written"
    generations = links.generations(tx, house.keys.placeholders(mail.body), mail.person_id)
    return _Stored(mail, news.address_of(people.read(tx, mail.person_id)), bounce, generations)


def _filled(house: House, post: Post, stored: _Stored) -> Parcel:
    """The bytes with tokens in their places, those of the mail's reader and of nobody else, and signed."""
    mail = stored.mail
    assert mail.body is not None
    assert mail.rendered_at is not None, "kept with the bytes"
    content = house.keys.fill(mail.body, stored.generations)
    if post.signer is not None:
        content = post.signer.signed(content, mail.rendered_at)
    returns = house.keys.make(Purpose.BOUNCE, stored.bounce.id, stored.bounce.generation)
    return Parcel(
        name=f"m{mail.id}",
        # An answer has no return address, so that no program can answer it in turn (RFC 3834).
        sender="" if mail.kind in answers.ANSWERS else f"b+{returns}@{post.letterhead.domain}",
        recipient=stored.recipient,
        content=content,
    )


def _watch(house: House, post: Post, outcome: Outcome, domain: str) -> None:
    """Leave the relay alone, or a domain, where one mail after the other does not get through."""
    lost = outcome.result is Result.LOST
    if not lost:
        post.failures, post.rests_until, post.down_since, post.alarmed = 0, None, None, False
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
        _rest(house, post, outcome)
        return
    until = house.now() + RESTS
    house.write(lambda tx: quotas.keep(tx, {domain: until}))
    _log.warning("domain_rests", domain=domain, said=outcome.said)


def _rest(house: House, post: Post, outcome: Outcome) -> None:
    """Leave the relay alone for a while: it is away, and no mail is to blame. The organisers hear of it if that lasts."""
    now = house.now()
    post.failures += 1
    post.rests_until = now + outcomes.jittered(house, min(post.failures, 5))
    post.down_since = post.down_since or now
    _log.warning("relay_down", failures=post.failures, said=outcome.said)
    if now - post.down_since >= ALARMED and not post.alarmed:
        post.alarmed = True
        since = f"{post.down_since:%Y-%m-%d %H:%M} UTC"
        _log.error("relay_away", since=post.down_since, said=outcome.said)
        said = f"The relay has taken no mail since {since}. It said: {outcome.said}"
        house.write(lambda tx: alarms.raise_in(tx, house, What.RELAY, said))


def _give_back(house: House, rows: list[OutboxRow]) -> None:
    now = house.now()

    def given(tx: Tx) -> None:
        for row in rows:
            # What is not ours any more is not ours to give back.
            if row.claimed_until is not None and now < row.claimed_until:
                outbox.release(tx, row, now)

    house.write(given)


def _count(done: Delivered, result: Result | None) -> None:
    if result is None:
        done.postponed += 1
    elif result is Result.ACCEPTED:
        done.accepted += 1
    else:
        done.given_up += 1


def _throttle(config: Config) -> Throttle:
    mail = config.mail
    return Throttle(mail.per_second, mail.per_domain, mail.new_domain)


def _domain(address: str) -> str:
    return address.rpartition("@")[2].lower()
