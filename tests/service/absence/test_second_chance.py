"""Second chances: the clock's move is taken back in time by its player, who plays; nobody gains time, and nothing hidden comes back."""

import json
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.errors import Forbidden, Gone
from pbem.domain.moments import explanation
from pbem.mail.read.delivery_reports import Report, ReportKind
from pbem.ops.verify import verify_game
from pbem.service.absence import offers, second_chance
from pbem.service.clocks import deadlines as clocks_deadlines, vacations
from pbem.service.desk.acts.clocks import Pause, Resume
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.incoming import bounces
from pbem.service.links import EmailLink
from pbem.service.people import addresses
from pbem.service.play import standing_orders, undo
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from pbem.store import deadlines, reliability
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.email_replies import Replies


def back(game, turn, seat):
    game.server.run(second_chance.take_back, game.id, turn, seat, game.person_at(seat))


def until(game, turn, seat):
    return game.server.read(second_chance.until, game.row(), turn, seat)


@pytest.fixture
def missed(time, table):
    """missed(...) -> a game whose asked seat has missed its turn, the turn, the seat, and the state and deadline before."""

    def missed(kind="templari", seats=3, first=lambda game: None, **settings):
        game = table(kind, seats, **({"pace": "1d", "second_chance": 12} | settings))
        first(game)
        (seat,) = game.asked()
        time.sends()
        turn, state, due = game.row().turn, game.row().state, time.due(game, seat)
        time.passes_until(due)
        assert time.runs_out().decided == 1
        return game, turn, seat, state, due

    return missed


def test_a_missed_turn_is_taken_back_and_played(time, server, missed):
    game, turn, seat, state, due = missed()
    (other,) = game.asked()
    time.sends()
    time.passes(11 * HOUR)
    assert until(game, turn, seat) == due + 12 * HOUR
    back(game, turn, seat)
    assert (game.row().state, game.row().turn, set(game.asked())) == (state, turn + 2, {seat})
    row = game.log()[-1]
    assert (row.kind, row.seat, row.by) == (Kind.REWOUND, seat, "person")
    assert time.due(game, seat) == time.deadline(game, seat).promised_at == due + 12 * HOUR
    # The email about it prints that deadline, and doesn't start the clock again.
    time.passes(MINUTE)
    assert time.sends()[seat].at == time.due(game, seat) == due + 12 * HOUR
    with server.store.read() as tx:
        clock = clocks_deadlines.clock_of(tx, game.row(), game.row().turn, seat)
    lines = explanation(clocks_deadlines.current_deadline(clock, server.now()), ZoneInfo("UTC"), {})
    assert lines[2] == "+ 12 hours: time to take a missed turn's move back"
    # Those who had been asked since are told, once; nobody else is.
    notices = [
        email for email in queued_emails(server, kind="notice") if json.loads(email.facts)["what"] == "taken_back"
    ]
    assert [email.person_id for email in notices] == [game.person_at(other)]
    assert game.players()[seat].missed == 0
    game.play(seat, "bid 1")
    assert game.players()[seat].missed == 0
    assert [time.deadline(game, seat, each).status for each in (turn, turn + 2)] == ["missed", "closed"]
    with server.store.read() as tx:
        assert verify_game(tx, game.id).problems == ()


def test_a_second_chance_has_a_number_that_no_turn_had_before_an_undo_either(missed):
    game, turn, seat, _state, _due = missed()
    (other,) = game.asked()
    game.play(other, game.asked()[other].default)
    game.server.run(undo.take_back, game.id, turn + 1, other)
    back(game, turn, seat)
    assert game.row().turn == turn + 3
    assert game.verifies()


def test_a_player_who_takes_a_missed_turn_back_keeps_their_seat(time, server, missed):
    game, turn, seat, _state, _due = missed(successor="substitute")
    moderate(server, Offer(game.id, seat), "they may be gone")
    assert [offer.seat for offer in server.read(offers.open_offers)] == [seat]
    time.passes(HOUR)
    back(game, turn, seat)
    assert server.read(offers.open_offers) == []


def test_the_time_is_that_of_one_missed_turn_and_there_is_no_third_chance(time, missed):
    game, turn, seat, _state, due = missed()
    back(game, turn, seat)
    again = game.row().turn
    time.passes_until(due + 12 * HOUR - MINUTE)
    time.runs_out()
    assert seat in game.asked()
    time.passes(MINUTE)
    assert time.runs_out().decided == 1
    assert until(game, again, seat) is None
    with pytest.raises(Gone, match="once already"):
        back(game, again, seat)
    assert [json.loads(email.facts).get("until") for email in queued_emails(time.server, kind="auto_passed")] == [
        (due + 12 * HOUR).isoformat(),
        None,
    ]


def is_counted(server, game, seat):
    """The turns and missed turns of a seat's player, as others read them."""
    with server.store.read() as tx:
        person = game.person_at(seat)
        found = reliability.counts(tx, {person}, server.now() - 365 * DAY)[person]
        return found.turns, found.missed


