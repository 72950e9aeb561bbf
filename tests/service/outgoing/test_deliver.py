"""Emails from the queue to the relay: none is lost, none is sent in two versions, and each is in the ledger.

The relay is a real server on this machine, and the tests look at the emails that it received.
"""

import re
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import dkim
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from engine import grammar, registry
from pbem import failpoints
from pbem.config.settings import Security, Smtp
from pbem.domain.errors import Gone, NotFound
from pbem.domain.user_text import LONGEST_TALK
from pbem.mail.send.dkim import signer
from pbem.mail.send.rate_limits import Throttle
from pbem.mail.send.relay import Relay
from pbem.mail.send.smtp import Outcome, Result
from pbem.mail.wire import parse, text_of
from pbem.mail.write.compose import Letterhead
from pbem.mail.write.words import MOST_MOMENTS, TALLEST_BAR
from pbem.service import links
from pbem.service.account import delete, my_page
from pbem.service.desk.acts.correct import Redact
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable
from pbem.service.outgoing import deliver, ledger, outcomes, prepare
from pbem.service.outgoing.deliver import LEASE, TOGETHER, Post
from pbem.service.outgoing.outcomes import AGAIN, AWAY, TRIES
from pbem.service.people import addresses
from pbem.service.play import by_link, undo
from pbem.service.tables import joining, leaving, talk
from pbem.store import deadlines, ledger as ledger_rows, outbox, people as person_rows, rate_limits, reachability
from pbem.store.outbox import NewEmail
from pbem.tokens import SECRET_BYTES, Purpose, revoke, rotate
from tests.fakes import SeededRandomness
from tests.mail.test_dkim import SETTINGS, dns
from tests.mail.transports import ACCEPTED, FunctionTransport, InterceptingTransport
from tests.service.absence.test_database_away import Away
from tests.service.actors import moderate
from tests.service.database import holds_token
from tests.service.play.test_move import to_the_end
from tests.service.running_game import RunningGame

HOST = "play.example.org"
HEAD = Letterhead("Auction games by email", f"https://{HOST}", HOST, f"games@{HOST}", f"organiser@{HOST}")
HOUR = timedelta(hours=1)
LINK = re.compile(rf"https://{re.escape(HOST)}/([a-z])/([a-z2-7]{{33}})(?:/([^\s>/]+))?")


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def post(sink):
    """The relay and letterhead of this server."""
    return post_to(sink)


def post_to(sink, **given):
    return Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, sink.port, "", "", 5)), **given)


def drain(server, clock, post):
    """Let time pass until nothing is queued any more."""
    for _ in range(60):
        clock.advance(timedelta(hours=3))
        deliver.deliver(server, post, limit=100)
        if not rows(server, "queued"):
            return
    raise AssertionError("mails are stuck")


def work(server, post):
    """Send what there is to send now, as a worker does."""
    while deliver.deliver(server, post).dealt_with:
        pass


def test_long_talk_leaves_a_turn_email_room_for_the_turn(server, clock, sink, table):
    """Forty lines of the letters that need the most bytes: the newest are in the email, which says that there were more."""
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    talker = next(each for each in range(3) if each != seat)
    for _ in range(2):
        for number in range(talk.LINES_AN_HOUR):
            server.run(talk.say, game.id, talker, game.person_at(talker), f"{number} " + "李" * (LONGEST_TALK - 4))
        clock.advance(HOUR)
    drain(server, clock, post_to(sink))
    (email,) = [
        email
        for email in sink.to(server.read(addresses.read, game.person_at(seat)).address)
        if "What you can do" in email.html
    ]
    assert "see your table for the rest" in email.html
    assert f": {talk.LINES_AN_HOUR - 1} 李" in " ".join(email.text.split())
    assert len(email.html.encode()) < 16 * 1024


def rows(server, status=None, kind=None, game=None):
    with server.store.read() as tx:
        found = outbox.with_status(tx, status, 1000) if status else outbox.about(tx, game, 1000)
    # These tests are about running games only.
    return [row for row in reversed(found) if row.kind == kind or (kind is None and row.kind != "joined")]


def lines_of(server, row):
    with server.store.read() as tx:
        return [line.what for line in ledger_rows.lines(tx, [row.id]).get(row.id, [])]


def histories(server, query, *args, **given):
    with server.store.read() as tx:
        return query(tx, *args, **given)


def deadline_of(server, game, seat, turn=None):
    with server.store.read() as tx:
        return deadlines.read(tx, game.id, game.row().turn if turn is None else turn, seat)


def began(table, kind="sunset-poker", seats=3, **given):
    return table(kind, seats, **given)


def links_in(email):
    return LINK.findall(email.text)


# An email that is enough to play from


