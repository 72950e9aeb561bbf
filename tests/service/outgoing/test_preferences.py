"""Email preferences: which emails leave when, which wait or are withheld, and what that means for clocks.

The relay is a real server on this machine, and time passes only when it is told to.
"""

import json
from datetime import UTC, datetime, timedelta

import pytest

from pbem.domain.delivery import parse_delivery
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.domain.topics import Topic
from pbem.service.absence import timeouts
from pbem.service.outgoing import deliver, ledger, preferences
from pbem.service.people import addresses, sign_in
from pbem.service.play import undo
from pbem.store import deadlines, outbox
from tests.service.clock import DAY, MINUTE
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.outgoing.test_deliver import HOUR, drain, lines_of, post_to

SECOND = timedelta(seconds=1)


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def game(table, server, clock, post):
    """A game in which one decides after the other, and whose beginning has been told."""
    began = table("templari", 3)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    return began


def next_of(game):
    """Let the seat that is asked pass; returns the seat that is asked next."""
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    return next(iter(game.asked()))


def prefer(server, person, text, key=None):
    server.run(preferences.choose, person, parse_delivery(text), key)


def all_prefer(server, game, text):
    for seat in range(3):
        prefer(server, game.person_at(seat), text)


def turn_of(server, game, seat):
    """The newest turn email of a seat."""
    return [row for row in queued_emails(server, game.person_at(seat), "turn") if row.game_id == game.id][-1]


def clock_of(server, game, seat):
    with server.store.read() as tx:
        return deadlines.read(tx, game.id, game.row().turn, seat)


def test_delayed_emails_give_no_more_time(server, clock, sink, post, game):
    all_prefer(server, game, "after 30m")
    asked_at = clock.now()
    seat = next_of(game)
    clock.advance(2 * MINUTE)
    before = len(sink.emails)
    deliver.deliver(server, post)
    assert len(sink.emails) == before
    assert clock_of(server, game, seat).accepted_at == asked_at + server.hold
    clock.set(asked_at + 30 * MINUTE)
    deliver.deliver(server, post)
    assert turn_of(server, game, seat).status == "sent"
    assert len(sink.emails) == before + 1
    assert clock_of(server, game, seat).accepted_at == asked_at + server.hold
    assert turn_of(server, game, seat).attempts == 1, "waiting is no try"


def test_a_delayed_email_is_dropped_when_its_turn_was_answered_meanwhile(server, clock, sink, post, game):
    all_prefer(server, game, "after 30m")
    seat = next_of(game)
    clock.advance(2 * MINUTE)
    deliver.deliver(server, post)
    before = len(sink.emails)
    email = turn_of(server, game, seat)
    game.play(seat, game.asked()[seat].default)
    clock.advance(40 * MINUTE)
    deliver.deliver(server, post)
    assert lines_of(server, email)[-1] == "superseded"
    assert all(email.message_id != str(sent.message["message-id"]) for sent in sink.emails[before:])


@pytest.mark.parametrize("way", ["results", "nothing", "reminders"])
def test_a_turn_has_a_clock_even_if_its_player_wants_no_email(server, clock, sink, post, game, way):
    all_prefer(server, game, way)
    asked_at = clock.now()
    seat = next_of(game)
    clock.advance(2 * MINUTE)
    before = len(sink.emails)
    deliver.deliver(server, post)
    assert len(sink.emails) == before
    assert turn_of(server, game, seat).status == "withheld"
    assert lines_of(server, turn_of(server, game, seat))[-1] == "withheld"
    row = clock_of(server, game, seat)
    assert row.accepted_at == asked_at + server.hold
    assert row.due_at >= asked_at + DAY


def test_a_player_who_prefers_results_gets_the_result(server, clock, sink, post, table):
    game = table("templari", 3, bots=("random", "random"))
    ann = game.person_at(next(seat for seat, player in game.players().items() if player.person_id))
    prefer(server, ann, "results")
    for _ in game.play_defaults():
        pass
    drain(server, clock, post)
    got = {row.kind for row in queued_emails(server, ann) if row.status == "sent"}
    assert "result" in got
    assert not got & {"turn", "welcome", "reminder", "notice"}


def test_a_person_who_stopped_all_emails_still_gets_those_they_ask_for(server, clock, sink, post, game):
    ann = game.person_at(0)
    prefer(server, ann, "nothing")
    address = server.read(addresses.read, ann).address
    server.run(sign_in.send_link, address)
    before = len(sink.to(address))
    clock.advance(HOUR)
    deliver.deliver(server, post)
    assert len(sink.to(address)) == before + 1


def test_reminders_only_means_an_email_when_the_answer_is_still_missing(server, clock, sink, post, game):
    all_prefer(server, game, "reminders")
    seat = next_of(game)
    for _ in range(26):
        clock.advance(HOUR)
        deliver.deliver(server, post)
        timeouts.remind(server)
        deliver.deliver(server, post)
    sent = [
        row.kind
        for row in queued_emails(server, game.person_at(seat))
        if row.turn == game.row().turn and row.status == "sent"
    ]
    assert sent
    assert set(sent) == {"reminder"}


