"""Second chances: the clock's move is taken back in time by its player, who plays; nobody gains time, and nothing hidden comes back."""

import json
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.errors import Gone
from pbem.domain.moments import explanation
from pbem.ops.verify import verify_game
from pbem.service.absence import offers, second_chance
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.desk.acts.clocks import Pause, Resume
from pbem.service.desk.acts.seats import Offer
from pbem.service.play import standing_orders, undo
from pbem.service.play.log import Kind
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
    assert game.players()[seat].missed == 1
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
    assert game.players()[seat].missed == 2
    assert until(game, again, seat) is None
    with pytest.raises(Gone, match="once already"):
        back(game, again, seat)
    assert [json.loads(email.facts).get("until") for email in queued_emails(time.server, kind="auto_passed")] == [
        (due + 12 * HOUR).isoformat(),
        None,
    ]


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