def test_a_turn_email_has_the_question_the_deadline_and_the_default(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    seat, decision = next(iter(game.open().items()))
    person = histories(server, ledger.of_person, game.person_at(seat))
    assert {"welcome", "turn"} <= {email.kind for email in person}
    emails = [email for email in sink.emails if "turn 1" in str(email.message["subject"])]
    assert len(emails) == len(game.open())
    for email in emails:
        first = email.text.splitlines()[:3]
        assert "Which card will you pick?" in first[1]
        assert first[2].startswith("Please move by Sun 22 Nov 2026, 13:00")
        assert "UTC" in first[2]
        assert "Sunset Poker, turn 1" in str(email.message["subject"])
        assert "we'll play “" in " ".join(email.text.split())
        assert game.row().entry_head.hex()[:20] in email.text
    assert decision.default.verb == "pick"


def test_a_turn_email_tells_its_reader_what_counts_of_their_time_off(server, clock, sink, post, table, person):
    server.run(my_page.change_week, person("Ann"), ("Wed",), ("Mon", "Tue", "Fri"), "08:00-17:00")
    began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    readers = [
        email.recipient
        for email in sink.emails
        if "turn 1" in str(email.message["subject"]) and "Your days off" in email.text
    ]
    assert readers == ["ann@example.org"]


def test_a_deadline_is_printed_in_its_readers_zone(server, clock, sink, post, table):
    game = began(table)
    for seat in range(3):
        server.run(addresses.change_settings, game.person_at(seat), zone="Europe/Berlin")
    clock.advance(HOUR)
    deliver.deliver(server, post)
    emails = [email for email in sink.emails if "turn 1" in str(email.message["subject"])]
    assert emails
    assert all("Sun 22 Nov 2026, 14:00 (Europe/Berlin); 13:00 UTC" in email.text for email in emails)


@pytest.mark.parametrize("kind", registry.names())
def test_a_game_can_be_played_from_its_emails_alone(server, clock, sink, post, table, kind):
    """A player who clicks the first link of each email, or replies with the default, gets through many turns."""
    game = began(table, kind)
    read = 0
    for _ in range(12):
        clock.advance(HOUR)
        deliver.deliver(server, post, limit=100)
        news, read = sink.emails[read:], len(sink.emails)
        for email in news:
            if ", turn " not in str(email.message["subject"]):
                continue
            asked = {option: token for purpose, token, option in links_in(email) if purpose == "m"}
            turn = game.row().turn
            seat = server.read(links.follow, next(t for p, t, _ in links_in(email) if p == "s"), Purpose.SEAT).seat
            decision = game.open().get(seat)
            if decision is None:
                continue
            if decision.count() <= 12:
                offered = {grammar.read(decision, option.replace("-", " ")) for option in asked}
                position_of = game.view(seat)
                rules = registry.load(kind)
                legal = {each for each in decision.choices() if rules.objects(position_of, seat, each) is None}
                assert offered == legal
            if asked:
                option, token = next(iter(asked.items()))
                assert server.run(by_link.move, token, option).turn == turn
            else:
                game.play(seat, decision.default)
    assert game.row().turn > 3
    assert game.verifies()


@pytest.mark.parametrize("kind", registry.names())
def test_every_line_of_an_email_fits_72_columns(server, clock, sink, post, table, kind):
    game = began(table, kind, title="Ångström’s long evening of cards, coins and second thoughts")
    for _ in range(6):
        clock.advance(HOUR)
        deliver.deliver(server, post, limit=100)
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
            break
    for email in sink.emails:
        too_long = [line for line in email.text.splitlines() if len(line) > 72 and "https://" not in line]
        assert too_long == []


def test_the_result_has_the_ranking_the_secret_and_the_head(server, clock, sink, post, table):
    game = began(table, "templari")
    for _ in game.play_defaults():
        pass
    drain(server, clock, post)
    results = [email for email in sink.emails if "FINAL STANDING" in email.text]
    assert len(results) == 3
    row = game.row()
    for email in results:
        assert row.secret.hex() in email.text
        assert row.commitment in email.text
        assert "1. " in email.text
        assert row.entry_head.hex()[:20] in email.text


def test_the_result_has_the_points_turn_by_turn_as_lines_and_as_bars(server, clock, sink, post, table):
    game = began(table, "templari")
    to_the_end(game, 11)
    drain(server, clock, post)
    results = [email for email in sink.emails if "FINAL STANDING" in email.text]
    assert len(results) == 3
    for email in results:
        (turns,) = re.findall(r"^  Turn((?: +\d+)+)$", email.text, re.MULTILINE)
        moments = len(turns.split())
        assert 2 <= moments <= MOST_MOMENTS
        for name, points in re.findall(r"^  \d\. (.*): (-?\d+)$", email.text, re.MULTILINE):
            assert re.search(rf"^  {re.escape(name)}(?: +-?\d+){{{moments - 1}}} +{points}$", email.text, re.MULTILINE)
        assert email.html.count("px solid #3c8a75") == 3 * moments
        assert f"border-bottom:{1 + TALLEST_BAR}px" in email.html


def test_the_tables_secret_is_in_no_email_before_the_end(server, clock, sink, post, table):
    game = began(table)
    for _ in range(4):
        clock.advance(HOUR)
        deliver.deliver(server, post, limit=100)
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    row = game.row()
    assert sink.emails
    for email in sink.emails:
        assert row.secret.hex().encode() not in email.content
        assert row.seed.hex().encode() not in email.content


# Secrets


def test_no_email_shows_a_card_of_another_seats_hidden_hand(server, clock, sink, post, table):
    game = began(table)
    for _ in range(3):
        clock.advance(HOUR)
        deliver.deliver(server, post, limit=100)
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    clock.advance(HOUR)
    before = len(sink.emails)
    deliver.deliver(server, post, limit=100)
    emails = {email.recipient: email for email in sink.emails[before:] if "YOUR LAST TURN" in email.text}
    assert len(emails) == 3
    hands = {}
    for address, email in emails.items():
        hand = re.search(r"Your hand: (.*?)\n  \S", email.text, re.DOTALL)
        hands[address] = [" ".join(card.split()).partition(" (")[0] for card in hand[1].split(";")]
        assert len(hands[address]) == 3
    for reader, email in emails.items():
        text = " ".join(email.text.split())
        for owner, cards in hands.items():
            for card in cards:
                assert bool(re.search(rf"\b{card}\b", text)) is (owner == reader), (reader, owner, card)


def test_no_token_is_ever_stored(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    assert any(holds_token(server, email.text.encode()) for email in sink.emails)
    for row in rows(server, game=game.id):
        assert row.body is not None
        whole = row.body + text_of(parse(row.body)).encode()
        assert not holds_token(server, whole)
        assert not holds_token(server, row.facts.encode())
    with server.store.read() as tx:
        ledger_lines = ledger_rows.lines(tx, [row.id for row in rows(server, game=game.id)])
    assert not any(holds_token(server, line.detail.encode()) for each in ledger_lines.values() for line in each)


def test_an_email_bounces_to_its_own_address_which_opens_nothing_else(server, clock, sink, post, table):
    began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    senders = [email.sender for email in sink.emails]
    assert len(set(senders)) == len(senders) > 3
    for sender in senders:
        token = sender.removeprefix("b+").partition("@")[0]
        assert server.read(links.follow, token, Purpose.BOUNCE).outbox_id is not None
        with pytest.raises(NotFound):
            server.read(links.follow, token, Purpose.SEAT)


# The clock


def test_a_clock_starts_when_the_relay_accepts_the_email_and_keeps_its_promise(server, clock, sink, post, table):
    game = began(table)
    seat = next(iter(game.open()))
    assert deadline_of(server, game, seat).due_at is None
    sink.does(*["450 rcpt"] * 50)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    promised = deadline_of(server, game, seat)
    assert promised.promised_at is not None
    assert promised.due_at is None
    sink.handler.script.clear()
    clock.advance(timedelta(minutes=5))
    deliver.deliver(server, post, limit=100)
    started = deadline_of(server, game, seat)
    assert started.accepted_at == clock.now()
    assert started.due_at >= promised.promised_at
    assert started.due_at - started.accepted_at >= timedelta(days=1)


def test_a_repeated_email_moves_no_clock(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    seat = next(iter(game.open()))
    before = deadline_of(server, game, seat)
    email = next(email for email in rows(server, game=game.id, kind="turn") if email.seat == seat)
    clock.advance(timedelta(hours=5))
    moderate(server, Resend(email.game_id, email.id))
    deliver.deliver(server, post, limit=100)
    assert deadline_of(server, game, seat) == before


def test_an_email_whose_deadline_is_wrong_after_a_wait_is_rewritten(server, clock, sink, post, table):
    game = began(table)
    away = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1)))
    clock.advance(HOUR)
    deliver.deliver(server, away, limit=100)
    deliver.deliver(server, replace(away, rests_until=None), limit=100)
    before = [row for row in rows(server, game=game.id, kind="turn") if row.body]
    clock.advance(timedelta(hours=30))
    deliver.deliver(server, post, limit=100)
    assert all(
        "Mon 23 Nov 2026, 19:00" in email.text for email in sink.emails if ", turn 1" in str(email.message["subject"])
    )
    for row in before:
        assert "rewritten" in lines_of(server, row)


