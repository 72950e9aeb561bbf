"""Mails on their way out: leased, written once, checked once more, handed over, and written down.

    claim      a lease, which counts as an attempt
    write      links and promise in one transaction, the words read in another, the bytes kept in a third
    check      under the game's lock: a mail whose turn is over is superseded, one that its reader does not want waits
    send       outside of any transaction
    record     what became of it, with a line in the ledger; a turn's clock starts

A crash between any two steps repeats the steps and sends the same bytes under the same name, so that a mail program shows
one mail. Once a mail may have left, it is never written anew. This module must never store or log a token.
"""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog

from pbem import faults
from pbem.config import Config
from pbem.domain.errors import BadInput
from pbem.links import Purpose
from pbem.mail.compose import Letterhead, compose
from pbem.mail.mailbox import LocalMailbox
from pbem.mail.send import Outcome, Parcel, Relay, Result, Session, Transport
from pbem.mail.throttle import Throttle
from pbem.service import news, stops, timekeeping, wishes
from pbem.service.house import House
from pbem.store import games, links, outbox, people
from pbem.store.database import Tx
from pbem.store.links import Meant
from pbem.store.outbox import OutboxRow

if TYPE_CHECKING:
    from pbem.mail.sign import Signer

LEASE: Final = timedelta(minutes=5)
"""So long nobody else sends a claimed mail. The sender stops at half of it, as long as a relay may take to answer."""

BATCH: Final = 20
TRIES: Final = 10

_STEPS: Final = tuple(timedelta(seconds=each) for each in (30, 60, 120, 300, 600, 1800, 3600, 7200))
"""How long to wait after each try; the last one again and again."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Post:
    """What one process sends mails with. It remembers for how long the relay has been away."""

    letterhead: Letterhead
    transport: Transport
    throttle: Throttle = field(default_factory=Throttle)
    signer: "Signer | None" = None
    failures: int = 0
    rests_until: datetime | None = None


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
        config.site.name, config.base_url, config.mail.domain, config.mail.sender, config.site.contact
    )
    signer = signer_of(config)
    if config.smtp is None:
        return Post(letterhead, mailbox_of(config), signer=signer)
    return Post(letterhead, Relay(config.smtp), Throttle(config.mail.per_second, config.mail.per_domain), signer)


def signer_of(config: Config) -> "Signer | None":
    """What signs our mails, if there is a key for it."""
    if config.dkim is None:
        return None
    try:
        from pbem.mail.sign import signer
    except ImportError:
        what = "Mails cannot be signed: the library for it is not installed."
        raise BadInput(
            what, remedy="Install it with pbem's extra `dkim`, or take PBEM_DKIM_PRIVATE_KEY away."
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
    rows = house.write(lambda tx: outbox.claim(tx, started, until, limit))
    with post.transport.session() as session:
        for place, row in enumerate(rows):
            if house.now() >= started + LEASE / 2 or not _deliver_one(house, post, session, row, done):
                _give_back(house, rows[place:])
                break
    return done


def _deliver_one(house: House, post: Post, session: Session, row: OutboxRow, done: Delivered) -> bool:
    """One mail; False if it, and those after it, cannot be sent just now, by no fault of theirs."""
    if row.attempts > TRIES:
        house.write(lambda tx: _park(tx, house, row, "its sender has failed too often"))
        done.given_up += 1
        return True
    try:
        parcel = _parcel(house, post, row)
    except Exception as error:  # noqa: BLE001 - a mail that cannot be written must not hold up the others
        _log.exception("mail_not_written", mail=row.id, kind=row.kind, attempts=row.attempts)
        said = f"it could not be written ({type(error).__name__})"
        _count(done, house.write(lambda tx: _postpone(tx, house, row, said)))
        return True
    if parcel is None:
        done.superseded += 1
        return True
    wait = post.throttle.wait(parcel.recipient.rpartition("@")[2].lower(), house.now())
    if wait:
        house.write(lambda tx: outbox.release(tx, row.id, house.now() + wait))
        done.postponed += 1
        return True
    outcome = session.send(parcel)
    faults.point("mail.handed_over")
    if outcome.result is Result.DOWN:
        _rest(house, post, outcome)
        return False
    post.failures, post.rests_until = 0, None
    _count(done, house.write(lambda tx: _record(tx, house, row, outcome)))
    return True


def _parcel(house: House, post: Post, row: OutboxRow) -> Parcel | None:
    """The mail as it is sent, written if it never was; None if it is not worth sending any more."""
    kept = house.write(lambda tx: _checked(tx, house, post, row))
    if kept is None:
        return None
    if kept.body is None:
        kept = _written(house, post, kept)
        if kept is None:
            return None
    return _filled(house, post, kept)


def _checked(tx: Tx, house: House, post: Post, row: OutboxRow) -> OutboxRow | None:
    """The mail as it is now, if it is still ours and worth sending; without its bytes if they have to be written anew."""
    kept = _ours(tx, house, row)
    if kept is None or not wishes.may_leave_in(tx, house, kept):
        return None
    if kept.body is None:
        return kept
    # Every mail has a link; one without places that we know was written with a key that was revoked since.
    if not house.keys.placeholders(kept.body):
        why = "its links were made with a key that is gone"
    elif not _promises_rightly(tx, house, kept) and not _may_have_left(tx, kept):
        why = "its deadline would not have been right any more"
    else:
        return kept
    outbox.note(tx, kept.id, house.now(), "rewritten", why)
    outbox.change(tx, kept.id, body=None, message_id=None)
    return replace(kept, body=None, message_id=None)


def _promises_rightly(tx: Tx, house: House, row: OutboxRow) -> bool:
    """Whether the moment that a turn's mail names is still near enough to the truth."""
    if row.kind != "turn" or row.game_id is None or row.window is None or row.seat is None:
        return True
    return timekeeping.still_promised(tx, house, games.read(tx, row.game_id), row.window, row.seat)


