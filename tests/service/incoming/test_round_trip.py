"""Replies to a test email: recorded with what is known about the sender, and without any other effect."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pbem.config.settings import ResultsPlace, SenderCheck
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
    to = f"r+{token}@{HOST}"
    given = headers if any(header.startswith("To:") for header in headers) else (*headers, f"To: {to}")
    lines = ("Received: from mx by us", *given, "From: Olga <olga@example.net>", "Subject: Re", "", "bid 7", "resign")
    outcome = inbox.takes("\r\n".join(lines).encode(), to, "olga@example.net")
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
    assert {name for name in after if after[name] != before[name]} == {
        "link",
        "mail_server",
        "received",
        "received_count",
    }
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
        (
            (PASSED, "To: <ben@example.org>"),
            "from example.net; spf=pass, dkim=pass, dmarc=pass; not written to the address for replies",
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
    assert reply(inbox, first, PASSED, "Message-ID: <late@example.net>") == "to a replaced address"
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


ABOVE = f"Received: from mx by {HOST}"


def hand_in(inbox, *headers):
    """Hand in an email to the test address whose headers are these, and process it."""
    token = inbox.server.run(round_trip.address)
    lines = (*headers, f"Message-ID: <{len(inbox.rows())}@example.net>", "From: <olga@example.net>", "", "hello")
    assert inbox.takes("\r\n".join(lines).encode(), f"r+{token}@{HOST}", "olga@example.net") == "kept"
    inbox.attends()


def place(server):
    with server.store.read() as tx:
        return round_trip.received_above(tx, ResultsPlace.MEASURED, HOST)


def test_a_test_email_shows_where_results_stand_and_from_then_on_they_count_nowhere_else(server, inbox, table):
    game = table("sunset-poker", 3)
    below = f"Received: from mx by {HOST}\r\nAuthentication-Results: {HOST}; dmarc=pass header.from=example.org"
    given = {"Received": None, "Authentication-Results": None, "X-First": f"1\r\n{below}"}
    assert place(server) is None
    inbox.takes(inbox.written(game, 0, "talk 1", given), inbox.reply_address(game, 0))
    hand_in(inbox, PASSED, ABOVE)
    assert place(server) == 0
    inbox.takes(inbox.written(game, 0, "talk 2", given), inbox.reply_address(game, 0))
    inbox.attends()
    first, _test, second = inbox.rows()
    assert (first.status, second.status, second.outcome) == ("done", "doubted", "an unconfirmed sender")
    # An email without any results, as of a filter that is away, changes nothing about it.
    hand_in(inbox, ABOVE)
    assert place(server) == 0
    hand_in(inbox, ABOVE, PASSED)
    assert place(server) == 1


@pytest.mark.parametrize(
    ("setting", "above"), [(ResultsPlace.ABOVE, 0), (ResultsPlace.BELOW, 1), (ResultsPlace.ANYWHERE, None)]
)
def test_a_setting_says_where_results_stand_whatever_was_measured(server, inbox, setting, above):
    hand_in(inbox, ABOVE, ABOVE, PASSED)
    with server.store.read() as tx:
        assert round_trip.received_above(tx, ResultsPlace.MEASURED, HOST) == 2
        assert round_trip.received_above(tx, setting, HOST) == above
    assert place(server) == 2
    with server.store.read() as tx:
        assert round_trip.received_above(tx, ResultsPlace.MEASURED, "mx.example.com") is None


FORGED = [f"Authentication-Results: {each}" for each in round_trip.forged_results(HOST)]
CHECK = f"{round_trip.FORGED_HEADER}: yes"


@pytest.mark.parametrize(
    ("headers", "forgery", "above"),
    [
        ((PASSED, ABOVE, CHECK), round_trip.Forgery.REMOVED, 0),
        ((ABOVE, CHECK), round_trip.Forgery.REMOVED, None),
        ((PASSED, ABOVE, CHECK, *FORGED), round_trip.Forgery.LET_IN, 0),
        ((PASSED, ABOVE, CHECK, FORGED[1]), round_trip.Forgery.LET_IN, 0),
        ((ABOVE, PASSED, CHECK, *FORGED), round_trip.Forgery.BELIEVED, 1),
        ((ABOVE, CHECK, *FORGED), round_trip.Forgery.BELIEVED, None),
        ((ABOVE, CHECK, FORGED[1]), round_trip.Forgery.BELIEVED, None),
        ((FORGED[0], ABOVE, CHECK), round_trip.Forgery.BELIEVED, None),
    ],
)
def test_forged_results_are_told_from_those_of_our_mail_server(server, inbox, headers, forgery, above):
    hand_in(inbox, *headers)
    with server.store.read() as tx:
        checked = round_trip.last_forgery(tx)
    assert checked is not None
    assert (checked.forgery, checked.at) == (forgery, server.now())
    assert place(server) == above
    assert last_reply(server) is None, "it is no reply of a person"


def test_the_doctor_uses_the_address_of_a_test_under_way(server):
    token = server.run(round_trip.open_address)
    assert server.run(round_trip.address) == token


def test_the_address_opens_no_page_and_belongs_to_nobody(server):
    server.run(round_trip.open_address)
    (link,) = all_rows(server.store)["link"]
    assert Purpose.REPLY in link
    assert link[4:9] == (None,) * 5