def test_an_email_with_links_of_a_turn_that_was_undone_is_rewritten(server, clock, sink, post, table):
    game = began(table, "templari")
    (seat,) = game.asked()
    other, turn = (seat + 1) % 3, game.row().turn
    game.play(seat, "bid 1")
    server.run(talk.say, game.id, seat, game.person_at(seat), "Your bid!")
    facts = {"who": seat, "line": 1, prepare.ASKED_FOR: True}
    mention = NewEmail(game.person_at(other), "mention", game.id, None, other, None, facts)
    server.store.write(lambda tx: outbox.queue(tx, [mention], server.now(), server.now()))
    away = Post(replace(HEAD, replies=True), Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1)))
    deliver.deliver(server, away, limit=100)
    (before,) = (row for row in rows(server, game=game.id, kind="mention") if row.body)
    server.run(undo.take_back, game.id, turn, seat)
    game.play(seat, "bid 2")
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    assert "rewritten" in lines_of(server, before)


def test_an_email_that_waits_for_another_try_does_not_quote_a_line_that_was_removed(server, clock, sink, post, table):
    game = began(table, "templari")
    (seat,) = game.asked()
    server.run(talk.say, game.id, seat, game.person_at(seat), "An insult.")
    game.play(seat, "bid 1")
    clock.advance(HOUR)
    deliver.deliver(server, Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1))), limit=100)
    assert any(b"An insult" in (row.body or b"") for row in rows(server, game=game.id, kind="turn"))
    moderate(server, Redact(game.id, 1))
    assert not any(b"An insult" in (row.body or b"") for row in rows(server, game=game.id))
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (turn,) = (email for email in sink.emails if "\nTALK\n" in email.text)
    assert "An insult" not in turn.text


def test_a_clock_runs_after_an_answer_given_without_the_email_is_taken_back(server, clock, sink, post, table):
    game = began(table)
    seat, decision = next(iter(game.open().items()))
    game.play(seat, decision.default)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    server.run(undo.take_back, game.id, game.row().turn, seat)
    assert deadline_of(server, game, seat).status == "open"
    assert deadline_of(server, game, seat).due_at is not None


# Superseded


def test_an_email_whose_turn_is_over_is_never_sent(server, clock, sink, post, table):
    game = began(table)
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    assert game.row().turn == 2
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    assert not [email for email in sink.emails if "turn 1:" in str(email.message["subject"])]
    assert len([email for email in sink.emails if "turn 2:" in str(email.message["subject"])]) == 3
    first = [row for row in rows(server, game=game.id, kind="turn") if row.turn == 1]
    assert {row.status for row in first} == {"superseded"}


def test_an_email_for_a_seat_that_changed_hands_reaches_nobody(server, clock, sink, post, table):
    game = began(table)
    ann = game.players()[0]
    server.run(leaving.resign, game.id, 0, ann.person_id)
    drain(server, clock, post)
    address = f"{ann.name.lower()}@example.org"
    assert not [email for email in sink.to(address) if ", turn " in str(email.message["subject"])]


# What relays do on bad days