def _ours(tx: Tx, house: House, row: OutboxRow) -> OutboxRow | None:
    """The mail as it is now, under its game's lock; None if somebody else has it, or it was or is superseded."""
    if row.game_id is not None:
        games.lock(tx, row.game_id)
    kept = outbox.read(tx, row.id)
    if kept is None or kept.status != "queued" or kept.claimed_until != row.claimed_until:
        return None
    why = news.why_outdated(tx, kept)
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


def _written(house: House, post: Post, row: OutboxRow) -> OutboxRow | None:
    """Write a mail and keep its bytes, unless somebody else was faster or it is outdated by now."""
    now = house.now()
    ready = house.write(lambda tx: _ready(tx, house, row, now))
    if ready is None:
        return None
    with house.store.read() as tx:
        words = news.words_in(tx, house, post.letterhead, row, ready, now)
    body = compose(post.letterhead, words)
    return house.write(lambda tx: _keep(tx, house, row, body, words.thread.message_id, now))


def _ready(tx: Tx, house: House, row: OutboxRow, now: datetime) -> news.Ready | None:
    if _ours(tx, house, row) is None:
        return None
    if row.game_id is None:
        people.lock(tx, row.person_id)
    return news.make_ready_in(tx, house, row, now)


def _keep(tx: Tx, house: House, row: OutboxRow, body: bytes, name: str, now: datetime) -> OutboxRow | None:
    kept = _ours(tx, house, row)
    if kept is None:
        return None
    outbox.change(tx, row.id, body=body, message_id=name, rendered_at=now)
    outbox.note(tx, row.id, now, "rendered", hashlib.sha256(body).hexdigest()[:20])
    return replace(kept, body=body, message_id=name, rendered_at=now)


