"""How fast emails leave, as a share of the rate of their bare parts, measured by turns and to the same relay.

The floor has the same words, templates, headers and bytes, one durable commit for each email and one connection.
The best of several rounds counts, because only the machine makes a round worse. Only ratios are asserted.
"""

import smtplib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

import pytest
from sqlalchemy import bindparam, insert, select, update

from pbem.config.settings import Security, Smtp
from pbem.mail.send.relay import Relay
from pbem.mail.send.smtp import OutgoingEmail
from pbem.mail.write import compose
from pbem.mail.write.compose import EmailContent
from pbem.service.outgoing import content, deliver
from pbem.service.outgoing.deliver import Post
from pbem.service.outgoing.prepare import make_drafts
from pbem.service.server import Server
from pbem.store import games, outbox
from pbem.store.schema import LEDGER, OUTBOX
from tests.bench.relay import relay
from tests.bench.tables import begin_one_of_each, crowd, server_on
from tests.fakes import FakeClock
from tests.mail.transports import StoringTransport
from tests.service.outgoing.test_deliver import HEAD

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ROUNDS = 7
EMAILS = 60

OF_STORED = 0.85
OF_CHAIN = 0.8

_WAITING = select(OUTBOX.c.id, OUTBOX.c.kind).where(OUTBOX.c.status == "queued").order_by(OUTBOX.c.id)
_QUEUED = update(OUTBOX).where(OUTBOX.c.id == bindparam("of_id"))
_QUEUED = _QUEUED.values(status="queued", lease_id=None, attempts=0, due_at=bindparam("now"))
_SENT = update(OUTBOX).where(OUTBOX.c.id == bindparam("of_id")).values(status="sent")
_NOTE = insert(LEDGER)

HEADERS = {
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "OOF, AutoReply",
    "Content-Language": "en",
    "Feedback-ID": "o8f3k2a1b2c3:turn:pbem:pbem-0123456789",
    "In-Reply-To": "<o8f3k2a1b2c3@play.example.org>",
    "References": "<o8f3k2a1b2c3@play.example.org>",
    "List-Id": "<o8f3k2a1b2c3.games.play.example.org>",
    "Reply-To": f"r+{'a' * 33}@play.example.org",
    "List-Unsubscribe": f"<https://play.example.org/u/{'a' * 33}>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
}
"""Headers as long as those of the server."""


@pytest.fixture
def port() -> Iterator[int]:
    """Where the relay listens."""
    with relay() as found:
        yield found


@pytest.fixture
def hands(database_url: str) -> Iterator[tuple[Server, FakeClock]]:
    """A server, and its clock."""
    server = server_on(database_url)
    clock = FakeClock(server.now())
    yield replace(server, clock=clock), clock
    server.store.close()


def test_stored_emails_leave_at_a_fair_share_of_bare_smtp_with_one_commit_each(hands, port, database_url):
    server, clock = hands
    post = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, port, "", "", 5)))
    ids = queued(server, clock)
    inbox = StoringTransport()
    deliver.deliver(server, replace(post, transport=inbox), limit=EMAILS)
    assert len(inbox.emails) == EMAILS

    def product():
        again(server, ids)
        return lambda: sent(server, post)

    def floor():
        return lambda: bare(server, port, ids, inbox.emails)

    assert _report(database_url, "stored mails", *compare(floor, product)) >= OF_STORED


def test_emails_are_claimed_rendered_built_and_sent_at_a_fair_share_of_their_bare_parts(
    hands, port, database_url, record_property
):
    """The floor's words are worked out beforehand; the product is measured looking them up."""
    server, clock = hands
    post = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, port, "", "", 5)))

    def product():
        queued(server, clock)
        return lambda: sent(server, post)

    def floor():
        ids = set_aside(server, queued(server, clock))
        contents = [content_of(server, row_id) for row_id in ids]
        return lambda: by_hand(server, port, ids, contents)

    ratio = _report(database_url, "mails not written yet", *compare(floor, product))
    record_property(f"bench.email of bare {database_url.partition(':')[0]}", ratio)
    assert ratio >= OF_CHAIN