def test_the_preference_of_a_table_wins_over_that_of_all(server, clock, sink, post, table):
    first, second = table("sunset-poker", 3), table("sunset-poker", 3)
    drain(server, clock, post)
    for seat in range(3):
        prefer(server, first.person_at(seat), "results")
        prefer(server, first.person_at(seat), "at once", second.row().key)
    for game in (first, second):
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    statuses = {
        game.id: {
            row.status
            for row in queued_emails(server, kind="turn")
            if row.game_id == game.id and row.turn == game.row().turn
        }
        for game in (first, second)
    }
    assert statuses == {first.id: {"withheld"}, second.id: {"sent"}}


# Quiet hours


def test_only_emails_asked_for_leave_in_quiet_hours(server, clock, sink, post, game):
    for seat in range(3):
        server.run(addresses.change_settings, game.person_at(seat), quiet="22:00-07:00")
    clock.set(datetime(2026, 11, 22, 21, 59, 30, tzinfo=UTC))
    seat = next_of(game)
    address = server.read(addresses.read, game.person_at(seat)).address
    before = len(sink.emails)
    clock.advance(2 * HOUR)
    server.run(sign_in.send_link, address)
    deliver.deliver(server, post)
    assert [row.kind for row in queued_emails(server, game.person_at(seat)) if row.accepted_at == clock.now()] == [
        "links"
    ]
    assert len(sink.emails) == before + 1
    morning = datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
    clock.set(morning - SECOND)
    deliver.deliver(server, post)
    assert len(sink.emails) == before + 1
    clock.set(morning)
    deliver.deliver(server, post)
    # Quiet hours cost no time: the email could not leave, and the clock starts with it.
    assert clock_of(server, game, seat).accepted_at == morning


def test_emails_that_waited_for_the_morning_leave_in_their_order(server, clock, sink, post, game, person):
    ann = game.person_at(0)
    server.run(addresses.change_settings, ann, quiet="22:00-07:00")
    clock.set(datetime(2026, 11, 22, 23, 0, tzinfo=UTC))
    for number in range(5):
        now = clock.now()
        queued = outbox.NewEmail(
            ann, "call_answered", facts={"call": "?", "answer": f"answer {number}", "done": "answered"}
        )
        server.store.write(lambda tx, queued=queued, now=now: outbox.queue(tx, [queued], now, now))
        clock.advance(MINUTE)
        deliver.deliver(server, post)
    clock.set(datetime(2026, 11, 23, 7, 0, tzinfo=UTC))
    deliver.deliver(server, post)
    texts = [email.text for email in sink.to(server.read(addresses.read, ann).address) if "answer" in email.text]
    assert [number for text in texts for number in range(5) if f"answer {number}" in text] == [0, 1, 2, 3, 4]


# Changing one's mind


def test_a_person_who_wants_emails_again_gets_the_one_that_was_withheld(server, clock, sink, post, game):
    all_prefer(server, game, "nothing")
    seat = next_of(game)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    running = clock_of(server, game, seat)
    before = len(sink.emails)
    prefer(server, game.person_at(seat), "at once")
    deliver.deliver(server, post)
    assert [email.recipient for email in sink.emails[before:]] == [
        server.read(addresses.read, game.person_at(seat)).address
    ]
    assert turn_of(server, game, seat).status == "sent"
    assert clock_of(server, game, seat).due_at == running.due_at, "no new time by changing a preference"


def test_a_changed_preference_releases_an_email_but_not_before_the_hold_is_over(server, clock, sink, post, game):
    all_prefer(server, game, "after 2h")
    seat = next_of(game)
    person = game.person_at(seat)
    prefer(server, person, "at once")
    before = len(sink.emails)
    deliver.deliver(server, post)
    assert len(sink.emails) == before, "the hold of a move is nobody's to shorten"
    clock.advance(server.hold)
    deliver.deliver(server, post)
    assert len(sink.emails) == before + 1


def test_stopping_all_emails_deletes_the_preferences_of_single_tables(server, game):
    ann, key = game.person_at(0), game.row().key
    prefer(server, ann, "daily", key)
    prefer(server, ann, "results")
    assert str(server.read(preferences.read, ann, key).delivery) == "daily"
    prefer(server, ann, "nothing")
    assert str(server.read(preferences.read, ann, key).delivery) == "nothing"
    with pytest.raises(NotFound):
        prefer(server, ann, "daily", "nonsense")


def test_choosing_is_done_whole_or_not_at_all(server, game):
    prefer(server, game.person_at(0), "nothing", game.row().key)
    assert check_atomic(server.store, lambda: prefer(server, game.person_at(0), "daily")) > 3


