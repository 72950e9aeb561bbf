"""The answer to a test mail: noted with what is known of its sender, and nothing else comes of it."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pbem.config.settings import SenderCheck
from pbem.service.incoming import test_mail
from pbem.tokens import Purpose, contains_token, row_of
from tests.service.inbox import HOST, Inbox
from tests.service.races import meetings
from tests.service.stored import everything, queued_emails

HOUR = timedelta(hours=1)


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


def comes(inbox, token, *headers):
    """An answer to a test mail is handed in and read; what it was taken for."""
    lines = ("Received: from mx by us", *headers, "From: Olga <olga@example.net>", "Subject: Re", "", "bid 7", "resign")
    taken = inbox.takes("\r\n".join(lines).encode(), f"r+{token}@{HOST}", "olga@example.net")
    inbox.attends()
    return taken


def vouching(*found):
    return "; ".join(("Authentication-Results: " + HOST, *found))


PASSED = vouching(
    "spf=pass smtp.mailfrom=example.net", "dkim=pass header.d=example.net", "dmarc=pass header.from=example.net"
)


def test_an_answer_is_noted_with_what_our_mail_server_found_and_nothing_of_its_words(server, inbox, table):
    table("sunset-poker", 3)
    before = everything(server.store)
    token = server.run(test_mail.open_address)
    assert server.read(test_mail.answered) is None
    assert comes(inbox, token, PASSED) == "kept"
    answer = server.read(test_mail.answered)
    assert answer is not None
    assert answer.believed
    assert answer.at == server.now()
    assert answer.says == "from example.net; spf=pass, dkim=pass, dmarc=pass"
    after = everything(server.store)
    assert {name for name in after if after[name] != before[name]} == {"link", "received", "arrival"}
    stored = repr(after).encode()
    assert b"resign" not in stored
    assert b"olga@" not in stored
    assert not contains_token(stored, server.keys)
    assert inbox.counted() == {test_mail.COUNTED_AS: 1}


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ((), "from example.net; no word about it by play.example.org"),
        ((vouching("spf=fail smtp.mailfrom=example.net"),), "from example.net; spf=fail"),
        ((PASSED, "From: <ben@example.org>"), "from no single address; spf=pass, dkim=pass, dmarc=pass"),
        (
            (PASSED, "Auto-Submitted: auto-replied"),
            "from example.net; spf=pass, dkim=pass, dmarc=pass; written by a program",
        ),
    ],
)
def test_an_answer_as_no_player_would_be_believed_is_noted_as_that(server, inbox, headers, says):
    comes(inbox, server.run(test_mail.open_address), *headers)
    answer = server.read(test_mail.answered)
    assert answer is not None
    assert not answer.believed
    assert answer.says.startswith(says)
    assert queued_emails(server) == []


def test_where_the_token_is_enough_for_players_it_is_for_a_test(server, inbox):
    inbox.checks(SenderCheck.TOKEN)
    comes(inbox, server.run(test_mail.open_address))
    answer = server.read(test_mail.answered)
    assert answer is not None
    assert answer.believed


def test_only_an_answer_to_the_last_test_counts(server, clock, inbox):
    first = server.run(test_mail.open_address)
    comes(inbox, first, PASSED)
    clock.advance(HOUR)
    sent_at = clock.now()
    second = server.run(test_mail.open_address)
    assert first != second
    assert comes(inbox, first, PASSED, "Message-ID: <late@example.net>") == "to an address that was replaced"
    assert server.read(test_mail.answered, sent_at) is None
    comes(inbox, second, PASSED, "Message-ID: <new@example.net>")
    found = server.read(test_mail.answered, sent_at)
    assert found is not None
    assert found.at == sent_at


def test_two_tests_at_one_moment_share_one_address_and_the_last_of_them_counts(server):
    for meeting in meetings(server.store):
        server.store.write(lambda tx: tx.execute(text("DELETE FROM link")))
        tokens = meeting(lambda: server.run(test_mail.open_address), lambda: server.run(test_mail.open_address))
        (link,) = everything(server.store)["link"]
        assert sorted(_generation(server, token) for token in tokens) == [0, 1], (
            "both have an address, and one of them is old"
        )
        assert link[2] == 1


def _generation(server, token):
    row = row_of(token)
    return next(each for each in (0, 1) if server.keys.verify(token, Purpose.REPLY, row, each))


def test_the_address_opens_no_page_and_belongs_to_nobody(server):
    server.run(test_mail.open_address)
    (link,) = everything(server.store)["link"]
    assert Purpose.REPLY in link
    assert link[3:8] == (None,) * 5
