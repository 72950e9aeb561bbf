"""More time from another player: a day, once a turn, alike for those who have answered, and refused in words otherwise."""

import json
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Stale
from pbem.domain.moments import explanation
from pbem.service.clocks import deadlines, more_time
from pbem.service.desk.acts.clocks import Extend, Freeze, Pause
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR
from tests.service.database import all_rows, facts_of, queued_emails


def give(game, giver, seat, **turn):
    return game.server.run(more_time.give, game.id, giver, game.person_at(giver), seat, **turn)


def extended(game):
    return [row for row in game.log() if row.kind == "Extended"]


def test_a_player_gives_another_a_day_which_is_told_and_explained(time, server, table):
    game = table("sun-bid", 3, pace="1d")
    (seat,) = game.asked()
    first, second = (each for each in range(3) if each != seat)
    names = {each: player.name for each, player in game.players().items()}
    time.sends()
    due = time.due(game, seat)
    assert give(game, first, seat) == names[seat]
    assert time.due(game, seat) == time.deadline(game, seat).promised_at == due + DAY
    time.passes(HOUR)
    assert give(game, second, seat) == names[seat]
    assert time.due(game, seat) == due + 2 * DAY
    notices = queued_emails(server, kind="notice")
    assert {email.person_id for email in notices} == {game.person_at(seat)}
    assert [facts_of(server, email)["who"] for email in notices] == [names[first], names[second]]
    assert [(row.seat, json.loads(row.body)["giver"]) for row in extended(game)] == [(seat, first), (seat, second)]
    with server.store.read() as tx:
        clock = deadlines.clock_of(tx, game.row(), game.row().turn, seat)
    lines = explanation(deadlines.current_deadline(clock, server.now()), ZoneInfo("UTC"), names)
    assert [line for line in lines if "more time" in line] == [
        f"+ 1 day: more time from {names[giver]}" for giver in (first, second)
    ]
    assert game.verifies()


def test_more_time_from_a_player_adds_to_that_of_the_organiser_and_counts_before_the_email(time, server, table):
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    moderate(server, Extend(game.id, "2d"), "a birthday")
    give(game, 1 - seat, seat)
    assert time.sends()[seat].at == time.due(game, seat) == server.now() + 4 * DAY


def test_more_time_does_not_tell_who_has_answered(time, server, table):
    game = table("bid", 3, pace="1d")
    time.sends()
    due = time.due(game, 1)
    game.play(1, game.asked()[1].default)
    assert [give(game, 0, seat) for seat in (1, 2)] == [game.players()[seat].name for seat in (1, 2)]
    # A player who takes the answer back has the day as well.
    assert time.deadline(game, 1).due_at == time.due(game, 2) == due + DAY
    one, other = (json.loads(row.body) for row in extended(game))
    assert one == other
    for seat in (1, 2):
        with pytest.raises(Gone, match="already given"):
            give(game, 0, seat)


def test_more_time_does_not_tell_who_has_missed_the_open_turn(time, server, table):
    game = table("bid", 3, pace="1d")
    time.sends()
    for seat in (0, 2):
        moderate(server, Extend(game.id, "2d", seat))
    time.passes_until(time.due(game, 1))
    assert time.runs_out().decided == 1
    assert time.deadline(game, 1).status == "missed"
    for seat in (1, 2):
        assert give(game, 0, seat) == game.players()[seat].name
        with pytest.raises(Gone, match="already given"):
            give(game, 0, seat)


def test_more_time_that_no_player_can_give_changes_nothing_and_says_why(server, table, person):
    game = table("bid", 3, bots=("random",))
    (bot,) = (seat for seat, player in game.players().items() if player.person_id is None)
    giver, other = (seat for seat in game.players() if seat != bot)
    turnwise, stranger = table("sun-bid", 2), person("Stranger")
    (asked,) = turnwise.asked()
    before = all_rows(server.store)
    for at, by, to, turn, error, says in (
        (game, giver, giver, {}, BadInput, "yourself"),
        (game, giver, bot, {}, BadInput, "is a bot"),
        (game, giver, 7, {}, NotFound, "no such seat"),
        (game, giver, other, {"turn": game.row().turn + 1}, Stale, "turn is over"),
        (turnwise, asked, 1 - asked, {}, Gone, "It isn't .*'s turn"),
    ):
        with pytest.raises(error, match=says):
            give(at, by, to, **turn)
    with pytest.raises(Forbidden, match="players"):
        server.run(more_time.give, game.id, giver, stranger, other)
    assert all_rows(server.store) == before
    for act, says in ((Pause, "paused"), (Freeze, "isn't in progress")):
        moderate(server, act(game.id), "a reason")
        before = all_rows(server.store)
        with pytest.raises(Gone, match=says):
            give(game, giver, other)
        assert all_rows(server.store) == before