@pytest.mark.parametrize("played", [True, False])
def test_a_missed_turn_and_its_second_chance_count_as_one_turn(time, server, missed, played):
    game, _turn, seat, *_ = missed()
    assert is_counted(server, game, seat) == (1, 1)
    back(game, _turn, seat)
    if played:
        game.play(seat, "bid 1")
    else:
        time.passes(12 * HOUR)
        assert time.runs_out().decided == 1
    assert game.players()[seat].missed == (0 if played else 1)
    assert is_counted(server, game, seat) == (1, 1)


def test_a_second_chance_missed_too_uses_up_one_turn_of_grace(time, missed):
    game, turn, seat, *_ = missed(grace=1, missed_limit=2)
    assert game.players()[seat].missed == 0
    back(game, turn, seat)
    time.passes(12 * HOUR)
    assert time.runs_out().decided == 1
    assert game.players()[seat].missed == 0
    assert [json.loads(email.facts)["warning"] for email in queued_emails(time.server, kind="auto_passed")] == [
        "This one doesn't count: your first 1 missed turns of this game only warn you."
    ] * 2


def test_a_seat_is_given_up_after_missed_turns_not_after_second_chances(time, server, missed):
    game, turn, seat, *_ = missed(missed_limit=2, successor="substitute")
    back(game, turn, seat)
    time.passes(12 * HOUR)
    assert time.runs_out().decided == 1
    time.seats_change()
    assert server.read(offers.open_offers) == []


def test_going_back_to_a_second_chance_forgets_the_missed_turn_too(time, server, missed):
    game, turn, seat, *_ = missed()
    back(game, turn, seat)
    again = game.row().turn
    game.play(seat, "bid 1")
    moderate(server, Rewind(game.id, again))
    game.play(seat, "bid 1")
    assert is_counted(server, game, seat) == (1, 0)


def test_an_email_that_came_back_excuses_the_missed_turn_and_its_second_chance(time, server, missed):
    game, turn, seat, *_ = missed()
    email = next(each for each in queued_emails(server, game.person_at(seat), "turn") if each.turn == turn)
    back(game, turn, seat)
    link = EmailLink(game.person_at(seat), email.id, game.id)
    server.run(bounces.apply_report, link, Report(ReportKind.FAILED, permanent=False, answer="mailbox full"))
    game.play(seat, "bid 1")
    assert is_counted(server, game, seat) == (0, 0)


def test_an_outages_missed_turns_list_a_second_chance_once(time, server, missed):
    game, turn, seat, _state, due = missed()
    back(game, turn, seat)
    again = game.row().turn
    time.passes(12 * HOUR)
    assert time.runs_out().decided == 1
    with server.store.read() as tx:
        listed = deadlines.missed_between(tx, due - HOUR, server.now(), 10)
    assert [(each.turn, each.seat) for each in listed] == [(again, seat)]


def late(time, game, seat):
    time.passes(12 * HOUR)


def decided(time, game, seat):
    (other,) = game.asked()
    game.play(other, game.asked()[other].default)