def test_a_temporary_refusal_is_tried_again_with_the_same_bytes(server, clock, sink, post, table):
    began(table)
    sink.does("450 rcpt", "450 data", "drop")
    drain(server, clock, post)
    names = [email.message["message-id"] for email in sink.emails]
    assert len(set(names)) == len(names)
    assert rows(server, "parked") == []


def test_an_email_whose_acceptance_got_lost_is_sent_again_as_the_same_email(server, clock, sink, post, table):
    began(table)
    sink.does("keep, drop")
    drain(server, clock, post)
    by_name = defaultdict(list)
    for email in sink.emails:
        by_name[str(email.message["message-id"])].append(email)
    assert sorted(map(len, by_name.values()))[-1] == 2
    for copies in by_name.values():
        assert {email.content for email in copies} == {copies[0].content}
        assert {email.sender for email in copies} == {copies[0].sender}


def test_a_refused_address_is_left_alone_until_the_relay_accepts_an_email_for_it(server, clock, sink, post, table):
    game = began(table)
    sink.does("550 rcpt")
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    deliver.deliver(server, post, limit=100)
    (failed,) = {row.person_id for row in rows(server, "undeliverable")}
    row, *others = [row for row in rows(server, "undeliverable") if row.person_id == failed]
    assert lines_of(server, row) == ["rendered", "undeliverable"]
    assert all(lines_of(server, other) == ["rendered", "undeliverable"] for other in others)
    with server.store.read() as tx:
        failure = reachability.failure(tx, failed)
        address = person_rows.read(tx, failed).address
    assert address not in {email.recipient for email in sink.emails}, "nothing more is tried"
    assert (failure.start_at, failure.cause) == (clock.now(), "refused")
    assert game.row().status == "playing"
    queue_links(server, failed)
    deliver.deliver(server, post, limit=100)
    with server.store.read() as tx:
        assert reachability.failure(tx, failed) is None


def test_a_turn_whose_email_was_refused_is_emailed_again_when_the_address_works(server, clock, sink, post, table):
    first, second = began(table), began(table)
    seats = [(game, seat) for game in (first, second) for seat in game.asked()]
    person = next(game.person_at(seat) for game, seat in seats)
    sink.does(*["550 rcpt"] * 100)
    clock.advance(HOUR)
    for _ in range(2):
        deliver.deliver(server, post, limit=100)
    refused = [row for row in rows(server, "undeliverable") if row.person_id == person and row.kind == "turn"]
    assert refused
    sink.handler.script.clear()
    server.store.write(lambda tx: outbox.queue(tx, [outbox.NewEmail(person, "links")], clock.now(), clock.now()))
    for _ in range(2):
        deliver.deliver(server, post, limit=100)
    for email in refused:
        assert lines_of(server, email)[-1] == "accepted"
        with server.store.read() as tx:
            clock_of = deadlines.read(tx, email.game_id, email.turn, email.seat)
        assert clock_of is not None
        assert clock_of.due_at is not None, "without a clock that runs the game would stand still for ever"


def test_a_refused_email_is_parked_and_does_not_count_against_the_address(server, clock, sink, post, table):
    began(table)
    sink.does("550 data")
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (row,) = rows(server, "parked")
    with server.store.read() as tx:
        assert reachability.since(tx, {row.person_id}, clock.now() - HOUR) == {row.person_id: ()}


@pytest.mark.slow
def test_an_email_is_parked_after_ten_tries_at_growing_intervals(server, clock, sink, post, person):
    queue_links(server, person("Ann"))
    sink.does(*["450 rcpt"] * 50)
    tried = []
    for _ in range(60 * 24 * 4):
        before = len(sink.handler.commands)
        deliver.deliver(server, post)
        if len(sink.handler.commands) > before:
            tried.append(clock.now())
        clock.advance(timedelta(seconds=15))
        if rows(server, "parked"):
            break
    (row,) = rows(server, "parked", kind="links")
    assert len(tried) == row.attempts == TRIES
    gaps = [later - earlier for earlier, later in pairwise(tried)]
    steps = [30, 60, 120, 300, 600, 1800, 3600, 7200, 7200]
    for gap, step in zip(gaps, steps, strict=True):
        assert step * 0.9 <= gap.total_seconds() <= step * 1.1 + 15
    assert len(set(gaps)) > 5


def test_a_relay_that_is_away_costs_no_email_a_try_and_rests_for_a_while(server, clock, sink, post, table):
    game = began(table)
    away = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1)))
    clock.advance(HOUR)
    for _ in range(40):
        deliver.deliver(server, away)
        clock.advance(timedelta(minutes=11))
    assert away.failures > 10
    waiting = [row for row in rows(server, game=game.id) if row.status == "queued"]
    assert len(waiting) == len(rows(server, game=game.id))
    assert {row.attempts for row in waiting} == {0}
    rested = away.rests_until
    deliver.deliver(server, away)
    clock.set(rested - timedelta(seconds=1))
    assert deliver.deliver(server, away).dealt_with == 0
    drain(server, clock, post)
    assert len(sink.emails) >= len(waiting)


def test_a_relay_that_is_back_and_breaks_one_connection_gets_the_other_emails_at_once(server, clock, sink, post, table):
    began(table)
    post.transport, reached = Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1)), post.transport
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    clock.set(post.rests_until)
    post.transport = reached
    sink.does("drop")
    work(server, post)
    assert [row.attempts for row in rows(server, "queued")] == [1], "the one that was running"
    assert sink.emails


def test_an_email_that_cannot_be_written_holds_up_no_other(server, clock, sink, post, table, person, caplog):
    ann = person("Ann")
    now = server.now()
    server.store.write(lambda tx: outbox.queue(tx, [NewEmail(ann, "nonsense")], now, now))
    began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    assert len(sink.emails) >= 6
    (bad,) = [row for row in rows(server, "queued") if row.kind == "nonsense"]
    assert bad.attempts == 1
    drain(server, clock, post)
    assert [row.kind for row in rows(server, "parked")] == ["nonsense"]


