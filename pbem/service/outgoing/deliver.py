"""Mails on their way out: leased, prepared, handed over, and written down.

    claim      a lease, which counts as an attempt: many mails that nobody has begun, or one that its sender has left
    prepare    checked, written and kept as bytes (`writing`): a mail whose turn is over is superseded, one that its reader
               does not want waits
    send       outside of any transaction, as is filling in the links and signing
    record     what became of it (`outcomes`); of those that were accepted, a few at a time

A crash between any two steps repeats the steps and sends the same bytes under the same name, so that a mail program shows
one mail. It repeats no more mails than are recorded together. What a sender that died has left is claimed mail by mail, when
nobody has any other mail to begin: so the next crash repeats one at most, and a mail that kills its sender again and again,
while it is written or while it is sent, takes no other with it. Once a mail may have left, it is never written anew. This
module must never store or log a token.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog

from pbem import failpoints
from pbem.config.settings import Config
from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.relay import Outcome, OutgoingEmail, Relay, Result, Session, Transport
from pbem.mail.send.throttle import Throttle
from pbem.mail.write.compose import Letterhead
from pbem.service import alarms
from pbem.service.alarms import What
from pbem.service.outgoing import outcomes, prepare, rate_limits
from pbem.service.outgoing.outcomes import Accepted
from pbem.service.outgoing.prepare import Stored
from pbem.service.server import Server
from pbem.store import outbox, quotas
from pbem.store.database import Tx
from pbem.store.outbox import OutboxRow
from pbem.tokens import Purpose

if TYPE_CHECKING:
    from pbem.mail.send.dkim import Signer

LEASE: Final = timedelta(minutes=5)
"""So long nobody else sends a claimed mail. The sender stops at half of it, as long as a relay may take to answer."""

BATCH: Final = 100
"""So many mails are claimed, prepared and sent over one connection; what does not fit into a lease is given back."""

IN_A_ROW: Final = 5
"""After so many mails in a row that did not get through, a domain is left alone for a while; the relay after as many breaks."""

RESTS: Final = timedelta(minutes=5)
"""So long a domain is left alone."""

TOGETHER: Final = 10
"""So many accepted mails are recorded in one transaction: what a sender that dies may have sent and not recorded."""

RECORDED: Final = timedelta(seconds=1)
"""So old a mail that was accepted waits for no more of them."""

_BROKEN: Final = ""
"""Under this name broken connections are counted, which are no domain's."""

ALARMED: Final = timedelta(minutes=5)
"""A relay that is away for so long is told to the organisers."""

_log = structlog.get_logger(__name__)


Sendable = tuple[OutboxRow, OutgoingEmail]
"""A mail, and its bytes as they are sent."""


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
        from pbem.mail.send.dkim import signer
    except ImportError:
        what = "Mails cannot be signed: the library for it is not installed."
        raise BadInput(
            what, remedy=_("Install it with pbem's extra `dkim`, or take PBEM_DKIM_PRIVATE_KEY away.")
        ) from None
    return signer(config.dkim)


def mailbox_of(config: Config) -> LocalMailbox:
    """Where mails are kept on a server without a relay."""
    return LocalMailbox(config.data_dir / "mailbox")


def deliver(server: Server, post: Post, limit: int = BATCH) -> Delivered:
    """Send the mails that are due, as many as one look takes."""
    done, started = Delivered(), server.now()
    if post.rests_until is not None and started < post.rests_until:
        return done
    post.rests_until = None
    until = started + LEASE

    def claimed(tx: Tx) -> tuple[list[OutboxRow], int]:
        return rate_limits.free(tx, post.throttle, outbox.claim(tx, started, until, limit), started)

    rows, waiting = server.store.write(claimed)
    done.postponed += waiting
    with post.transport.session() as session:
        _send(server, post, session, _ready_to_go(server, post, rows, done), started, done)
    return done


def _ready_to_go(server: Server, post: Post, rows: list[OutboxRow], done: Delivered) -> list[Sendable]:
    """Those of some claimed mails that leave now, as they are sent."""
    tried = [row for row in rows if row.attempts <= outcomes.TRIES]
    for row in rows:
        if row.attempts > outcomes.TRIES:
            _park(server, row)
            done.given_up += 1
    return _prepared(server, post, tried, done) if tried else []


def _prepared(server: Server, post: Post, rows: list[OutboxRow], done: Delivered) -> list[Sendable]:
    try:
        stored = prepare.prepare(server, post.letterhead, rows)
        sendable = [(each.email, _filled(server, post, each)) for each in stored]
    except Exception as error:  # noqa: BLE001 - a mail that cannot be written must not hold up the others
        if len(rows) > 1:
            # One of them has failed, and nobody knows which: each goes for itself.
            return [each for row in rows for each in _prepared(server, post, [row], done)]
        (row,) = rows
        _log.exception("mail_not_written", email=row.id, kind=row.kind, attempts=row.attempts)
        said = f"it could not be written ({type(error).__name__})"
        _count(done, server.run(outcomes.postpone, row, said))
        return []
    done.superseded += len(rows) - len(sendable)
    return sendable