REFUSED = {
    "late": (late, {}, "The time for that is over"),
    "decided": (decided, {}, "Others have decided"),
    "not agreed": (lambda time, game, seat: None, {"second_chance": 0}, "played for you"),
    "a short turn": (lambda time, game, seat: time.passes(HOUR), {"pace": "1h"}, "The time for that is over"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_words_where_it_is_too_late(time, missed, case):
    happens, settings, why = REFUSED[case]
    game, turn, seat, *_ = missed(**settings)
    happens(time, game, seat)
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match=why) as refused:
        back(game, turn, seat)
    assert case == "not agreed" or "everyone agrees" in str(refused.value)
    assert until(game, turn, seat) is None
    assert all_rows(game.server.store) == before


def is_refused(game, turn, seat, why, error=Gone):
    """Check that the move made for a seat can't be taken back, and that the refusal changes nothing."""
    before = all_rows(game.server.store)
    with pytest.raises(error, match=why):
        back(game, turn, seat)
    assert until(game, turn, seat) is None
    assert all_rows(game.server.store) == before


def alone(game, verb):
    """Play on until a seat is asked alone and has this verb; returns the turn, the seat, and its choice."""
    while True:
        seat, decision = next(iter(game.asked().items()))
        choices = decision.choices()
        found = next((choice for choice in choices if choice.verb == verb), None)
        if found is not None and len(game.open()) == 1:
            return game.row().turn, seat, found
        game.play(seat, decision.default)


SHOWN = {
    "sealed choices": ("sorcerous-futures", "closed", "Several players choose at the same time"),
    "a hidden card": ("sunset-poker", "play", "Something hidden has been seen"),
    "a default that follows from a hand": ("sunset-poker", "fold", "Something hidden has been seen"),
    "luck": ("sun-bid", "flip", "luck was involved"),
}


@pytest.mark.parametrize("case", SHOWN)
def test_it_is_refused_where_the_move_led_to_what_nobody_can_unsee(table, case):
    kind, verb, why = SHOWN[case]
    game = table(kind, 3, pace="1d", second_chance=12)
    turn, seat, choice = alone(game, verb)
    game.play(seat, choice, Actor.CLOCK)
    is_refused(game, turn, seat, why)


def test_a_move_of_ones_own_has_no_second_chance(time, table):
    game = table("templari", 3, pace="1d", second_chance=12)
    (seat,) = game.asked()
    turn = game.row().turn
    time.sends()
    game.play(seat, "bid 1")
    time.sends()
    is_refused(game, turn, seat, "An email about it is on its way")


def test_a_substitute_has_no_second_chance_of_the_player_before(server, missed):
    game, turn, seat, *_ = missed()
    moderate(server, Substitute(game.id, seat, "zoe@example.org"))
    is_refused(game, turn, seat, "This was played for you")


def test_nobody_takes_a_missed_turn_back_while_the_table_is_paused(server, missed):
    game, turn, seat, *_ = missed()
    moderate(server, Pause(game.id))
    is_refused(game, turn, seat, "paused", Forbidden)


def test_an_outage_and_a_pause_stop_its_time_too(time, server, missed):
    game, turn, seat, _state, due = missed()
    time.sleeps(5 * HOUR)
    moderate(server, Pause(game.id))
    time.passes(DAY)
    moderate(server, Resume(game.id))
    assert until(game, turn, seat) >= due + DAY + 17 * HOUR
    back(game, turn, seat)
    time.sleeps(2 * HOUR)
    assert time.due(game, seat) >= due + DAY + 19 * HOUR


def books_a_vacation(game, seat):
    game.server.run(vacations.book_text, game.person_at(seat), f"{game.server.now():%Y-%m-%d}")


def sets_quiet_hours(game, seat):
    now = game.server.now()
    quiet = f"{now + HOUR:%H}:00-{now + 15 * HOUR:%H}:00"
    game.server.run(addresses.change_settings, game.person_at(seat), quiet=quiet)


@pytest.mark.parametrize("later", [books_a_vacation, sets_quiet_hours])
def test_a_second_chance_is_not_lengthened_by_bookings_after_the_miss(time, missed, later):
    game, turn, seat, _state, due = missed()
    stated = until(game, turn, seat)
    time.passes(MINUTE)
    later(game, seat)
    assert until(game, turn, seat) == stated == due + 12 * HOUR
    back(game, turn, seat)
    assert time.due(game, seat) == stated


@pytest.mark.parametrize("later", [books_a_vacation, sets_quiet_hours])
def test_a_second_chance_is_not_lengthened_by_bookings_after_the_move_is_taken_back(time, missed, later):
    game, turn, seat, *_ = missed()
    stated = until(game, turn, seat)
    back(game, turn, seat)
    time.passes(MINUTE)
    later(game, seat)
    assert time.due(game, seat) == stated


def test_a_bank_is_used_up_once_by_the_missed_turn_and_its_second_chance(time, missed):
    game, turn, seat, _state, due = missed(pace="2d+6h max 3d")
    back(game, turn, seat)
    assert time.due(game, seat) == due + 12 * HOUR
    game.play(seat, "bid 1")
    while seat not in game.asked():
        (other,) = game.asked()
        time.passes(MINUTE)
        game.play(other, game.asked()[other].default)
    with time.server.store.read() as tx:
        left = clocks_deadlines.bank_left(tx, game.row(), game.row().turn, seat, time.server.now())
    assert left == timedelta(hours=6)


def test_it_is_taken_back_and_played_by_one_reply(time, missed):
    game, turn, seat, *_ = missed()
    answers = Replies(game)
    player = next(each for each in range(3) if answers.seat(each) == seat)
    answers.write(player, "undo", "bid 2", turn=turn)
    assert answers.outcomes() == [("undo", "applied", "taken_back"), ("bid 2", "applied", "played")]
    assert (game.log()[-1].seat, game.log()[-1].by) == (seat, "reply")
    # It is no longer there to be taken back, and the receipt says so.
    answers.write(player, "undo", turn=turn)
    assert "has been taken back already" in answers.answer()


def test_orders_of_others_stay(missed):
    def leave(game):
        (seat,) = game.asked()
        game.server.run(standing_orders.set_order, game.id, (seat + 2) % 3, "up to 3")

    game, turn, seat, *_ = missed(first=leave)
    orders = game.row().orders
    back(game, turn, seat)
    assert game.row().orders == orders != "[]"
    with game.server.store.read() as tx:
        assert verify_game(tx, game.id).problems == ()


def test_taking_a_missed_turn_back_leaves_nothing_half_done(missed):
    game, turn, seat, *_ = missed()
    assert check_atomic(game.server.store, lambda: back(game, turn, seat)) > 10