def test_an_email_is_written_as_soon_as_a_failed_database_is_back_and_no_try_is_counted(
    server, clock, sink, post, person, monkeypatch
):
    readers = [person(name) for name in ("Ann", "Ben", "Cleo", "Dan")]
    work(server, post)
    for reader in readers:
        queue_links(server, reader)
    away = Away(monkeypatch, prepare, "_store")
    away.gone = True
    for _ in range(TRIES + 1):
        work(server, post)
        assert away.asked == 1 + AWAY, "all together and two alone; then it is known to be away"
        away.asked = 0
        work(server, post)
        clock.advance(AGAIN)
    away.gone = False
    work(server, post)
    clock.advance(AGAIN)
    work(server, post)
    assert {email.recipient.partition("@")[0] for email in sink.emails} == {"ann", "ben", "cleo", "dan"}
    assert {row.attempts for row in rows(server, "sent", kind="links")} == {1}
    assert {line for row in rows(server, "sent", kind="links") for line in lines_of(server, row)} == {
        "rendered",
        "accepted",
    }


def test_an_email_that_left_while_the_database_failed_leaves_once_and_is_recorded_when_it_is_back(
    server, clock, sink, post, person, monkeypatch
):
    readers = [person("Ann"), person("Ben")]
    work(server, post)
    for reader in readers:
        queue_links(server, reader)
    away, left_at = Away(monkeypatch, outcomes, "accept"), server.now()
    away.gone = True
    for _ in range(TRIES + 1):
        with pytest.raises(OperationalError):
            work(server, post)
        clock.advance(LEASE)
    away.gone = False
    work(server, post)
    assert sorted(email.recipient.partition("@")[0] for email in sink.emails) == ["ann", "ben"]
    sent = rows(server, "sent", kind="links")
    assert {row.attempts for row in sent} == {1}
    with server.store.read() as tx:
        lines = ledger_rows.lines(tx, [row.id for row in sent])
    assert [[line.at for line in lines[row.id] if line.what == "accepted"] for row in sent] == [[left_at]] * 2


def test_an_acceptance_that_cannot_be_recorded_for_another_reason_holds_up_no_other_email(
    server, clock, sink, post, person, monkeypatch
):
    queue_links(server, person("Ann"))
    real = outcomes.accept

    def fails(tx, server, accepted):
        if any(attempt.email.id == ann.id for attempt in accepted):
            raise ZeroDivisionError
        real(tx, server, accepted)

    (ann,) = rows(server, "queued", kind="links")
    monkeypatch.setattr(outcomes, "accept", fails)
    with pytest.raises(ZeroDivisionError):
        work(server, post)
    queue_links(server, person("Ben"))
    work(server, post)
    assert [email.recipient.partition("@")[0] for email in sink.emails][-1] == "ben"


def test_an_email_that_kills_its_sender_again_and_again_is_parked(server, clock, post, person):
    queue_links(server, person("Ann"))

    def dies(_email):
        raise Killed

    for _ in range(TRIES):
        with pytest.raises(Killed):
            deliver.deliver(server, replace(post, transport=FunctionTransport(dies)))
        clock.advance(LEASE)
    deliver.deliver(server, replace(post, transport=FunctionTransport(dies)))
    assert [row.kind for row in rows(server, "parked")] == ["links"]


def envelope_id(server, email_id):
    """The name of an email in its envelope."""
    with server.store.read() as tx:
        return outbox.read(tx, email_id).message_id.strip("<>").partition(".")[0]


def killing_at_sending(deadly, post, server):
    """The sender dies as it hands over a certain email."""

    def hand(email, onward):
        if email.name == envelope_id(server, deadly.id):
            raise Killed
        return onward(email)

    return replace(post, transport=InterceptingTransport(post.transport, hand))


def killing_at_writing(deadly, post, server):
    """The sender dies as it stores the bytes of a certain email."""

    def strike(_connection, _cursor, statement, parameters, _context, executemany):
        if statement.startswith("UPDATE outbox SET") and "rendered_at" in statement:
            for each in parameters if executemany else [parameters]:
                if deadly.id in (each.values() if isinstance(each, dict) else each):
                    raise Killed

    event.listen(server.store.engine, "before_cursor_execute", strike)
    return post


@pytest.mark.parametrize("killing", [killing_at_sending, killing_at_writing])
def test_an_email_that_kills_its_sender_delays_others_for_one_lease_and_parks_none_of_them(
    server, clock, sink, post, person, killing
):
    for number in range(5):
        queue_links(server, person(f"Player {number}"))
    deadly, *behind = rows(server, "queued", kind="links")
    deadly_post = killing(deadly, post, server)
    with pytest.raises(Killed):
        work(server, deadly_post)
    assert sink.emails == []
    newer = person("Zoe")
    for tries in range(2, TRIES + 1):
        clock.advance(LEASE)
        queue_links(server, newer)
        with pytest.raises(Killed):
            work(server, deadly_post)
        work(server, deadly_post)
        assert [(row.id, row.attempts) for row in rows(server, "queued", kind="links")] == [(deadly.id, tries)]
        assert len(sink.emails) == len(behind) + tries - 1, "the others have gone, and a newer one before it"
    clock.advance(LEASE)
    work(server, deadly_post)
    assert [row.id for row in rows(server, "parked")] == [deadly.id]
    names = Counter(str(email.message["message-id"]) for email in sink.emails)
    assert set(names.values()) == {1}