def test_a_digest_gives_no_more_time_for_undo(server, clock, sink, post, table):
    game = table("templari", 3)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    all_prefer(server, game, "daily")
    mover = next(iter(game.asked()))
    turn = game.row().turn
    next_of(game)
    clock.advance(2 * MINUTE)
    deliver.deliver(server, post)
    with pytest.raises(Gone):
        server.run(undo.take_back, game.id, turn, mover)


# Kinds of emails


def test_a_kind_of_email_that_is_off_is_withheld_and_its_clock_runs(server, clock, post, game):
    mover = next_of(game)
    ann = game.person_at(mover)
    server.run(preferences.switch_topic, ann, Topic.TURNS, on=False)
    clock.advance(2 * MINUTE)
    deliver.deliver(server, post)
    assert turn_of(server, game, mover).status == "withheld"
    with server.store.read() as tx:
        row = deadlines.read(tx, game.id, game.row().turn, mover)
    assert (row.accepted_at, row.due_at) == (row.asked_at + server.hold, row.due_at)
    assert row.due_at is not None
    server.run(preferences.switch_topic, ann, Topic.TURNS, on=True)
    clock.advance(2 * MINUTE)
    deliver.deliver(server, post)
    assert turn_of(server, game, mover).status == "sent"
    with server.store.read() as tx:
        assert deadlines.read(tx, game.id, game.row().turn, mover).accepted_at == row.accepted_at


# Confirmation of sealed choices


def test_a_sealed_choice_is_confirmed_once_to_players_who_want_that(server, clock, sink, post, table):
    game = table("sunset-poker", 3)
    drain(server, clock, post)
    ann, ben = game.person_at(0), game.person_at(1)
    server.run(preferences.set_sealed_receipts, ann, on=True)
    for seat in (0, 1):
        game.play(seat, game.asked()[seat].default)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    assert [row.status for row in queued_emails(server, ann, "sealed")] == ["sent"]
    assert queued_emails(server, ben, "sealed") == []
    choice = json.loads(queued_emails(server, ann, "sealed")[0].facts)["choice"]
    assert choice in sink.to(server.read(addresses.read, ann).address)[-1].text
    assert not any(
        choice in str(email.message["subject"]) for email in sink.emails if "is in" in str(email.message["subject"])
    )


def test_a_choice_that_was_changed_or_taken_back_is_not_confirmed(server, clock, sink, post, table):
    game = table("sunset-poker", 3)
    drain(server, clock, post)
    ann = game.person_at(0)
    server.run(preferences.set_sealed_receipts, ann, on=True)
    first, second = list(game.asked()[0].choices())[:2]
    game.play(0, first)
    game.play(0, second)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    assert [row.status for row in queued_emails(server, ann, "sealed")] == ["superseded", "sent"]
    game.play(0, first)
    server.run(undo.take_back, game.id, game.row().turn, 0)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    assert queued_emails(server, ann, "sealed")[-1].status == "superseded"


# A turn email on request


@pytest.mark.parametrize("way", ["after 6h", "daily", "reminders", "results", "nothing"])
def test_an_email_that_its_reader_asks_for_again_leaves_at_once(server, clock, sink, post, game, way):
    (seat,) = game.asked()
    person, email = game.person_at(seat), turn_of(server, game, seat)
    prefer(server, person, way)
    clock.advance(MINUTE)
    before = len(sink.emails)
    server.run(ledger.resend_own, person, email.id)
    deliver.deliver(server, post)
    assert [str(sent.message["message-id"]) for sent in sink.emails[before:]] == [email.message_id]
    assert turn_of(server, game, seat).status == "sent"


def test_a_turn_is_emailed_again_on_request_in_spite_of_preferences(server, clock, sink, post, game):
    all_prefer(server, game, "nothing")
    seat = next_of(game)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    person = game.person_at(seat)
    due = clock_of(server, game, seat).due_at
    before = len(sink.emails)
    server.run(ledger.resend_turn, person, game.id, seat)
    server.run(ledger.resend_turn, person, game.id, seat)
    deliver.deliver(server, post)
    (email,) = sink.emails[before:]
    assert f"turn {game.row().turn}" in str(email.message["subject"])
    assert clock_of(server, game, seat).due_at == due
    # It is a new email and no copy: mail programs hide a second one with the same Message-ID.
    names = [row.message_id for row in queued_emails(server, person, "turn")]
    assert len(names) == len(set(names))


def test_only_the_player_who_is_asked_can_request_the_turn_again(server, game):
    seat = next(iter(game.asked()))
    other = (seat + 1) % 3
    before = all_rows(server.store)
    with pytest.raises(Forbidden):
        server.run(ledger.resend_turn, game.person_at(other), game.id, seat)
    with pytest.raises(Gone):
        server.run(ledger.resend_turn, game.person_at(other), game.id, other)
    assert all_rows(server.store) == before
