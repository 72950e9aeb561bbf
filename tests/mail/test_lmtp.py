"""LMTP deliveries by a mail server over a real socket."""

from collections.abc import Iterator

import pytest

from pbem.domain.errors import BadInput
from pbem.mail.read.lmtp import MOST_RECIPIENTS, Lmtp, Store
from tests.mail.mail_server import MailServer, connected

SMALL = 10_000


class EmailStore:
    """A store of emails; those to `broken` cannot be stored."""

    def __init__(self) -> None:
        self.emails: list[tuple[str, str, bytes]] = []

    def __call__(self, envelope_from: str, raw: bytes) -> Store:
        def store(recipient: str) -> None:
            if recipient.startswith("broken"):
                raise OSError("the disk is full")
            self.emails.append((envelope_from, recipient, raw))

        return store


@pytest.fixture
def store() -> EmailStore:
    return EmailStore()


@pytest.fixture
def port(store: EmailStore) -> Iterator[int]:
    listening = Lmtp("127.0.0.1", 0, SMALL, store)
    listening.start()
    yield listening.port
    listening.stop()


def test_an_email_is_stored_before_the_answer(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        assert server.hands_in("ann@example.net", ["r+x@play.example.org"], b"Subject: x\r\n\r\n..bid 7") == [
            "250 2.0.0 Kept"
        ]
        assert store.emails == [("ann@example.net", "r+x@play.example.org", b"Subject: x\r\n\r\n.bid 7\r\n")]


def test_each_recipient_gets_its_own_answer(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        answers = server.hands_in("", ["a@x.org", "broken@x.org", "c@x.org"], b"\r\nbid 7")
        assert [answer[:3] for answer in answers] == ["250", "451", "250"]
        assert [email[1] for email in store.emails] == ["a@x.org", "c@x.org"]
        # The connection is ready for the next command: no answer is left over, and none is missing.
        assert server.says("NOOP").startswith("250")
        assert server.hands_in("", ["d@x.org"], b"\r\nbid 8") == ["250 2.0.0 Kept"]


def test_a_large_email_is_refused_for_each_recipient(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        answers = server.hands_in("", ["a@x.org", "b@x.org"], b"\r\n" + b"x" * 900 + b"\r\n" * SMALL)
        assert [answer[:3] for answer in answers] == ["552", "552"]
        assert server.says(f"MAIL FROM:<a@x.org> SIZE={25 * 2**20}").startswith("552")
        assert server.says("NOOP").startswith("250")
        assert store.emails == []


def test_a_line_that_is_too_long_is_refused_for_each_recipient(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        answers = server.hands_in("", ["a@x.org", "b@x.org"], b"\r\n" + b"x" * 5000)
        assert [answer[:3] for answer in answers] == ["500", "500"]
        assert server.says("NOOP").startswith("250")
        assert store.emails == []


def test_too_many_recipients_have_to_come_again(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        server.says("MAIL FROM:<>")
        answers = [server.says(f"RCPT TO:<r{number}@x.org>") for number in range(MOST_RECIPIENTS + 1)]
        assert [answer[:3] for answer in answers] == ["250"] * MOST_RECIPIENTS + ["452"]
        server.says("DATA")
        server.sends(b"\r\nbid 7\r\n.\r\n")
        assert [server.answer()[:3] for _ in range(MOST_RECIPIENTS)] == ["250"] * MOST_RECIPIENTS
        assert server.says("NOOP").startswith("250")
    assert len(store.emails) == MOST_RECIPIENTS


def test_an_incomplete_email_is_not_stored(port: int, store: EmailStore) -> None:
    with connected(port) as server:
        server.says("MAIL FROM:<>")
        server.says("RCPT TO:<a@x.org>")
        server.says("DATA")
        server.sends(b"\r\nbid 7\r\n")
    with connected(port) as server:
        assert server.says("NOOP").startswith("250")
    assert store.emails == []


def test_it_speaks_lmtp_and_nothing_else(port: int) -> None:
    server = MailServer(port)
    assert server.answer().startswith("220")
    assert server.says("EHLO mx.example.net").startswith("500")
    assert server.says("LHLO").startswith("501")
    server.close()


def test_a_port_in_use_is_reported_with_a_remedy(port: int, store: EmailStore) -> None:
    with pytest.raises(BadInput, match=r"is in use.*PBEM_INBOUND_LMTP_PORT"):
        Lmtp("127.0.0.1", port, SMALL, store).start()