def _send(
    server: Server, post: Post, session: Session, sendable: list[Sendable], started: datetime, done: Delivered
) -> None:
    """Hand mails over, one after the other, and write down what becomes of each."""
    accepted, refused = list[Accepted](), set[int]()
    for place, (email, parcel) in enumerate(sendable):
        # Writing may have taken long, too: what is left over is the next claimer's.
        if server.now() >= started + LEASE / 2:
            _give_back(server, sendable[place:])
            break
        if email.person_id in refused:
            # Whether anything more goes there is for the next look to say.
            _give_back(server, [(email, parcel)])
            continue
        outcome = session.send(parcel)
        failpoints.hit("mail.handed_over")
        if outcome.result is Result.DOWN:
            _rest(server, post, outcome)
            _give_back(server, sendable[place:])
            break
        if outcome.result in (Result.REFUSED_RECIPIENT, Result.UNABLE):
            refused.add(email.person_id)
        domain = _domain(parcel.recipient)
        if outcome.result is Result.ACCEPTED:
            done.accepted += 1
            accepted.append(Accepted(email, server.now(), domain, outcome.answer))
        else:
            _record(server, accepted)
            _count(done, _failed(server, email, outcome, domain))
        _watch(server, post, outcome, domain)
        if post.rests_until is not None:
            _give_back(server, sendable[place + 1 :])
            break
        if accepted and (len(accepted) == TOGETHER or server.now() >= accepted[0].at + RECORDED):
            _record(server, accepted)
    # Before the connection is closed, for which a relay may take its time.
    _record(server, accepted)


def _failed(server: Server, email: OutboxRow, outcome: Outcome, domain: str) -> Result | None:
    """Write down that a mail was not accepted; None if this try did not end it."""
    return server.run(outcomes.record, email, outcome, domain)


def _record(server: Server, accepted: list[Accepted]) -> None:
    """Write down that mails were accepted, and wait for none of them any more."""
    if accepted:
        server.run(outcomes.accept, accepted)
        accepted.clear()


def _park(server: Server, row: OutboxRow) -> None:
    server.run(outcomes.park, row, "its sender has failed too often")


def _filled(server: Server, post: Post, stored: Stored) -> OutgoingEmail:
    """The bytes with tokens in their places, those of the mail's reader and of nobody else, and signed."""
    email = stored.email
    assert email.rendered_at is not None, "kept with the bytes"
    content = stored.content.fill(stored.generations)
    if post.signer is not None:
        content = post.signer.sign(content, email.rendered_at)
    returns = server.keys.make(Purpose.BOUNCE, stored.bounce.id, stored.bounce.generation)
    return OutgoingEmail(
        name=f"m{email.id}",
        # An answer has no return address, so that no program can answer it in turn (RFC 3834).
        sender="" if email.kind in rate_limits.ANSWERS else f"b+{returns}@{post.letterhead.domain}",
        recipient=stored.recipient,
        content=content,
    )


def _watch(server: Server, post: Post, outcome: Outcome, domain: str) -> None:
    """Leave the relay alone, or a domain, where one mail after the other does not get through."""
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
    server.store.write(lambda tx: quotas.write(tx, {domain: until}))
    _log.warning("domain_rests", domain=domain, said=outcome.answer)


def _rest(server: Server, post: Post, outcome: Outcome) -> None:
    """Leave the relay alone for a while: it is away, and no mail is to blame. The organisers hear of it if that lasts."""
    now = server.now()
    post.failures += 1
    post.rests_until = now + outcomes.jittered(server, min(post.failures, 5))
    post.down_since = post.down_since or now
    _log.warning("relay_down", failures=post.failures, said=outcome.answer)
    if now - post.down_since >= ALARMED and not post.alarmed:
        post.alarmed = True
        since = f"{post.down_since:%Y-%m-%d %H:%M} UTC"
        _log.error("relay_away", since=post.down_since, said=outcome.answer)
        said = f"The relay has taken no mail since {since}. It said: {outcome.answer}"
        server.run(alarms.raise_alarm, What.RELAY, said)


def _give_back(server: Server, sendable: list[Sendable]) -> None:
    now = server.now()

    def given(tx: Tx) -> None:
        for row, _parcel in sendable:
            outbox.release(tx, row, now)

    server.store.write(given)


def _count(done: Delivered, result: Result | None) -> None:
    if result is None:
        done.postponed += 1
    else:
        done.given_up += 1


def _throttle(config: Config) -> Throttle:
    email = config.mail
    return Throttle(email.per_second, email.per_domain, email.new_domain)


def _domain(address: str) -> str:
    return address.rpartition("@")[2].lower()