def _filled(house: House, post: Post, row: OutboxRow) -> Parcel:
    """The bytes with tokens in their places: those of the mail's reader and of nobody else."""
    assert row.body is not None
    with house.store.read() as tx:
        person = people.read(tx, row.person_id)
        generations = links.generations(tx, house.keys.placeholders(row.body), row.person_id)
        bounce = links.find(tx, Meant(Purpose.BOUNCE, row.person_id, outbox_id=row.id))
    assert bounce is not None, "made when the mail was written"
    returns = house.keys.make(Purpose.BOUNCE, bounce.id, bounce.generation)
    content = house.keys.fill(row.body, generations)
    if post.signer is not None:
        assert row.rendered_at is not None, "kept with the bytes"
        content = post.signer.signed(content, row.rendered_at)
    return Parcel(
        name=f"m{row.id}",
        sender=f"b+{returns}@{post.letterhead.domain}",
        recipient=news.address_of(person),
        content=content,
    )


def _record(tx: Tx, house: House, row: OutboxRow, outcome: Outcome) -> Result | None:
    """Write down what became of a mail; None if it waits for another try."""
    now = house.now()
    if row.game_id is not None:
        games.lock(tx, row.game_id)
    match outcome.result:
        case Result.ACCEPTED:
            outbox.change(tx, row.id, status="sent", claimed_until=None, accepted_at=row.accepted_at or now)
            outbox.note(tx, row.id, now, "accepted", outcome.said)
            if stops.address_reached(tx, house, row.person_id):
                outbox.note(tx, row.id, now, "reached", "the address can be reached again")
            timekeeping.mail_accepted(tx, house, row, now)
            return outcome.result
        case Result.REFUSED_RECIPIENT:
            outbox.change(tx, row.id, status="undeliverable", claimed_until=None)
            outbox.note(tx, row.id, now, "undeliverable", outcome.said)
            stops.address_failed(tx, house, row.person_id, outcome.said)
            return outcome.result
        case Result.REFUSED_MESSAGE:
            _log.error("mail_refused", mail=row.id, kind=row.kind, said=outcome.said)
            _park(tx, house, row, outcome.said)
            return outcome.result
    return _postpone(tx, house, row, outcome.said)


def _postpone(tx: Tx, house: House, row: OutboxRow, said: str) -> Result | None:
    """Try again later, or never again if that was the last try."""
    if row.attempts >= TRIES:
        _log.error("mail_parked", mail=row.id, kind=row.kind, attempts=row.attempts)
        _park(tx, house, row, said)
        return Result.REFUSED_MESSAGE
    now = house.now()
    outbox.change(tx, row.id, claimed_until=None, due_at=now + _jittered(house, row.attempts))
    outbox.note(tx, row.id, now, "postponed", said)
    return None


def _park(tx: Tx, house: House, row: OutboxRow, said: str) -> None:
    outbox.change(tx, row.id, status="parked", claimed_until=None)
    outbox.note(tx, row.id, house.now(), "parked", said)


def _rest(house: House, post: Post, outcome: Outcome) -> None:
    """Leave the relay alone for a while: it is away, and no mail is to blame."""
    post.failures += 1
    post.rests_until = house.now() + _jittered(house, min(post.failures, 5))
    _log.warning("relay_down", failures=post.failures, said=outcome.said)


def _give_back(house: House, rows: list[OutboxRow]) -> None:
    now = house.now()

    def given(tx: Tx) -> None:
        for row in rows:
            outbox.release(tx, row.id, now)

    house.write(given)


def _jittered(house: House, attempt: int) -> timedelta:
    """How long to wait after this attempt: a tenth more or less, so that not all come back at one moment."""
    step = _STEPS[min(attempt, len(_STEPS)) - 1]
    return step * (0.9 + 0.2 * int.from_bytes(house.randomness.bytes(2)) / 0xFFFF)


def _count(done: Delivered, result: Result | None) -> None:
    if result is None:
        done.postponed += 1
    elif result is Result.ACCEPTED:
        done.accepted += 1
    else:
        done.given_up += 1
