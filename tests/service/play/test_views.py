"""Saved views: any moment of a game is read from the same few rows, however long the game and however long ago."""

import json

import pytest
from sqlalchemy import event, text

from engine import registry
from engine.facts import SPECTATOR, fold, seen
from pbem.ops.rebuild import rebuild_games
from pbem.service.play import undo, views
from pbem.service.play.log import standing_entries
from pbem.store import games, log, views as saved_views
from tests.service.play.test_move_cost import lengthen

MOST_ROWS = 3 * views.SAVE_EVERY


@pytest.fixture
def bound(table):
    """bound(50) -> a game with many bids, played up to turn 50."""

    def play(entries, kind="templari", seats=3):
        game = table(kind, seats, options={"start_money": 40} if kind == "templari" else None)
        while game.row().turn < entries and (asked := game.asked()):
            seat, decision = next(iter(asked.items()))
            act = next((act for act in decision.acts if act.verb == "bid"), None)
            game.play(seat, decision.default if act is None else next(iter(act.choices())))
        return game

    return play


def readers(game):
    return (*range(game.row().seats), SPECTATOR)


def from_the_start(game, reader, number):
    """What a reader knew after an entry, folded from the first row on."""
    row = game.row()
    rules = registry.load(row.kind)
    entries = [each for each in standing_entries(rules, game.log()) if each.turn <= number]
    start = rules.start(row.seats, json.loads(row.options))
    return fold(start, (seen(each, reader) for entry in entries for each in entry.entry.facts))


def past(game, number, reader):
    with game.server.store.read() as tx:
        return views.moment_at(tx, games.read(tx, game.id), [reader], number)


def rows_read(server, act):
    """The number of log rows that an act reads."""
    read = []

    def fetched(_connection, cursor, statement, _parameters, _context, _many):
        if "FROM log" in statement:
            read.append(statement)

    counted = []
    wrapped = log._chain

    def counting(*arguments, **more):
        for row in wrapped(*arguments, **more):
            counted.append(row.seq)
            yield row

    event.listen(server.store.engine, "after_cursor_execute", fetched)
    log._chain = counting
    try:
        act()
    finally:
        log._chain = wrapped
        event.remove(server.store.engine, "after_cursor_execute", fetched)
    assert len(read) <= 1, "the rows are read with one statement"
    return len(counted)


def test_a_past_moment_is_the_same_with_and_without_saved_views(server, bound):
    game = bound(70)
    numbers = [each.turn for each in standing_entries(registry.load("templari"), game.log())]
    plain = {(n, r): past(game, n, r) for n in numbers[::7] for r in readers(game)}
    assert views.save_overdue(server) == 1
    assert views.save_overdue(server) == 0
    for (number, reader), before in plain.items():
        moment = past(game, number, reader)
        assert moment == before
        assert moment.views[reader] == from_the_start(game, reader, number)
        place = numbers.index(number)
        assert moment.earlier == (numbers[place - 1] if place else None)
        assert moment.later == (numbers[place + 1] if place + 1 < len(numbers) else None)


def test_any_moment_of_a_long_game_is_read_from_few_rows(server, bound):
    game = bound(160)
    views.save_overdue(server)
    assert game.row().seq >= 160
    for number in (0, 5, 19, 20, 21, 100, 149, game.row().turn - 1):
        assert 0 < rows_read(server, lambda number=number: past(game, number, 1)) <= MOST_ROWS
    assert rows_read(server, lambda: game.view(1)) <= views.SAVE_EVERY


def test_a_log_that_grows_without_entries_is_not_read_whole(server, bound):
    game = bound(10)
    lengthen(server, game.id, 500)
    known = game.view(1)
    assert views.save_overdue(server) == 1
    assert rows_read(server, lambda: game.view(1)) <= views.SAVE_EVERY
    assert game.view(1) == known


def test_saved_views_of_entries_taken_back_are_dropped_and_the_rest_stay(server, bound):
    game = bound(45)
    views.save_overdue(server)
    (seat,) = game.asked()
    turn, before = game.row().turn, {reader: game.view(reader) for reader in readers(game)}
    game.play(seat, game.asked()[seat].default)
    lengthen(server, game.id, game.row().seq + 30)
    assert views.save_overdue(server) == 1
    server.run(undo.take_back, game.id, turn, seat)
    with server.store.read() as tx:
        saved = {each.turn for each in saved_views.of_game(tx, game.id)}
    assert saved
    assert max(saved) < turn
    assert {reader: game.view(reader) for reader in readers(game)} == before
    # Views saved again now follow on from the entry before the one taken back.
    assert views.save_overdue(server) == 1
    assert past(game, turn, 0).standing.turn == turn - 1


def test_views_of_a_game_that_ended_are_saved_too(server, table):
    game = table("sorcerous-futures", 3)
    list(game.play_defaults())
    assert game.row().status == "over"
    assert views.save_overdue(server) == 1
    last = game.row().turn - 1
    assert past(game, last, SPECTATOR).views[SPECTATOR] == game.view(SPECTATOR)
    assert past(game, last, SPECTATOR).later is None
    assert past(game, 10**9, SPECTATOR).standing.turn == last


def test_a_game_rebuilt_from_its_log_has_its_views_at_once(server, bound):
    game = bound(50)
    views.save_overdue(server)
    with server.store.read() as tx:
        before = saved_views.of_game(tx, game.id)
    server.store.write(lambda tx: tx.execute(text("UPDATE view SET body = '{}'")))
    assert [each.refused for each in rebuild_games(server.store, [game.id])] == [""]
    with server.store.read() as tx:
        assert saved_views.of_game(tx, game.id) == before
    assert len(before) >= 4 * 2


def test_there_is_no_moment_before_the_deal(server, table):
    game = table("templari", 3)
    assert past(game, -1, 0) is None
    assert past(game, 0, 0).earlier is None