def test_an_email_that_was_left_behind_and_given_back_still_goes_alone(server, clock, sink, post, person):
    for name in ("Ann", "Ben"):
        queue_links(server, person(name))
    deadly, behind = rows(server, "queued", kind="links")
    deadly_post = killing_at_sending(deadly, post, server)
    with pytest.raises(Killed):
        work(server, deadly_post)
    clock.advance(LEASE)
    away = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1)))
    work(server, away)
    assert away.failures == 1, "the first of them was tried"
    # Then nothing may go to their domain for a while.
    later = clock.now() + HOUR
    server.store.write(lambda tx: rate_limits.write(tx, {"example.org": later}))
    work(server, post)
    clock.set(later)
    queue_links(server, person("Zoe"))
    with pytest.raises(Killed):
        work(server, deadly_post)
    assert [email.recipient for email in sink.emails] == ["zoe@example.org"], "what nobody has begun goes first"
    assert [(row.id, row.attempts) for row in rows(server, "queued", kind="links")] == [(deadly.id, 2), (behind.id, 1)]
    work(server, deadly_post)
    assert [email.recipient for email in sink.emails] == ["zoe@example.org", "ben@example.org"]


def test_emails_left_behind_are_sent_when_the_relay_is_back(server, clock, sink, post, person):
    """No other email is queued that could show that the relay is back."""
    for name in ("Ann", "Ben"):
        queue_links(server, person(name))
    with pytest.raises(Killed):
        work(server, replace(post, transport=Steps(1).around(post.transport)))
    clock.advance(LEASE)
    reached, post.transport = post.transport, Relay(Smtp("127.0.0.1", Security.NONE, 1, "", "", 1))
    work(server, post)
    assert post.rests_until > clock.now()
    post.transport = reached
    clock.set(post.rests_until)
    work(server, post)
    assert sorted(email.recipient for email in sink.emails) == ["ann@example.org", "ben@example.org"]


def test_a_sender_that_was_asleep_gives_emails_back_without_a_try(server, clock, post, person):
    for name in ("Ann", "Ben"):
        queue_links(server, person(name))

    def sleeps(_email):
        clock.advance(LEASE * 2)
        return Outcome(Result.DOWN, "connection refused")

    deliver.deliver(server, replace(post, transport=FunctionTransport(sleeps)))
    waiting = rows(server, "queued", kind="links")
    assert [(row.attempts, row.lease_id) for row in waiting] == [(0, None)] * 2


def test_an_email_that_kills_its_sender_has_few_others_sent_twice_and_none_more_often(
    server, clock, sink, post, person
):
    for number in range(TOGETHER + 6):
        queue_links(server, person(f"Player {number}"))
    waiting = rows(server, "queued", kind="links")
    deadly = waiting[-1]
    deadly_post = killing_at_sending(deadly, post, server)
    clock.advance(HOUR)
    newer = person("Zoe")
    for _ in range(TRIES):
        with pytest.raises(Killed):
            # A process that begins remembers nothing of what one before it handed over.
            work(server, replace(deadly_post))
        # Another one that leaves before it, and is tried for the first time.
        queued, now = NewEmail(newer, "links"), server.now()
        server.store.write(lambda tx, queued=queued, now=now: outbox.queue(tx, [queued], now, deadly.due_at - HOUR))
        clock.advance(LEASE)
    work(server, deadly_post)
    names = Counter(str(email.message["message-id"]) for email in sink.emails)
    assert [row.id for row in rows(server, "parked")] == [deadly.id]
    assert len(names) == len(waiting) - 1 + TRIES
    assert sorted(names.values()) == [1] * (len(names) - 5) + [2] * 5
    assert len({email.content for email in sink.emails}) == len(names)


def test_no_email_is_sent_a_third_time_because_its_sender_died_twice(server, clock, sink, post, person):
    ann, ben = person("Ann"), person("Ben")
    for each in (ann, ben):
        queue_links(server, each)
        # Right after the first email was handed over; then after the new one, before the first is handed over again.
        with pytest.raises(Killed):
            work(server, replace(post, transport=Steps(2 if each == ann else 3).around(post.transport)))
        clock.advance(LEASE)
    work(server, post)
    assert [email.recipient for email in sink.emails] == ["ann@example.org", "ben@example.org", "ann@example.org"]


def test_an_email_that_bounces_before_its_acceptance_is_recorded_is_undeliverable(server, clock, post, person):
    queue_links(server, person("Ann"))
    (email,) = rows(server, "queued", kind="links")
    server.store.write(lambda tx: outbox.came_back(tx, email.id))
    assert rows(server, "queued", kind="links") == [email], "it has not left yet"

    def bounces_at_once(_email):
        server.store.write(lambda tx: outbox.came_back(tx, email.id))
        return ACCEPTED

    deliver.deliver(server, replace(post, transport=FunctionTransport(bounces_at_once)))
    assert [row.id for row in rows(server, "undeliverable")] == [email.id]
    assert lines_of(server, email) == ["rendered", "accepted"]


NEVER_TAKEN = [Result.LATER, Result.REFUSED_MESSAGE, Result.REFUSED_RECIPIENT, Result.UNABLE]


@pytest.mark.parametrize("result", NEVER_TAKEN)
def test_a_sender_whose_email_was_resent_meanwhile_records_nothing(server, clock, sink, post, person, result):
    ann = person("Ann")
    queue_links(server, ann)
    (email,) = rows(server, "queued", kind="links")

    def overtaken(_email):
        moderate(server, ResendOfNoTable(email.id))
        deliver.deliver(server, post)
        return Outcome(result, "550 5.1.1 no")

    deliver.deliver(server, replace(post, transport=FunctionTransport(overtaken)))
    assert [row.id for row in rows(server, "sent", kind="links")] == [email.id]
    assert lines_of(server, email) == ["rendered", "resent", "accepted"]
    with server.store.read() as tx:
        assert not reachability.failing_among(tx, {ann})
    drain(server, clock, post)
    assert len(sink.emails) == 1


