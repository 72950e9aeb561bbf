"""Replies to a test email: recorded with what is known about the sender, and without any other effect."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pbem.config.settings import SenderCheck
from pbem.domain.errors import Gone
from pbem.service import links
from pbem.service.incoming import round_trip
from pbem.tokens import Purpose
from tests.service.database import all_rows, holds_token, queued_emails
from tests.service.inbox import HOST, Inbox
from tests.service.races import meetings

HOUR = timedelta(hours=1)


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


def last_reply(server, since=None):
    with server.store.read() as tx:
        return round_trip.last_reply(tx, since)


def reply(inbox, token, *headers):
    """Hand in a reply to a test email and process it; returns what was done with it."""
    lines = ("Received: from mx by us", *headers, "From: Olga <olga@example.net>", "Subject: Re", "", "bid 7", "resign")
    outcome = inbox.takes("\r\n".join(lines).encode(), f"r+{token}@{HOST}", "olga@example.net")
    inbox.attends()
    return outcome


def authentication_results(*verdicts):
    return "; ".join(("Authentication-Results: " + HOST, *verdicts))


PASSED = authentication_results(
    "spf=pass smtp.mailfrom=example.net", "dkim=pass header.d=example.net", "dmarc=pass header.from=example.net"
)


def test_a_reply_is_recorded_with_our_mail_servers_verdicts_and_without_its_text(server, inbox, table):
    table("sunset-poker", 3)
    before = all_rows(server.store)
    token = server.run(round_trip.open_address)
    assert last_reply(server) is None
    assert reply(inbox, token, PASSED) == "kept"
    answer = last_reply(server)
    assert answer is not None
    assert answer.believed
    assert answer.at == server.now()
    assert answer.findings == "from example.net; spf=pass, dkim=pass, dmarc=pass"
    after = all_rows(server.store)
    assert {name for name in after if after[name] != before[name]} == {"link", "received", "received_count"}
    stored = repr(after).encode()
    assert b"resign" not in stored
    assert b"olga@" not in stored
    assert not holds_token(server, stored)
    assert inbox.counted() == {round_trip.COUNTED_AS: 1}


@pytest.mark.parametrize(
    ("headers", "findings"),
    [
        ((), "from example.net; no word about it by play.example.org"),
        ((authentication_results("spf=fail smtp.mailfrom=example.net"),), "from example.net; spf=fail"),
        ((PASSED, "From: <ben@example.org>"), "from no single address; spf=pass, dkim=pass, dmarc=pass"),
        (
            (PASSED, "Auto-Submitted: auto-replied"),
            "from example.net; spf=pass, dkim=pass, dmarc=pass; written by a program",
        ),
    ],
)
def test_a_reply_that_no_player_would_be_believed_for_is_recorded_as_doubted(server, inbox, headers, findings):
    reply(inbox, server.run(round_trip.open_address), *headers)
    answer = last_reply(server)
    assert answer is not None
    assert not answer.believed
    assert answer.findings.startswith(findings)
    assert queued_emails(server) == []


def test_a_token_is_enough_where_it_is_enough_for_players(server, inbox):
    inbox.checks(SenderCheck.TOKEN)
    reply(inbox, server.run(round_trip.open_address))
    answer = last_reply(server)
    assert answer is not None
    assert answer.believed


def test_only_a_reply_to_the_last_test_counts(server, clock, inbox):
    first = server.run(round_trip.open_address)
    reply(inbox, first, PASSED)
    clock.advance(HOUR)
    sent_at = clock.now()
    second = server.run(round_trip.open_address)
    assert first != second
    assert reply(inbox, first, PASSED, "Message-ID: <late@example.net>") == "to an address that was replaced"
    assert last_reply(server, sent_at) is None
    reply(inbox, second, PASSED, "Message-ID: <new@example.net>")
    answer = last_reply(server, sent_at)
    assert answer is not None
    assert answer.at == sent_at


def test_two_tests_at_once_share_one_address_and_the_later_one_counts(server):
    for meeting in meetings(server.store):
        server.store.write(lambda tx: tx.execute(text("DELETE FROM link")))
        tokens = meeting(lambda: server.run(round_trip.open_address), lambda: server.run(round_trip.open_address))
        opened = [_is_open(server, token) for token in tokens]
        assert sorted(opened) == [False, True], "both have an address, and one of them is old"


def _is_open(server, token):
    try:
        server.read(links.follow, token, Purpose.REPLY)
    except Gone:
        return False
    return True


def test_the_address_opens_no_page_and_belongs_to_nobody(server):
    server.run(round_trip.open_address)
    (link,) = all_rows(server.store)["link"]
    assert Purpose.REPLY in link
    assert link[4:9] == (None,) * 5
