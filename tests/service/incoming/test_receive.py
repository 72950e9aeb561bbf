"""Incoming email: stored first, processed once, believed only from its sender, and never answered twice.

The tests hand in whole emails, as a mail server does, and look at what is stored afterwards.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import event, select
from structlog.testing import capture_logs

from engine import grammar
from pbem import failpoints, paths
from pbem.child_process import Child
from pbem.config.settings import SenderCheck
from pbem.domain.bounce import THRESHOLD
from pbem.domain.choice_links import choice_segment
from pbem.domain.errors import Gone, NotFound
from pbem.domain.states import Doubt
from pbem.mail.read import guarded
from pbem.mail.read.lmtp import Lmtp
from pbem.mail.read.reply import parse_reply
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.wire import parse
from pbem.mail.write.compose import Letterhead
from pbem.service import links
from pbem.service.incoming import processing, receive, unverified_replies
from pbem.service.incoming.processing import AGAIN, LEASE, PAUSE, TRIES
from pbem.service.incoming.receive import MOST_AN_HOUR, RETENTION, Arrival
from pbem.service.outgoing import ledger, new_links
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.play import by_link
from pbem.service.play.move import Receipt
from pbem.service.tables import leaving
from pbem.store import ledger as ledger_rows, outbox, reachability, received as rows
from pbem.store.schema.time import DEADLINE
from pbem.tokens import Purpose
from tests.mail import report_samples
from tests.mail.mail_server import connected
from tests.service.absence.test_database_away import Away
from tests.service.database import (
    BrokenError,
    all_rows,
    check_atomic,
    count_calls,
    facts_of,
    holds_token,
    queued_emails,
)
from tests.service.inbox import HOST, OUR_SENDER, Inbox
from tests.service.races import meetings

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def logged():
    """The captured log. Printing it, with the traceback of each failure, would take longer than all else."""
    with capture_logs() as entries:
        yield entries


@pytest.fixture
def game(table):
    return table("sunset-poker", 3)


def choice(game, seat=0):
    """The default of a seat, as a reply writes it."""
    decision = game.open()[seat]
    return grammar.write(decision, decision.default)


def chosen(game):
    """The number of rows of the log: each is a choice here."""
    return len(game.log())


def unchanged(server, *but):
    """All stored rows, except for some tables."""
    return {name: found for name, found in all_rows(server.store).items() if name not in but}


def answers(server, kind=None):
    return [
        each for each in queued_emails(server) if each.kind in ("receipt", "was_it_you") and kind in (None, each.kind)
    ]


def failing(server, person_id):
    with server.store.read() as tx:
        return reachability.failure(tx, person_id)


def noted(server, outbox_id):
    with server.store.read() as tx:
        return [(line.what, line.detail) for line in ledger_rows.lines(tx, [outbox_id]).get(outbox_id, [])]


# Kept, then dealt with, once


def test_a_reply_of_the_seats_player_is_carried_out_and_its_text_is_gone(inbox, server, game):
    before = chosen(game)
    row = inbox.replies(game, 0, choice(game))
    assert (row.status, row.outcome, row.raw) == ("done", "reply: carried out", None)
    assert chosen(game) == before + 1
    assert [each.person_id for each in answers(server)] == [game.person_at(0)]


def test_a_reply_that_the_machine_has_no_time_to_read_is_carried_out_when_it_has(
    inbox, game, clock, logged, tmp_path, monkeypatch
):
    (tmp_path / "stopped.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n")
    before = chosen(game)
    with monkeypatch.context() as busy:
        busy.syspath_prepend(str(tmp_path))
        reader = Child("stopped", 0)
        busy.setattr(guarded, "_READER", reader)
        row = inbox.replies(game, 0, f"<p>{choice(game)}</p>", Content_Type="text/html; charset=utf-8")
        reader.close()
    assert (row.status, chosen(game)) == ("waiting", before)
    clock.advance(PAUSE)
    inbox.attends()
    assert [each.outcome for each in inbox.rows()] == ["reply: carried out"]
    assert chosen(game) == before + 1


def test_an_email_is_stored_before_it_is_processed(inbox, game):
    raw = inbox.written(game, 0, choice(game))
    before = chosen(game)
    assert inbox.takes(raw, inbox.reply_address(game, 0)) == "kept"
    assert [row.status for row in inbox.rows()] == ["waiting"]
    assert chosen(game) == before


def test_an_email_that_comes_again_is_one_email(inbox, server, game):
    raw, to = inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)
    before = chosen(game)
    for again in (raw, b"Received: by another way\r\n" + raw):
        inbox.takes(again, to.upper())
        inbox.attends()
        assert inbox.takes(again, to) == "again"
        inbox.attends()
    assert (len(inbox.rows()), chosen(game), len(answers(server))) == (1, before + 1, 1)


def test_an_email_that_comes_twice_at_once_is_one_email(inbox, game):
    raw, to = inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)
    with ThreadPoolExecutor(4) as hands:
        outcomes = list(hands.map(lambda _: inbox.takes(raw, to), range(8)))
    assert sorted(outcomes) == ["again"] * 7 + ["kept"]
    assert len(inbox.rows()) == 1


def test_the_same_email_to_two_seats_of_one_player_is_two_emails(inbox, game):
    raw = inbox.written(game, 0, "help")
    assert inbox.takes(raw, inbox.reply_address(game, 0)) == "kept"
    assert inbox.takes(raw, inbox.reply_address(game, 1)) == "kept"


def test_a_database_that_breaks_while_an_email_is_kept_leaves_nothing_and_says_so(inbox, server, game):
    raw, to = inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)
    assert check_atomic(server.store, lambda: inbox.takes(raw, to)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("word", ["help", "new links"])
def test_wherever_reading_an_email_breaks_off_it_is_carried_out_once(server, clock, game, logged, word):
    inbox = Inbox(replace(server, answers_a_turn=1000, answers_a_day=1000), clock)
    made, n = [""], 0
    while len(made) >= n:
        n += 1
        inbox.takes(inbox.written(game, 0, f"talk number {n}\r\n{word}"), inbox.reply_address(game, 0))

        def strike(count, at=n):
            if count == at:
                raise BrokenError

        with count_calls(server.store, strike) as made, suppress(BrokenError):
            processing.process(inbox.server, inbox.box)
        clock.advance(HOUR)
        inbox.attends()
        assert len(all_rows(server.store)["talk"]) == n
        assert len(answers(server, "receipt")) == n
        assert [row.status for row in inbox.rows()] == ["done"] * n
    assert n > 10


def test_wherever_reading_a_report_breaks_off_it_counts_once(inbox, server, clock, game, logged):
    made, n = [""], 0
    while len(made) >= n:
        n += 1
        email, to = inbox.bounce_address(game, 0)
        report = b"Message-ID: <%d@mx.example.net>\r\n" % n + report_samples.failure("4.4.1", "smtp; timed out")
        assert inbox.takes(report, to, "") == "kept"

        def strike(count, at=n):
            if count == at:
                raise BrokenError

        with count_calls(server.store, strike) as made, suppress(BrokenError):
            processing.process(server, inbox.box)
        clock.advance(HOUR)
        inbox.attends()
        assert len(noted(server, email)) == n
    assert n > 8


def test_workers_at_one_moment_read_each_email_once(inbox, server, game):
    for number in range(10):
        inbox.takes(inbox.written(game, 0, f"talk number {number}"), inbox.reply_address(game, 0))
    with ThreadPoolExecutor(4) as hands:
        done = sum(hands.map(lambda _: processing.process(server, inbox.box, limit=3), range(6)))
    assert done == 10
    assert len(all_rows(server.store)["talk"]) == 10


@pytest.mark.parametrize("reply_first", [True, False])
def test_a_click_and_a_reply_that_meet_at_any_step_are_one_move(server, clock, table, reply_first):
    inbox = Inbox(replace(server, answers_a_turn=1000, answers_a_day=1000), clock)
    game = table("sun-bid", 2)
    met = 0
    for meeting in meetings(server.store):
        seat, decision = next(iter(game.asked().items()))
        turn, before = game.row().turn, chosen(game)
        raw = inbox.written(game, seat, grammar.write(decision, decision.default))
        assert inbox.takes(raw, inbox.reply_address(game, seat)) == "kept"
        click = partial(server.run, by_link.move, link_of(inbox, game, seat), choice_segment(decision.default))
        receipts = meeting(inbox.attends, click) if reply_first else meeting(click, inbox.attends)
        inbox.attends()
        assert distinct(receipts) == [(turn, seat, decision.default)]
        assert chosen(game) == before + 1
        assert reply_outcomes(server) == ["applied"], "also where the click came first"
        met += 1
    assert met > 4


def test_twenty_clicks_and_a_reply_at_once_are_one_move_and_all_hear_so(inbox, server, table):
    game = table("sun-bid", 2)
    seat, decision = next(iter(game.asked().items()))
    turn, before = game.row().turn, chosen(game)
    inbox.takes(inbox.written(game, seat, grammar.write(decision, decision.default)), inbox.reply_address(game, seat))
    link = link_of(inbox, game, seat)
    click = partial(server.run, by_link.move, link, choice_segment(decision.default))
    with ThreadPoolExecutor(21) as hands:
        reply = hands.submit(inbox.attends)
        clicks = [hands.submit(click) for _ in range(20)]
        receipts = [each.result() for each in clicks]
        assert reply.result() == 1
    assert distinct(receipts) == [(turn, seat, decision.default)]
    assert chosen(game) == before + 1
    assert reply_outcomes(server) == ["applied"], "also where the click came first"


def link_of(inbox, game, seat):
    """The token of the choices of a seat in the present turn."""
    return inbox.token(Purpose.MOVE, person_id=game.person_at(seat), game_id=game.id, turn=game.row().turn, seat=seat)


def distinct(receipts):
    """The different receipts of clicks; all should be the same."""
    return list({(each.turn, each.seat, each.choice) for each in receipts if isinstance(each, Receipt)})


def reply_outcomes(server):
    """The outcomes of the lines of the latest reply, by its receipt."""
    return [line["outcome"] for line in json.loads(answers(server, "receipt")[-1].facts)["lines"]]


def test_a_worker_that_dies_with_an_email_leaves_it_to_the_next_when_its_lease_is_over(inbox, server, clock, game):
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    server.store.write(lambda tx: rows.claim(tx, server.now(), server.now() + LEASE, 1))
    assert inbox.attends() == 0
    clock.advance(LEASE)
    assert inbox.attends() == 1


def test_a_worker_that_dies_holds_back_one_email_and_not_those_behind_it(inbox, server, game):
    seats = sorted(game.asked())[:2]
    for seat in seats:
        inbox.takes(inbox.written(game, seat, "help"), inbox.reply_address(game, seat))

    class Killed(BaseException):
        pass

    def strike(point):
        if point == "store.committed":
            raise Killed

    failpoints.set_handler(strike)
    try:
        with pytest.raises(Killed):
            inbox.attends()
    finally:
        failpoints.set_handler(None)
    assert len(inbox.rows()) == 2
    assert inbox.attends() == 1


def test_a_worker_whose_lease_ran_out_meanwhile_does_nothing_twice(inbox, server, clock, game):
    for number, meeting in enumerate(meetings(server.store), start=1):
        email, to = inbox.bounce_address(game, 0)
        report = b"Message-ID: <%d@mx.example.net>\r\n" % number + report_samples.failure("4.4.1", "smtp; timed out")
        assert inbox.takes(report, to, "") == "kept"

        def slow():
            return processing.process(server, inbox.box)

        def next_one():
            clock.advance(LEASE)
            return processing.process(server, inbox.box)

        for came in meeting(slow, next_one):
            assert isinstance(came, int), came
        inbox.attends()
        assert len(noted(server, email)) == number
        assert inbox.counted()["report: failed"] == number
    assert number > 8


def test_an_email_that_kills_its_worker_is_parked(inbox, server, clock, game, logged):
    before = chosen(game)
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    for _ in range(TRIES):
        server.store.write(lambda tx: rows.claim(tx, server.now(), server.now() + LEASE, 1))
        clock.advance(LEASE)
    inbox.attends()
    assert [row.status for row in inbox.rows()] == ["parked"]
    assert chosen(game) == before


@contextmanager
def broken_for(store, statement):
    """The database refuses statements with this beginning."""

    def executing(_connection, _cursor, sql, *_rest):
        if sql.startswith(statement):
            raise BrokenError

    event.listen(store.engine, "before_cursor_execute", executing)
    try:
        yield
    finally:
        event.remove(store.engine, "before_cursor_execute", executing)


def test_an_email_that_cannot_be_processed_is_parked_and_holds_up_no_other(inbox, server, clock, game, logged):
    before = chosen(game)
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    with broken_for(server.store, "INSERT INTO outbox"):
        for _ in range(TRIES):
            inbox.takes(
                inbox.written(game, 1, "talk", {"Auto-Submitted": "auto-replied"}), inbox.reply_address(game, 1)
            )
            inbox.attends()
            clock.advance(HOUR)
    inbox.attends()
    assert [row.status for row in inbox.rows()] == ["parked"] + ["done"] * TRIES
    assert inbox.rows()[0].raw is not None
    assert chosen(game) == before
    assert [each["event"] for each in logged] == ["mail_not_read"] * TRIES + ["mail_parked_unread"]


def test_a_reply_is_read_as_soon_as_a_failed_database_is_back(inbox, server, clock, game, monkeypatch):
    before, held = chosen(game), []
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    away = Away(monkeypatch, processing, "_carry_out_unless_revoked")
    away.gone = True
    for _ in range(TRIES + 1):
        processing.process(server, inbox.box, held=held)
        assert processing.process(server, inbox.box, held=held) == 0, "it waits a little"
        clock.advance(AGAIN)
    assert chosen(game) == before
    away.gone = False
    processing.process(server, inbox.box, held=held)
    assert [(row.status, row.attempts) for row in inbox.rows()] == [("done", 1)]
    assert chosen(game) == before + 1


def fails(*_given):
    raise RuntimeError


def test_the_player_of_a_reply_that_cannot_be_read_hears_so_once(
    inbox, server, clock, game, logged, monkeypatch, tmp_path
):
    monkeypatch.setattr(processing, "parse_reply", fails)
    for doubtful in (None, f"{HOST}; dmarc=pass header.from=example.org"):
        inbox.replies(game, 0, choice(game), Authentication_Results=doubtful)
        for _ in range(TRIES):
            clock.advance(HOUR)
            inbox.attends()
    assert {row.status for row in inbox.rows()} == {"parked"}
    (receipt,) = answers(server)
    assert (receipt.kind, receipt.person_id) == ("receipt", game.person_at(0))
    mailbox = LocalMailbox(tmp_path)
    deliver(server, Post(Letterhead("Games", f"https://{HOST}", HOST, OUR_SENDER, OUR_SENDER), mailbox), limit=100)
    texts = [" ".join(mailbox.read(entry.key).text.split()) for entry in mailbox.entries()]
    assert sum("we couldn't read a reply to an email we sent you. Nothing changed." in text for text in texts) == 1
    monkeypatch.undo()
    server.run(processing.retry)
    inbox.attends()
    assert {row.status for row in inbox.rows()} == {"done", "doubted"}


def test_a_reply_that_cannot_be_answered_either_is_parked(inbox, server, clock, game, logged, monkeypatch):
    monkeypatch.setattr(processing, "parse_reply", fails)
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    with broken_for(server.store, "INSERT INTO outbox"):
        for _ in range(TRIES + 1):
            inbox.attends()
            clock.advance(HOUR)
    assert [row.status for row in inbox.rows()] == ["parked"]
    assert logged[-1]["event"] == "mail_not_answered"


@pytest.mark.parametrize(
    ("text", "header", "outcome"), [("y " * 2**19, "x", "too large"), ("bid 7", "y\r\n " * 1001, "unreadable")]
)
def test_the_player_of_a_reply_that_cannot_be_stored_hears_so_once_a_day(
    inbox, server, clock, game, text, header, outcome
):
    to = inbox.reply_address(game, 0)

    def takes(envelope_from="ann@example.org", **headers):
        raw = inbox.written(game, 0, text, {"X-Any": header} | headers)
        assert inbox.takes(raw, to, envelope_from) == outcome

    takes(**{"Auto-Submitted": "auto-replied"})
    takes(envelope_from="")
    takes(**{"X-More": "y" * 110_000})
    assert answers(server) == [], "of programs"
    for _again in range(3):
        takes()
    (receipt,) = answers(server)
    assert (receipt.kind, receipt.person_id, json.loads(receipt.facts)["unread"]) == (
        "receipt",
        game.person_at(0),
        True,
    )
    clock.advance(DAY + HOUR)
    takes()
    assert len(answers(server)) == 2
    assert not inbox.rows()


def test_parked_emails_are_processed_when_the_cause_is_fixed(inbox, server, clock, game, logged):
    before = chosen(game)
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    with broken_for(server.store, "INSERT INTO outbox"):
        for _ in range(TRIES):
            inbox.attends()
            clock.advance(HOUR)
    inbox.attends()
    assert [row.status for row in inbox.rows()] == ["parked"]
    assert server.run(processing.retry) == 1
    inbox.attends()
    assert [row.status for row in inbox.rows()] == ["done"]
    assert chosen(game) != before
    assert server.run(processing.retry) == 0


def test_old_emails_are_deleted(inbox, server, clock, game):
    inbox.replies(game, 0, choice(game))
    clock.advance(RETENTION - HOUR)
    server.run(receive.tidy)
    assert inbox.rows()
    clock.advance(2 * HOUR)
    server.run(receive.tidy)
    assert not inbox.rows()


def test_a_mail_server_hands_an_email_for_several_in_twice_and_it_is_kept_once_for_each(inbox, server, game):
    raw = inbox.written(game, 0, choice(game))
    recipients = [inbox.reply_address(game, 0), inbox.reply_address(game, 1), f"nobody@{HOST}"]

    def take(envelope_from, content):
        return Arrival(server, inbox.box, envelope_from, content).receive

    listening = Lmtp("127.0.0.1", 0, inbox.box.most_bytes, take)
    listening.start()
    try:
        with connected(listening.port) as connection:
            for _ in range(2):
                assert connection.hands_in("ann@example.org", recipients, raw) == ["250 2.0.0 Kept"] * 3
    finally:
        listening.stop()
    inbox.attends()
    assert [row.status for row in inbox.rows()] == ["done", "doubted"]
    assert inbox.counted()["a stranger"] == 2


# Who is believed


FORGED = {
    "another address": {"From": "ben@evil.example"},
    "another address with a word for it": {
        "From": "ben@evil.example",
        "Authentication-Results": f"{HOST}; dmarc=pass header.from=evil.example",
    },
    "two senders": {"From": "ann@example.org, ben@evil.example"},
    "two sender headers": {"From": "ann@example.org\r\nFrom: ben@evil.example"},
    "a sender that reads in two ways": {"From": "ann@example.org)<ben@evil.example>"},
    "no word of our mail server": {"Authentication-Results": None},
    "the word of another server": {"Authentication-Results": "evil.example; dmarc=pass header.from=example.org"},
    "SPF alone": {"Authentication-Results": f"{HOST}; spf=pass smtp.mailfrom=ann@example.org"},
    "the word for another domain": {"Authentication-Results": f"{HOST}; dmarc=pass header.from=evil.example"},
    "another's signature": {"Authentication-Results": f"{HOST}; dkim=pass header.d=evil.example"},
    "a signature that fails": {"Authentication-Results": f"{HOST}; dkim=fail header.d=example.org"},
    "a word below another": {
        "Authentication-Results": f"{HOST}; dmarc=fail header.from=example.org\r\n"
        f"Authentication-Results: {HOST}; dmarc=pass header.from=example.org"
    },
}


def test_a_forged_reply_changes_nothing_and_only_the_player_is_asked(inbox, server, clock, game):
    to, known = inbox.reply_address(game, 0), len(queued_emails(server))
    before = unchanged(server, "received", "received_count", "outbox")
    for forgery, headers in FORGED.items():
        assert inbox.takes(inbox.written(game, 0, choice(game), headers), to) == "kept", forgery
        inbox.attends()
        assert inbox.rows()[-1].status == "doubted", forgery
        assert unchanged(server, "received", "received_count", "outbox") == before, forgery
    # Each of the two doubts is told once a day, to the address on file.
    asked = [("was_it_you", game.person_at(0))] * 2
    assert [(each.kind, each.person_id) for each in queued_emails(server)[known:]] == asked


SIGNED = "v=1; a=rsa-sha256; d=example.org; s=x; h=from:subject; bh=aaaa; b=%s"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"Message-ID": "<1@example.org>"}, {"Message-ID": "<1@example.org>"}),
        ({"DKIM-Signature": SIGNED % "AbC/1="}, {"DKIM-Signature": SIGNED % "AbC/1="}),
        ({"DKIM-Signature": SIGNED % "AbC/1="}, {"dkim-signature ": SIGNED % "Ab\r\n C/_1"}),
        (
            {"DKIM-Signature": SIGNED % "AbC/1="},
            {"DKIM-Signature": SIGNED % "other" + "\r\nDKIM-Signature: " + SIGNED % "AbC/1="},
        ),
    ],
)
@pytest.mark.parametrize("same_table", [True, False])
def test_a_signed_email_sent_again_to_another_address_asks_first(inbox, server, table, first, second, same_table):
    game = table("templari")
    seat = min(game.asked())
    assert inbox.replies(game, seat, "talk hello", **first).outcome == "reply: carried out"
    if not same_table:
        inbox.takes(inbox.written(game, seat, "bid 3"), inbox.reply_address(game, seat))
        inbox.attends()
    before = chosen(game)
    to = inbox.reply_address(game, seat, turn=game.row().turn if not same_table else game.row().turn + 1)
    inbox.takes(inbox.written(game, seat, "talk hello", second), to)
    inbox.attends()
    row = inbox.rows()[-1]
    assert (row.status, row.outcome) == ("doubted", "sent before")
    assert chosen(game) == before
    assert [json.loads(each.facts)["error"] for each in answers(server, "was_it_you")] == [row.outcome]
    inbox.replies(game, seat, "talk hello again", DKIM_Signature=SIGNED % "new")
    assert inbox.rows()[-1].outcome == "reply: carried out"


@pytest.mark.parametrize(
    "message_id", [None, "<other@evil.example>", "<other@evil.example>\r\nMessage-ID: <1@example.org>"]
)
def test_a_signed_email_sent_again_to_the_same_address_asks_first(inbox, server, game, message_id):
    first = {"Message-ID": "<1@example.org>", "DKIM-Signature": SIGNED % "AbC/1="}
    assert inbox.replies(game, 0, "talk hello", **first).outcome == "reply: carried out"
    for _copy in range(3):
        inbox.takes(
            inbox.written(game, 0, "talk hello", first | {"Message-ID": message_id}), inbox.reply_address(game, 0)
        )
        inbox.attends()
    assert {row.outcome for row in inbox.rows()[1:]} <= {"sent before", "sent before, asked before"}
    assert len(all_rows(server.store)["talk"]) == 1
    assert len(answers(server, "was_it_you")) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Message-ID": "<new@evil.example>\r\nMessage-ID: <1@example.org>"},
        {"DKIM-Signature": "\r\nDKIM-Signature: ".join(SIGNED % f"{number}" for number in range(21))},
        {"Cc": "ben@example.org\r\nCc: eve@evil.example"},
        {"To": "ben@example.org\r\nTo : eve@evil.example"},
    ],
)
def test_an_email_with_headers_that_no_mail_program_writes_asks_first(inbox, server, game, headers):
    row = inbox.replies(game, 0, choice(game), **headers)
    assert (row.status, row.outcome) == ("doubted", "unusual headers")
    assert len(answers(server, "was_it_you")) == 1


ELSEWHERE = {
    "a friend": "ben@example.org",
    "a list": "chess@lists.example.net, Ann <ann@example.org>",
    "our address as a name": '"{address}" <ben@example.org>',
    "our address in a comment": "ben@example.org ({address})",
    "our address within another": "x{address}, {address}.evil.example, {address}@evil.example",
    "an address of another purpose": "b{address}",
    "people who are not named": "undisclosed-recipients:;",
    "too many": "ben@example.org, " * 1000 + "{address}",
    "a comment in a comment": "(" * 2000 + "{address}",
    "nobody": None,
}


@pytest.mark.parametrize("who", ELSEWHERE)
def test_an_email_that_its_player_wrote_to_someone_else_asks_first(inbox, server, game, who):
    address, before = inbox.reply_address(game, 0), chosen(game)
    to = ELSEWHERE[who] and ELSEWHERE[who].format(
        address=address if who != "an address of another purpose" else address[1:]
    )
    row = inbox.replies(game, 0, choice(game), To=to, Resent_To=address, Bcc=address)
    assert (row.status, row.outcome, chosen(game)) == ("doubted", "written to someone else", before)
    (asking,) = answers(server, "was_it_you")
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    unverified_replies.confirm(server, token, row.id)
    assert chosen(game) == before + 1


def test_an_email_to_another_seat_of_its_player_asks_first(inbox, game):
    row = inbox.replies(game, 0, choice(game), To=inbox.reply_address(game, 0, turn=game.row().turn + 1))
    assert row.outcome == "written to someone else"


@pytest.mark.parametrize(
    "headers",
    [
        {"To": "Auction games <{address}>"},
        {"To": '"Games, by email" <{address}>, ben@example.org'},
        {"To": "=?utf-8?q?Gr=C3=B6=C3=9Fe?=\r\n <{address}>"},
        {"To": "Ben <ben@example.org>", "Cc": "{address}"},
        {"TO": "{address}", "To": None},
        {"To": "ben@example.org,\r\n\t{address}"},
        {"To": "games:{address};"},
    ],
)
@pytest.mark.parametrize("spelled", [str, str.upper])
def test_a_reply_names_our_address_in_any_form_that_mail_programs_write(inbox, game, headers, spelled):
    address = spelled(inbox.reply_address(game, 0))
    given = {name: value and value.format(address=address) for name, value in headers.items()}
    assert inbox.replies(game, 0, choice(game), **given).outcome == "reply: carried out"


def test_a_sender_cannot_write_our_mark_of_an_email_to_us(inbox, game):
    row = inbox.replies(game, 0, choice(game), To="ben@example.org", Content_Addressed="yes")
    assert row.outcome == "written to someone else"


def test_a_mail_servers_second_delivery_without_a_message_id_is_asked_about_and_a_new_email_is_read(
    inbox, server, game
):
    first = {"Message-ID": None, "DKIM-Signature": SIGNED % "AbC/1="}
    inbox.replies(game, 0, "talk hello", **first)
    inbox.takes(
        b"Received: by another way\r\n" + inbox.written(game, 0, "talk hello", first), inbox.reply_address(game, 0)
    )
    inbox.attends()
    assert len(all_rows(server.store)["talk"]) == 1
    inbox.replies(game, 0, "talk hello", **first | {"DKIM-Signature": SIGNED % "new"})
    assert len(all_rows(server.store)["talk"]) == 2


REPLACED = {
    "new links": lambda game: (new_links.send, game.person_at(0)),
    "new links here": lambda game: (new_links.send_for_seat, game.id, 0, game.person_at(0)),
    "this wasn't me": lambda game: (new_links.replace_all, game.person_at(0)),
}


@pytest.mark.parametrize("how", REPLACED)
def test_a_reply_to_an_address_that_its_player_replaced_meanwhile_asks_first(inbox, server, game, how):
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0))
    server.run(*REPLACED[how](game))
    before = chosen(game)
    inbox.attends()
    (row,) = inbox.rows()
    assert (row.status, row.outcome, chosen(game)) == ("doubted", "its address was replaced since", before)
    (asking,) = answers(server, "was_it_you")
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    unverified_replies.confirm(server, token, row.id)
    assert chosen(game) == before + 1


@pytest.mark.slow
def test_a_reply_that_meets_new_links_at_any_step_is_carried_out_before_them_or_asked_about(server, clock, table):
    inbox, met = Inbox(replace(server, answers_a_turn=1000, answers_a_day=1000), clock), set()
    game = table("sunset-poker", 3)
    for number, meeting in enumerate(meetings(server.store)):
        clock.advance(timedelta(minutes=10))
        inbox.takes(inbox.written(game, 0, f"talk number {number}!"), inbox.reply_address(game, 0))
        meeting(inbox.attends, lambda: server.run(new_links.send, game.person_at(0)))
        row = inbox.rows()[-1]
        met.add(row.outcome)
        is_in_talk = f"number {number}!" in repr(all_rows(server.store)["talk"])
        assert is_in_talk == (row.status == "done"), row.outcome
    assert met == {
        "reply: carried out",
        "its address was replaced since",
        "its address was replaced since, asked before",
    }


def test_a_reply_whose_strokes_nobody_understands_asks_first(inbox, server, game):
    sheet = "<style>p:not(.keep){text-decoration:line-through}</style>"
    html = f"{sheet}<p>talk hello</p><p class=keep>{choice(game)}</p>"
    before = chosen(game)
    row = inbox.replies(game, 0, html, Content_Type="text/html; charset=utf-8")
    assert (row.status, row.outcome, chosen(game)) == ("doubted", "unclear strike-through", before)
    (asking,) = answers(server, "was_it_you")
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    assert len(unverified_replies.read(server, token).waiting) == 1
    unverified_replies.confirm(server, token, row.id)
    assert chosen(game) == before + 1
    assert "talk" not in [line["said"] for line in json.loads(inbox.rows()[-1].acts)]


@pytest.mark.parametrize("doubt", sorted(set(Doubt) - {Doubt.UNVOUCHED}))
def test_every_doubt_has_a_sentence_of_its_own_for_players_and_the_desk(doubt):
    assert f'== "{doubt}"' in (paths.templates() / "mail" / "was_it_you" / "body.jinja").read_text()
    assert f'"{doubt}": _(' in (paths.templates() / "web" / "desk" / "_mail.html").read_text()


def test_an_address_is_compared_as_it_was_when_it_was_entered(inbox, game):
    for sender in ("ANN@example.org", "Ann@EXAMPLE.org", '"Ann (me)" <ann@example.org>'):
        assert inbox.replies(game, 0, choice(game), From=sender).status == "done"


def test_a_signature_of_the_players_domain_is_as_good_as_dmarc(inbox, game):
    signed = f"{HOST}; dkim=pass header.d=example.org header.i=@example.org"
    assert inbox.replies(game, 0, choice(game), Authentication_Results=signed).status == "done"


def test_a_private_server_can_do_without_a_mail_server_that_looks(inbox, game):
    inbox.checks(SenderCheck.TOKEN)
    assert inbox.replies(game, 0, choice(game), Authentication_Results=None).status == "done"
    assert inbox.replies(game, 1, choice(game, 1), From="ben@evil.example").status == "doubted"


def test_without_any_check_the_token_is_enough(inbox, game):
    inbox.checks(SenderCheck.OFF)
    assert inbox.replies(game, 0, choice(game), From="anybody at all", Authentication_Results=None).status == "done"


def test_replies_are_not_read_where_the_settings_say_so(inbox, server, game):
    inbox.box = replace(inbox.box, replies=False)
    assert inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)) == "replies are off"
    assert not inbox.rows()


# The player's answer


@pytest.fixture
def doubted(inbox, server, game):
    """The token of the page that asks about a doubtful reply, and the number of the reply."""
    row = inbox.replies(game, 0, f"talk hello\r\n{choice(game)}", Authentication_Results=None)
    (asking,) = answers(server, "was_it_you")
    return inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id), row.id


def test_a_doubtful_reply_is_read_once_and_not_within_a_transaction(inbox, server, game, monkeypatch):
    """The words of a stranger may take long to read, and nothing waits for them: no page, and no statement."""
    connections = []

    def reads(message):
        connections.append(server.store.engine.pool.checkedout())
        return parse_reply(message)

    monkeypatch.setattr(processing, "parse_reply", reads)
    row = inbox.replies(game, 0, choice(game), Authentication_Results=None)
    (asking,) = answers(server, "was_it_you")
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    for _visit in range(3):
        assert unverified_replies.read(server, token).waiting
    unverified_replies.confirm(server, token, row.id)
    assert connections == [0]


def test_of_a_doubtful_email_nothing_is_kept_but_the_reply(inbox, game):
    row = inbox.replies(game, 0, "talk hello\r\n\r\n> our words", From="Mallory <mallory@evil.example>")
    assert row.status == "doubted"
    assert not any(word in (row.raw or b"") for word in (b"mallory", b"our words", b"Received"))


def test_the_page_shows_the_reply_and_changes_nothing(inbox, server, game, doubted):
    before = all_rows(server.store)
    found = unverified_replies.read(server, doubted[0])
    assert [each.lines for each in found.waiting] == [("talk hello", choice(game))]
    assert all_rows(server.store) == before


def test_the_players_yes_carries_out_the_reply_once(inbox, server, game, doubted):
    before = chosen(game)
    for _ in range(3):
        unverified_replies.confirm(server, *doubted)
    assert chosen(game) == before + 1
    assert len(all_rows(server.store)["talk"]) == 1
    assert len(answers(server, "receipt")) == 1
    assert (inbox.rows()[0].status, inbox.rows()[0].raw) == ("done", None)
    assert unverified_replies.read(server, doubted[0]).confirmed


@pytest.mark.slow
def test_two_presses_of_yes_that_meet_at_any_step_are_one_email(server, clock, game):
    inbox = Inbox(replace(server, answers_a_turn=1000, answers_a_day=1000), clock)
    met = 0
    for meeting in meetings(server.store):
        clock.advance(timedelta(minutes=10))
        row = inbox.replies(game, 0, f"talk number {met}", Authentication_Results=None)
        asking = answers(server, "was_it_you")[-1]
        token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
        yes = partial(unverified_replies.confirm, inbox.server, token, row.id)
        meeting(yes, yes)
        met += 1
        with server.store.read() as tx:
            counted = rows.counts_since(tx, server.now().date())
        assert counted["reply: carried out"] == met
        assert len(all_rows(server.store)["talk"]) == met
    assert met > 4


def test_a_yes_that_comes_too_late_plays_in_no_other_turn(inbox, server, game, doubted):
    turn = game.row().turn
    while game.row().turn == turn:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    before = chosen(game)
    unverified_replies.confirm(server, *doubted)
    assert chosen(game) == before
    assert len(answers(server, "receipt")) == 1


def test_the_players_no_drops_it_for_good(inbox, server, game, doubted):
    before = chosen(game)
    server.run(unverified_replies.reject, *doubted)
    unverified_replies.confirm(server, *doubted)
    found = unverified_replies.read(server, doubted[0])
    assert not found.waiting
    assert not found.confirmed
    assert chosen(game) == before
    assert not answers(server, "receipt")


def test_replies_that_come_before_the_player_looks_wait_on_one_page(inbox, server, game, doubted):
    second = inbox.replies(game, 0, "talk again", Authentication_Results=None)
    assert len(answers(server, "was_it_you")) == 1
    assert [each.lines[-1] for each in unverified_replies.read(server, doubted[0]).waiting] == [
        choice(game),
        "talk again",
    ]
    unverified_replies.confirm(server, doubted[0], second.id)
    assert len(all_rows(server.store)["talk"]) == 1
    assert [each.number for each in unverified_replies.read(server, doubted[0]).waiting] == [doubted[1]]
    unverified_replies.confirm(server, *doubted)
    assert not unverified_replies.read(server, doubted[0]).waiting


def test_the_link_of_one_page_says_nothing_of_replies_to_other_emails(inbox, server, game, doubted):
    other = inbox.replies(game, 1, "talk from elsewhere", Authentication_Results=None)
    for act in (partial(unverified_replies.confirm, server), partial(server.run, unverified_replies.reject)):
        for number in (other.id, 999):
            with pytest.raises(NotFound):
                act(doubted[0], number)
    assert inbox.rows()[-1].status == "doubted"


def test_a_no_after_a_yes_takes_nothing_back(inbox, server, game, doubted):
    unverified_replies.confirm(server, *doubted)
    server.run(unverified_replies.reject, *doubted)
    assert unverified_replies.read(server, doubted[0]).confirmed


def test_the_link_of_the_page_works_for_a_week_and_for_nothing_else(inbox, server, clock, doubted):
    with pytest.raises(NotFound):
        server.read(links.follow, doubted[0], Purpose.REPLY)
    clock.advance(8 * DAY)
    with pytest.raises(Gone):
        unverified_replies.confirm(server, *doubted)


# Programs, loops and storms

BY_PROGRAMS = {
    "vacation": {"Auto-Submitted": "auto-replied (vacation)"},
    "old vacation": {"Precedence": "junk"},
    "a list": {"List-Id": "<players.example.net>"},
    "another server like us": {
        "Auto-Submitted": "auto-generated",
        "List-Id": "<abc.games.other.example>",
        "From": "games@other.example",
    },
    "ourselves": {"From": OUR_SENDER, "Authentication-Results": f"{HOST}; dmarc=pass header.from={HOST}"},
    "forty stations": {"Received": "\r\nReceived: ".join(["from a by b"] * 40)},
    "away": {"Subject": "Automatic reply: Sun Bid"},
}


def test_an_email_by_a_program_does_nothing_and_gets_no_answer(inbox, server, game):
    to = inbox.reply_address(game, 0)
    before = unchanged(server, "received", "received_count")
    for program, headers in BY_PROGRAMS.items():
        inbox.takes(inbox.written(game, 0, choice(game), headers), to)
        inbox.attends()
        assert unchanged(server, "received", "received_count") == before, program
        assert inbox.rows()[-1].outcome.startswith("by a program"), program
        assert inbox.rows()[-1].raw is None, program


@pytest.mark.parametrize("lost", [(), ("Auto-Submitted", "List-Id", "X-Auto-Response-Suppress")])
def test_two_servers_that_write_to_each_other_say_nothing(inbox, server, clock, game, tmp_path, lost):
    """Every kind of email that another such server writes to one of our addresses, with some headers lost on the way."""
    other = Letterhead("Other", "https://other.example", "other.example", "games@other.example", "o@other.example")
    inbox.replies(game, 0, "talk hello")
    clock.advance(HOUR)
    deliver(server, Post(other, LocalMailbox(tmp_path)), limit=100)
    emails = [parse(file.read_bytes()) for file in tmp_path.rglob("*.eml")]
    assert {"receipt", "turn", "welcome"} <= {str(email["Feedback-ID"]).split(":")[1] for email in emails}
    _, returns = inbox.bounce_address(game, 0)
    to, before = inbox.reply_address(game, 0), unchanged(server, "received", "received_count")
    for email in emails:
        for name in lost:
            del email[name]
        trusted = f"Authentication-Results: {HOST}; dmarc=pass header.from=other.example\r\n"
        for recipient in (to, returns):
            assert inbox.takes(trusted.encode() + email.as_bytes(), recipient, "games@other.example") == "kept"
    assert inbox.attends() == 2 * len(emails)
    after = unchanged(server, "received", "received_count")
    # At most it is taken for an out-of-office reply.
    assert {**after, "ledger": before["ledger"]} == before


def test_an_email_without_a_return_address_is_by_a_program(inbox, server, game):
    inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0), envelope_from="<>")
    inbox.attends()
    assert inbox.rows()[0].outcome == "by a program: no return address"
    assert not answers(server)


def test_a_storm_is_dropped_after_some_emails_in_an_hour(inbox, clock, game):
    outcomes = [inbox.takes(inbox.written(game, 0, "talk hello"), inbox.reply_address(game, 0)) for _ in range(100)]
    assert (outcomes.count("kept"), outcomes.count("too many")) == (MOST_AN_HOUR, 100 - MOST_AN_HOUR)
    clock.advance(HOUR)
    assert inbox.takes(inbox.written(game, 0, "talk hello"), inbox.reply_address(game, 0)) == "kept"


def test_a_reply_after_too_many_in_an_hour_gets_a_word(inbox, server, game, tmp_path):
    for number in range(MOST_AN_HOUR):
        inbox.takes(inbox.written(game, 0, f"note: {number}"), inbox.reply_address(game, 0))
    inbox.attends()
    before = chosen(game)
    for _ in range(2):
        assert inbox.takes(inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)) == "too many"
    inbox.attends()
    (answer,) = [each for each in answers(server, "receipt") if json.loads(each.facts)["error"]]
    assert (json.loads(answer.facts)["too_many"], chosen(game)) == (True, before)
    mailbox = LocalMailbox(tmp_path)
    deliver(server, Post(Letterhead("Games", f"https://{HOST}", HOST, OUR_SENDER, OUR_SENDER), mailbox), limit=100)
    texts = [" ".join(mailbox.read(entry.key).text.split()) for entry in mailbox.entries()]
    (notice,) = [text for text in texts if "too many replies" in text]
    assert "reply again in an hour" in notice


def test_an_email_of_a_storm_is_dropped_before_it_is_looked_into(inbox, game, monkeypatch):
    for _ in range(MOST_AN_HOUR):
        inbox.takes(inbox.written(game, 0, "talk hello"), inbox.reply_address(game, 0))
    monkeypatch.delattr("pbem.service.links.hide_tokens")
    assert inbox.takes(inbox.written(game, 0, "talk hello"), inbox.reply_address(game, 0)) == "too many"


def test_an_email_for_several_recipients_is_looked_into_once(inbox, server, game, monkeypatch):
    found = []

    def hide_tokens(tx, server, text):
        found.append(text)
        return text

    monkeypatch.setattr("pbem.service.links.hide_tokens", hide_tokens)
    arrival = Arrival(server, inbox.box, "ann@example.org", inbox.written(game, 0, choice(game)))
    recipients = [f"nobody@{HOST}", *(inbox.reply_address(game, seat) for seat in (0, 1, 2))]
    assert [arrival.receive(to) for to in recipients] == ["a stranger", "kept", "kept", "kept"]
    assert len(found) == 1


def test_the_same_fault_is_answered_once_a_day_and_nobody_gets_more_than_a_few_answers(inbox, server, clock, game):
    for _ in range(MOST_AN_HOUR):
        inbox.replies(game, 0, choice(game), Authentication_Results=None)
    assert len(answers(server)) == 1
    clock.advance(2 * HOUR)
    for number in range(10):
        inbox.replies(game, 0, f"talk {number}")
    assert len(answers(server, "receipt")) == server.answers_a_turn
    clock.advance(2 * HOUR)
    # A correct reply is carried out nevertheless.
    before = chosen(game)
    assert inbox.replies(game, 0, choice(game)).outcome == "reply: carried out"
    assert (chosen(game), len(answers(server))) == (before + 1, server.answers_a_turn + 1)


def refusals_and_limits(server):
    """Of each answer whether it is about a refusal, and the limit that it is the last before."""
    facts = [json.loads(each.facts) for each in answers(server)]
    return [(bool(each["error"]), each["last_for"]) for each in facts]


@pytest.mark.parametrize("lines", [("talk",), ("talk hello", "talk")])
def test_a_refusal_is_told_after_every_receipt_and_every_question(inbox, server, game, lines):
    for number in range(6):
        inbox.replies(game, 0, f"talk {number}")
        inbox.replies(game, 0, choice(game), Authentication_Results=None)
        inbox.replies(game, 0, choice(game), From="ben@evil.example")
    before = len(answers(server))
    for _ in range(8):
        inbox.replies(game, 0, "\n".join(lines))
    most = server.answers_a_turn
    assert refusals_and_limits(server)[before:] == [(True, "")] * (most - 1) + [(True, "turn")], (
        "each is told, the same one too"
    )


def test_a_program_that_answers_every_email_gets_one_receipt_a_turn(inbox, server, game):
    for _ in range(3):
        inbox.replies(game, 0, "Thank you for your email. I am at the beach.")
    assert refusals_and_limits(server) == [(True, "")]


def test_the_last_answer_before_a_limit_says_so(server, clock, game):
    inbox = Inbox(replace(server, answers_a_turn=3, answers_a_day=4), clock)
    for number in range(5):
        inbox.replies(game, 0, f"talk {number}")
    assert refusals_and_limits(server) == [(False, ""), (False, ""), (False, "turn")]
    inbox = Inbox(replace(server, answers_a_turn=100, answers_a_day=4), clock)
    for number in range(5):
        # Not what came before: each email has an id of its own.
        inbox.replies(game, 0, f"talk {number}", Message_ID=f"<later-{number}@home.example>")
    assert refusals_and_limits(server)[3:] == [(False, "day")]


def test_nobody_gets_more_answers_in_a_day_than_the_settings_say(server, clock, game):
    inbox = Inbox(replace(server, answers_a_turn=100, answers_a_day=7), clock)
    for number in range(20):
        inbox.replies(game, 0, f"talk {number}")
    assert len(answers(server)) == 7
    clock.advance(DAY)
    inbox.replies(game, 0, "talk again")
    assert len(answers(server)) == 8


# Strangers, and limits


def strange(token):
    return [
        f"games@{HOST}",
        f"organiser@{HOST}",
        f"complaints@{HOST}",
        "somebody@example.net",
        "",
        f"r+{'a' * 33}@{HOST}",
        f"r+{token[:-1]}{'a' if token[-1] != 'a' else 'b'}@{HOST}",
        f"b+{token}@{HOST}",
        f"r+{token}@other.example",
        f"u+{token}@{HOST}",
        f"m+{token}@{HOST}",
    ]


def test_a_stranger_is_counted_and_leaves_nothing_else(inbox, server, game):
    raw, to = inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)
    before = unchanged(server, "received_count")
    outcomes = [inbox.takes(raw, address) for address in strange(to[2:35]) for _ in range(2)]
    assert inbox.counted() == {"a stranger": 18, "to no reply address": 4}
    assert {word: outcomes.count(word) for word in set(outcomes)} == inbox.counted()
    assert unchanged(server, "received_count") == before


@pytest.mark.parametrize("times", [1, 2, 20])
def test_a_reply_to_an_address_that_was_replaced_is_asked_about(inbox, server, game, times):
    raw, to = inbox.written(game, 0, choice(game)), inbox.reply_address(game, 0)
    for _ in range(times):
        server.run(links.revoke_seat, game.id, 0)
    assert [inbox.takes(raw, to), inbox.takes(raw, to)] == ["kept", "again"]
    inbox.attends()
    (row,) = inbox.rows()
    assert (row.status, row.outcome) == ("doubted", Doubt.REVOKED)
    (question,) = answers(server, "was_it_you")
    assert (question.person_id, game.row().turn) == (game.person_at(0), 1), "nobody moved, and its player is asked"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("text", ["pass", "x" * 25 * 2**20], ids=["readable", "too large"])
def test_a_reply_about_a_seat_that_has_changed_hands_gets_a_word(inbox, server, game, tmp_path, text, times):
    raw, to, player = inbox.written(game, 0, text), inbox.reply_address(game, 0), game.person_at(0)
    if times == 2:
        server.run(new_links.send_for_seat, game.id, 0, player)
    server.run(leaving.resign, game.id, 0, player)
    before = game.log()
    for _ in range(2):
        inbox.takes(raw, to)
        inbox.attends()
    assert game.log() == before
    assert [row.outcome for row in inbox.rows()] == (["of a lost seat"] if text == "pass" else [])
    (answer,) = queued_emails(server, player, "invitation_receipt")
    mailbox = LocalMailbox(tmp_path)
    deliver(server, Post(Letterhead("Games", f"https://{HOST}", HOST, OUR_SENDER, OUR_SENDER), mailbox), limit=100)
    (text,) = [found for entry in mailbox.entries() if "couldn't carry out" in (found := mailbox.read(entry.key).text)]
    assert "Someone else plays this seat now. Nothing changed." in " ".join(text.split())
    assert "accept" not in text
    assert answer.seat is None


def test_a_reply_confirmed_after_its_seat_has_changed_hands_gets_a_word(inbox, server, game):
    row, player = inbox.replies(game, 0, choice(game), Authentication_Results=None), game.person_at(0)
    (asking,) = answers(server, "was_it_you")
    server.run(leaving.resign, game.id, 0, player)
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    before = game.log()
    for _ in range(2):
        unverified_replies.confirm(server, token, row.id)
        shown = unverified_replies.read(server, token)
        assert (shown.waiting, shown.confirmed, shown.seat_lost) == ((), False, True)
    assert game.log() == before
    assert [each.outcome for each in inbox.rows()] == ["of a lost seat"]
    (notice,) = queued_emails(server, player, "invitation_receipt")
    assert "Someone else plays this seat now." in facts_of(server, notice)["text"]
    assert not queued_emails(server, player, "receipt")


def test_an_email_that_is_too_large_leaves_nothing_but_a_word_to_the_player(inbox, server, game):
    to, before = inbox.reply_address(game, 0), unchanged(server, "received_count")
    raw = inbox.written(game, 0, "x" * 25 * 2**20)
    before = unchanged(server, "received_count", "outbox")
    assert inbox.takes(raw, to) == "too large"
    assert unchanged(server, "received_count", "outbox") == before
    assert [each.kind for each in answers(server)] == ["receipt"]


def test_an_email_with_too_many_headers_leaves_nothing(inbox, server, game):
    raw = inbox.written(game, 0, choice(game), {"X-Any": "\r\nX-Any: ".join("x" * 2000)})
    assert inbox.takes(raw, inbox.reply_address(game, 0)) == "unreadable"
    assert not inbox.rows()


UNREADABLE = {
    "parts": ("--x\r\n\r\nbid 7\r\n" * 2000, {"Content-Type": "multipart/mixed; boundary=x"}),
    "parameters": ("bid 7", {"Content-Type": "text/plain; charset*=utf-8''a; charset*1*=x"}),
    "a style": (f'<div style="padding-left: {"9" * 400}em">bid 7</div>', {"Content-Type": "text/html"}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_reply_that_cannot_be_read_gets_a_word(inbox, server, game, what):
    text, headers = UNREADABLE[what]
    inbox.takes(inbox.written(game, 0, text, headers), inbox.reply_address(game, 0))
    inbox.attends()
    assert inbox.rows()[-1].outcome == "reply: no command"
    assert len(answers(server, "receipt")) == 1


def test_no_token_is_ever_stored(inbox, server, game):
    to = inbox.reply_address(game, 0)
    moves = inbox.token(Purpose.MOVE, person_id=game.person_at(0), game_id=game.id, turn=1, seat=0)
    text = f"{choice(game)}\r\n> https://{HOST}/m/{moves}/pass\r\n> Reply-To: {to}"
    headers = {"Authentication-Results": None, "Message-ID": f"<{moves}@{HOST}>"}
    for number, raw in enumerate(
        (inbox.written(game, 0, text, headers), report_samples.failure("5.1.1", to, quoted=to))
    ):
        inbox.takes(raw, [to, inbox.bounce_address(game, 0)[1]][number], ["ann@example.org", to][number])
    inbox.attends()
    assert any(row.raw for row in inbox.rows())
    for found in all_rows(server.store).values():
        for row in found:
            for value in row:
                stored = value if isinstance(value, bytes) else str(value).encode()
                assert not holds_token(server, stored)


# Reports of mail servers


def test_a_failure_for_good_is_in_the_ledger_and_counts_against_the_address(inbox, server, game):
    email, to = inbox.bounce_address(game, 0)
    server.store.write(lambda tx: outbox.change(tx, email, status="sent"))
    inbox.takes(report_samples.failure("5.1.1", "smtp; 550 5.1.1 <ann@example.org>: no such user"), to, "")
    inbox.attends()
    assert noted(server, email)[-1] == ("bounced", "5.1.1 550 5.1.1 <address>: no such user")
    with server.store.read() as tx:
        assert next(row.status for row in ledger.of_game(tx, game.id) if row.outbox_id == email) == "undeliverable"
        assert reachability.points(tx, game.person_at(0), server.now().date(), server.now().date()) == 2
    assert failing(server, game.person_at(0)) is None
    assert not answers(server)


def test_failures_on_enough_days_leave_the_address_alone_and_no_clock_of_its_runs(inbox, server, clock, game):
    email, to = inbox.bounce_address(game, 0)
    for day in range(THRESHOLD // 2):
        for number in range(3):
            report = b"Message-ID: <%d.%d@mx.example.net>\r\n" % (day, number)
            inbox.takes(report + report_samples.failure("5.1.1", "smtp; 550 no such user"), to, "")
        inbox.attends()
        assert (failing(server, game.person_at(0)) is not None) == (day == THRESHOLD // 2 - 1)
        clock.advance(DAY)
    assert len(noted(server, email)) == 3 * (THRESHOLD // 2)


QUIET = {
    "delayed": report_samples.failure("4.4.1", "smtp; timed out", action="delayed"),
    "away": b"Subject: Automatic reply: Sun Bid\r\nAuto-Submitted: auto-replied\r\n\r\nI am away\r\n",
    "bounced": report_samples.failure("5.7.1", "smtp; 550 5.7.1 our policy does not like you"),
}


def test_a_report_about_no_address_is_noted_and_one_about_us_raises_an_alarm(inbox, server, game):
    email, to = inbox.bounce_address(game, 0)
    before = unchanged(server, "received", "received_count", "ledger", "alarm", "deadline")
    for report in QUIET.values():
        inbox.takes(report, to, "")
        inbox.attends()
    assert [what for what, _ in noted(server, email)] == list(QUIET)
    assert unchanged(server, "received", "received_count", "ledger", "alarm", "deadline") == before
    # The player heard nothing of this turn, so it won't count as missed.
    with server.store.read() as tx:
        assert [row.undelivered for row in tx.execute(select(DEADLINE))].count(True) == 1
    assert len(all_rows(server.store)["alarm"]) == 1, "the organisers hear of a policy that keeps our mails away"


NO_REPORTS = [
    report_samples.failure("2.0.0", "smtp; 250 ok", action="delivered"),
    b"From: ann@example.org\r\nSubject: Re: Sun Bid\r\n\r\nbid 7\r\nresign\r\n",
    b"\xff\xfe",
]


def test_a_report_without_trouble_leaves_nothing(inbox, server, game):
    _, to = inbox.bounce_address(game, 0)
    before = unchanged(server, "received", "received_count")
    for raw in NO_REPORTS:
        inbox.takes(raw, to, "ann@example.org")
        inbox.attends()
    assert len(inbox.rows()) == len(NO_REPORTS)
    assert unchanged(server, "received", "received_count") == before


def test_a_complaint_stops_emails_at_once(inbox, server, game):
    email, to = inbox.bounce_address(game, 0)
    inbox.takes(report_samples.complaint(), to, "fbl@provider.example")
    inbox.attends()
    assert noted(server, email) == [("complained", "reported as abuse")]
    assert failing(server, game.person_at(0)) is not None


def test_a_complaint_to_the_address_for_complaints_finds_the_email_it_is_about(inbox, server, game):
    email, to = inbox.bounce_address(game, 1)
    assert inbox.takes(report_samples.complaint(returns=to), f"complaints@{HOST}", "fbl@provider.example") == "kept"
    inbox.attends()
    assert noted(server, email) == [("complained", "reported as abuse")]
    assert failing(server, game.person_at(1)) is not None
    assert failing(server, game.person_at(0)) is None


def test_a_report_to_a_token_that_is_forged_changes_nothing(inbox, server, game):
    _, to = inbox.bounce_address(game, 0)
    before = unchanged(server, "received_count")
    forged = to[:34] + ("a" if to[34] != "a" else "b") + to[35:]
    assert inbox.takes(report_samples.failure("5.1.1", "smtp; 550 no such user"), forged, "") == "a stranger"
    assert unchanged(server, "received_count") == before


def test_a_reply_shows_that_emails_arrive_again(inbox, server, game):
    _, to = inbox.bounce_address(game, 0)
    inbox.takes(report_samples.complaint(), to)
    inbox.attends()
    assert failing(server, game.person_at(0)) is not None
    inbox.replies(game, 0, choice(game))
    assert failing(server, game.person_at(0)) is None