@pytest.mark.parametrize("result", NEVER_TAKEN)
def test_a_failure_changes_nothing_about_an_email_whose_reader_was_deleted_meanwhile(server, post, person, result):
    ann = person("Ann")
    queue_links(server, ann)
    (email,) = rows(server, "queued", kind="links")

    def leaves(_email):
        server.run(delete.delete_person, ann)
        return Outcome(result, "550 5.1.1 no")

    deliver.deliver(server, replace(post, transport=FunctionTransport(leaves)))
    assert [row.id for row in rows(server, "superseded", kind="links")] == [email.id]
    with server.store.read() as tx:
        assert not any(line.detail for line in ledger_rows.lines(tx, [email.id])[email.id])
        assert not reachability.failing_among(tx, {ann})


def test_a_domain_gets_no_more_than_its_share_at_once(server, clock, sink, person):
    post = post_to(sink, throttle=Throttle(per_domain=1))
    people_there = [person(name) for name in ("Ann", "Ben", "Cleo", "Dan")]
    drain(server, clock, post)
    clock.advance(HOUR)
    for each in people_there:
        queue_links(server, each)
    done = deliver.deliver(server, post)
    assert len(sink.emails) == 2
    assert done.postponed == 2
    clock.advance(timedelta(seconds=5))
    deliver.deliver(server, post)
    assert len(sink.emails) == 4


# Crashes


class Steps:
    """Counts the steps of a sender, at the database and around the relay, and ends the process at one of them."""

    def __init__(self, at):
        self.left = at

    def __call__(self, *_, **__):
        self.left -= 1
        if self.left == 0:
            raise Killed

    def around(self, transport):
        def hand(email, onward):
            self()
            outcome = onward(email)
            self()
            return outcome

        return InterceptingTransport(transport, hand)


@pytest.mark.slow
def test_a_sender_that_dies_between_any_two_steps_loses_no_email_and_makes_no_second_one(
    server, clock, sink, post, table
):
    server = replace(server, open_tables=10_000)
    post = replace(post, signer=signer(SETTINGS))
    relay = post.transport
    died = 0
    for n in range(1, 10_000):
        game = began_alone(server, table)
        clock.advance(HOUR)
        steps = Steps(n)
        engine = server.store.engine
        event.listen(engine, "before_cursor_execute", steps)
        event.listen(engine, "commit", steps)
        before = len(sink.emails)
        try:
            deliver.deliver(server, replace(post, transport=steps.around(relay)), limit=100)
            finished = True
        except Killed:
            finished = False
            died += 1
        finally:
            event.remove(engine, "before_cursor_execute", steps)
            event.remove(engine, "commit", steps)
        clock.advance(LEASE)
        work(server, post)
        assert_each_once(server, game, sink.emails[before:])
        for email in sink.emails[before:]:
            assert email.content.startswith(b"DKIM-Signature: ")
            assert email.message.get_content_type() == "multipart/alternative"
        if finished:
            break
    assert died > 30


@pytest.fixture
def at_commit():
    """Do something once, right after a number of transactions from now."""

    def arm(number, act):
        left = [number]

        def strike(point):
            left[0] -= point == "store.committed"
            if left[0] == 0:
                failpoints.set_handler(None)
                act()

        failpoints.set_handler(strike)

    yield arm
    failpoints.set_handler(None)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_sender_that_was_overtaken_while_writing_sends_nothing(server, clock, sink, post, person, at_commit, number):
    """Its lease ran out, and another sender wrote and sent the email: its own version reaches nobody."""
    queue_links(server, person("Ann"))
    sink.does("keep, drop")

    def another():
        clock.advance(LEASE)
        work(server, post_to(sink))

    at_commit(number, another)
    deliver.deliver(server, post)
    assert len(sink.emails) == 1
    drain(server, clock, post)
    assert len(sink.emails) == 2
    assert sink.emails[0].content == sink.emails[1].content


def test_an_email_that_may_have_left_is_never_rewritten_even_if_its_deadline_is_wrong(server, clock, sink, post, table):
    game = began(table)
    seat = max(game.open())
    clock.advance(HOUR)
    # Right after the last email, which asks a player, was handed over and before that was recorded.
    last = 2 * len([row for row in rows(server, game=game.id) if row.status == "queued"])
    with pytest.raises(Killed):
        deliver.deliver(server, replace(post, transport=Steps(last).around(post.transport)), limit=100)
    before = {str(email.message["message-id"]): email.content for email in sink.emails}
    clock.advance(timedelta(hours=30))
    work(server, post)
    for email in sink.emails:
        assert before.get(str(email.message["message-id"]), email.content) == email.content
    asking = {row.message_id for row in rows(server, game=game.id, kind="turn") if row.status == "sent"}
    assert len(asking) == 3
    assert asking <= set(before)
    # The later moment counts, and the player who read the earlier one gets a notice.
    assert deadline_of(server, game, seat).due_at >= clock.now() + timedelta(hours=23)


def began_alone(server, table):
    found = server.run(addresses.register, "ann@example.org", "Ann")
    server.run(addresses.confirm, found.id)
    game_id = server.run(
        joining.create_table, found.id, joining.TableSettings("templari", 3, bots=("greedy", "greedy"))
    ).game_id
    server.run(joining.join, game_id, found.id)
    return RunningGame(server, game_id)


def assert_each_once(server, game, received):
    """Assert that every email about the game was sent, and that all copies of one are the same bytes."""
    sent = {row.message_id for row in rows(server, game=game.id) if row.status == "sent"}
    assert {row.status for row in rows(server, game=game.id)} == {"sent"}
    by_name = defaultdict(set)
    for email in received:
        by_name[str(email.message["message-id"])].add(email.content)
    assert sent <= set(by_name)
    assert all(len(contents) == 1 for contents in by_name.values())
    assert len(rows(server, game=game.id)) == len(sent)