def _report(url: str, what: str, of_floor: float, of_product: float) -> float:
    ratio = of_product / of_floor
    print(f"\n{url.partition(':')[0]}: {what}: bare {of_floor:,.0f} a second, ours {of_product:,.0f} ({ratio:.2f})")
    return ratio


def queued(server: Server, clock: FakeClock) -> list[int]:
    """The due emails about the first turns of new games, not yet written. Nothing else is due."""
    players = crowd(server)
    found: list[int] = []
    while len(found) < EMAILS:
        begin_one_of_each(server, players)
        with server.store.read() as tx:
            waiting = {row.id: row.kind for row in tx.execute(_WAITING)}
        found = [row_id for row_id, kind in waiting.items() if kind == "turn"][:EMAILS]
    others = [{"of_id": row_id} for row_id in waiting if row_id not in found]
    server.store.write(lambda tx: tx.execute(_SENT, others))
    clock.advance(timedelta(minutes=2))
    return found


def set_aside(server: Server, ids: list[int]) -> list[int]:
    """Mark these emails as sent, so that nobody else sends them. Returns their ids."""
    server.store.write(lambda tx: tx.execute(_SENT, [{"of_id": row_id} for row_id in ids]))
    return ids


def again(server: Server, ids: list[int]) -> None:
    """Queue these emails once more, as they are."""
    server.store.write(lambda tx: tx.execute(_QUEUED, [{"of_id": row_id, "now": server.now()} for row_id in ids]))


def content_of(server: Server, row_id: int) -> EmailContent:
    """The content of an email, worked out beforehand."""
    now = server.now()
    with server.store.read() as tx:
        row = outbox.read(tx, row_id)
    assert row is not None
    about = row.game_id
    assert about is not None, "a turn's mail"
    drafts = server.store.write(lambda tx: make_drafts(tx, server, [row], games.lock_all(tx, [about]), now))
    with server.store.read() as tx:
        return content.read_contents(tx, server, HEAD, drafts, now)[0]


def compare(*contenders: Callable[[], Callable[[], object]]) -> list[float]:
    """The best rate of each in emails a second, over rounds played by turns."""
    best = [0.0] * len(contenders)
    for _ in range(ROUNDS):
        for place, prepare in enumerate(contenders):
            work = prepare()
            before = time.perf_counter()
            work()
            best[place] = max(best[place], EMAILS / (time.perf_counter() - before))
    return best


def sent(server: Server, post: Post) -> None:
    """Everything that is queued, sent by us as a worker does it."""
    done = 0
    while dealt := deliver.deliver(server, post).accepted:
        done += dealt
    assert done == EMAILS


def bare(server: Server, port: int, ids: list[int], emails: list[OutgoingEmail]) -> None:
    """The same bytes, with one commit for each email."""
    with smtplib.SMTP("127.0.0.1", port) as smtp:
        for row_id, email in zip(ids, emails, strict=True):
            smtp.sendmail(email.sender, email.recipient, email.content)
            commit(server, row_id)


def by_hand(server: Server, port: int, ids: list[int], contents: list[EmailContent]) -> None:
    """The same words, with the same templates and headers, as the standard library makes emails of them."""
    with smtplib.SMTP("127.0.0.1", port) as smtp:
        for row_id, email in zip(ids, contents, strict=True):
            rendered = compose.render(HEAD, email)
            message = EmailMessage(policy=SMTP)
            message["From"] = f"{HEAD.site} <{HEAD.sender}>"
            message["To"] = f"{email.reader.name} <{email.reader.address}>"
            message["Subject"] = rendered.subject
            message["Date"] = format_datetime(email.date)
            message["Message-ID"] = email.thread.message_id
            for name, value in HEADERS.items():
                message[name] = value
            message.set_content(rendered.text)
            message.add_alternative(rendered.html, subtype="html")
            smtp.sendmail(HEAD.sender, email.reader.address, message.as_bytes())
            commit(server, row_id)


def commit(server: Server, row_id: int) -> None:
    """One durable commit: the email as sent, and a line in its ledger."""

    def write(tx):
        tx.execute(_SENT, {"of_id": row_id})
        tx.execute(_NOTE, {"outbox_id": row_id, "at": server.now(), "what": "accepted", "detail": "250 OK"})

    server.store.write(write)