def test_a_signature_covers_the_links_and_is_the_same_on_every_try(server, clock, sink, post, table):
    game = began(table)
    sink.does("keep, drop")
    clock.advance(HOUR)
    deliver.deliver(server, replace(post, signer=signer(SETTINGS)), limit=100)
    clock.advance(HOUR)
    deliver.deliver(server, replace(post, signer=signer(SETTINGS)), limit=100)
    assert_each_once(server, game, sink.emails)
    assert len(sink.emails) > len({email.content for email in sink.emails})
    for email in sink.emails:
        assert links_in(email)
        assert not server.keys.template(email.content).rows, "no place for a link is left empty"
        assert dkim.verify(email.content, dnsfunc=dns)
        assert not dkim.verify(email.content.replace(b"/u/", b"/v/"), dnsfunc=dns)


def test_senders_side_by_side_send_each_email_once(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: deliver.deliver(server, post_to(sink), limit=2), range(12)))
    names = [str(email.message["message-id"]) for email in sink.emails]
    assert len(names) == len(set(names))
    assert {row.status for row in rows(server, game=game.id)} == {"sent"}


# The ledger, and sending again by hand


def test_the_ledger_has_what_happened_to_an_email(server, clock, sink, post, person):
    ann = person("Ann")
    queue_links(server, ann)
    sink.does("450 rcpt")
    drain(server, clock, post)
    (email,) = [email for email in histories(server, ledger.of_person, ann) if email.kind == "links"]
    assert [line.what for line in email.lines] == ["queued", "rendered", "postponed", "accepted"]
    assert not any("@" in line.detail for line in email.lines)
    assert email.status == "sent"


def test_the_ledger_of_a_game_and_of_one_seat(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    assert {email.seat for email in histories(server, ledger.of_game, game.id)} == {0, 1, 2, None}
    assert {email.kind for email in histories(server, ledger.of_game, game.id, seat=1)} == {"welcome", "turn"}


def test_a_resent_email_is_the_same_bytes(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (row, *_) = rows(server, game=game.id, kind="turn")
    moderate(server, Resend(row.game_id, row.id))
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    copies = [email for email in sink.emails if email.message["message-id"] == row.message_id]
    assert len(copies) == 2
    assert copies[0].content == copies[1].content


def test_an_email_resent_after_its_links_were_renewed_has_the_new_ones(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (row, *_) = rows(server, game=game.id, kind="turn")
    server.run(links.revoke_seat, game.id, row.seat)
    moderate(server, Resend(row.game_id, row.id))
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    old, new = [email for email in sink.emails if email.message["message-id"] == row.message_id]
    dead, live = (next(token for purpose, token, _ in links_in(email) if purpose == "m") for email in (old, new))
    with pytest.raises(Gone):
        server.read(links.follow, dead, Purpose.MOVE)
    assert server.read(links.follow, live, Purpose.MOVE).seat == row.seat


def test_an_outdated_email_is_not_resent(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (row, *_) = rows(server, game=game.id, kind="turn")
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    with pytest.raises(Gone, match="moved on"):
        moderate(server, Resend(row.game_id, row.id))
    with pytest.raises(NotFound):
        moderate(server, Resend(game.id, 999_999))


def test_an_email_resent_after_its_key_was_revoked_is_rewritten_under_another_name(server, clock, sink, post, table):
    game = began(table)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    (row, *_) = rows(server, game=game.id, kind="turn")
    before = len(sink.emails)
    fresh = SeededRandomness(99).bytes(SECRET_BYTES)
    turned = replace(server, keys=revoke(rotate(server.keys, fresh, clock.now().date()), server.keys.keys[0].id))
    moderate(turned, Resend(row.game_id, row.id))
    clock.advance(HOUR)
    deliver.deliver(turned, post, limit=100)
    (again,) = sink.emails[before:]
    token = next(token for purpose, token, _ in links_in(again) if purpose == "s")
    assert turned.read(links.follow, token, Purpose.SEAT).seat == row.seat
    # Mail programs hide a second email with the same Message-ID.
    assert again.message["message-id"] not in {email.message["message-id"] for email in sink.emails[:before]}


def test_a_turn_emailed_twice_says_both_times_what_happened_before_it(server, clock, sink, post, table):
    game = began(table)
    for _ in range(2):
        clock.advance(HOUR)
        deliver.deliver(server, post, limit=100)
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    now, turn = server.now(), game.row().turn
    repeated = NewEmail(game.person_at(0), "turn", game.id, None, 0, turn)
    server.store.write(lambda tx: outbox.queue(tx, [repeated], now, now))
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    address = sink.emails[-1].recipient
    first, second = [email for email in sink.to(address) if f"turn {turn}:" in str(email.message["subject"])]
    last_turns = [email.text.split("YOUR LAST TURN")[1].split("SUNSET POKER")[0] for email in (first, second)]
    assert last_turns[0] == last_turns[1]
    assert "You pick" in last_turns[0]


def queue_links(server, person_id):
    now = server.now()
    server.store.write(lambda tx: outbox.queue(tx, [NewEmail(person_id, "links")], now, now))


def test_a_batch_that_is_told_to_stop_gives_the_others_back_without_a_try(server, clock, sink, table):
    began(table, seats=5)
    clock.advance(HOUR)
    sending = Post(HEAD, FunctionTransport(lambda _email: sending.stopping.set() or ACCEPTED))
    deliver.deliver(server, sending)
    left = rows(server, "queued")
    assert len(left) >= 4
    assert {(row.attempts, row.lease_id) for row in left} == {(0, None)}
