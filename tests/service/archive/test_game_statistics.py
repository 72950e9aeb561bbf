"""Statistics of games: each finished public game is counted once, whatever happens meanwhile, and sums can be made again."""

import json
from collections import Counter

import pytest
from sqlalchemy import event, select, update

from pbem import failpoints
from pbem.domain.game_statistics import MOST, WIN, Span, What, counts_of, median, numbers_of, of_what, seat_wins, spans
from pbem.service.account import delete
from pbem.service.archive import game_statistics
from pbem.service.desk.acts.people import Merge
from pbem.service.play.move import Actor
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import finished_games, people, results
from pbem.store.schema import FINISHED_GAME, FINISHED_SEAT, GAME_SUM
from tests.service.actors import moderate
from tests.service.database import count_calls
from tests.service.desk.test_audit import plan_of
from tests.service.desk.test_overview import scans
from tests.service.desk.test_put_back import back, saved_of
from tests.service.running_game import RunningGame


def over(table, seats=3, **more):
    game = table("bid", seats, options={"max_auctions": 1}, **more)
    list(game.play_defaults())
    return game


def counted(server):
    while game_statistics.count_games(server):
        pass


def stored(server, table):
    with server.store.read() as tx:
        return sorted(tuple(row) for row in tx.execute(select(table)))


def sums(server, kind="bid"):
    return server.read(game_statistics.sums_of, kind)


def key_of(server, person_id):
    with server.store.read() as tx:
        return people.read(tx, person_id).key


def test_a_finished_public_game_is_counted_once_by_a_worker_and_not_by_its_last_move(server, table):
    game, _private, _running = over(table), over(table, private=True, bots=("greedy",) * 2), table("bid", 3)
    assert stored(server, GAME_SUM) == []
    assert game_statistics.count_games(server) == 1
    assert game_statistics.count_games(server) == 0
    found, first = sums(server), game.ranking()[0]
    turns = len([row for row in game.log() if row.kind == "Entry"])
    assert numbers_of(found, What.PLAYERS) == {3: 1}
    assert (numbers_of(found, What.TURNS), numbers_of(found, What.DAYS)) == ({turns: 1}, {0: 1})
    assert of_what(found, What.WON) == {f"3/{seat + 1}": WIN // len(first.seats) for seat in first.seats}
    assert of_what(found, What.OPTION)["max_auctions=1"] == 1
    assert {row[2] for row in stored(server, FINISHED_SEAT)} == {key_of(server, game.person_at(s)) for s in range(3)}


def test_bids_and_choices_are_those_of_the_game_and_not_of_the_clock(server, table):
    game = table("sunset-poker", 3, options={"max_rounds": 1})
    made = Counter()
    while game.row().status == "playing":
        for seat, decision in game.asked().items():
            actor = Actor.CLOCK if seat == 0 else Actor.PERSON
            game.play(seat, decision.default, actor)
            made[seat, decision.default.verb] += actor is Actor.PERSON
    counted(server)
    rows = {row[1]: json.loads(row[8]) for row in stored(server, FINISHED_SEAT)}
    assert rows == {seat: {verb: n for (of, verb), n in made.items() if of == seat and n} for seat in range(3)}
    assert rows[0] == {}


def test_a_game_without_a_result_counts_nowhere(server, table):
    void = table("bid", 3)
    for seat in range(3):
        server.run(leaving.agree_to_end, void.id, void.person_at(seat))
    counted(server)
    assert stored(server, FINISHED_GAME) == []


def test_sums_are_made_again_to_the_same_numbers_and_a_broken_sum_is_mended(server, table, monkeypatch):
    monkeypatch.setattr(game_statistics, "AT_ONCE", 1)
    for seats in (3, 3, 4):
        over(table, seats)
    counted(server)
    before = stored(server, GAME_SUM)
    server.store.write(lambda tx: tx.execute(update(GAME_SUM).values(count=77)))
    assert game_statistics.rebuild(server) == 3
    assert stored(server, GAME_SUM) == before


def test_a_rebuild_that_was_stopped_is_done_by_the_worker_and_an_older_one_writes_nothing(server, table):
    over(table)
    counted(server)
    before = stored(server, GAME_SUM)
    stopped = server.run(game_statistics._begin)
    late = over(table)
    assert not server.run(game_statistics._count, late.id)
    assert game_statistics.count_games(server) == 1
    after = stored(server, GAME_SUM)
    assert after != before
    server.run(game_statistics._finish, stopped, {})
    assert stored(server, GAME_SUM) == after


def test_a_game_that_is_put_back_counts_once(server, table):
    game = over(table)
    counted(server)
    before = [stored(server, each) for each in (GAME_SUM, FINISHED_GAME, FINISHED_SEAT)]
    back(server, saved_of(server, game), replacing=True)
    assert game_statistics.count_games(server) == 1
    assert [stored(server, each) for each in (GAME_SUM, FINISHED_GAME, FINISHED_SEAT)] == before


def test_a_worker_that_is_killed_at_any_point_has_counted_all_or_nothing(server, table):
    for _ in range(2):
        over(table)
    hits = []

    class Killed(BaseException):
        pass

    def dying(point):
        hits.append(point)
        if len(hits) <= 12 and len(hits) % 3:
            raise Killed

    failpoints.set_handler(dying)
    try:
        for _ in range(20):
            try:
                if not game_statistics.count_games(server):
                    break
            except Killed:
                pass
    finally:
        failpoints.set_handler(None)
    assert numbers_of(sums(server), What.PLAYERS) == {3: 2}
    assert len(stored(server, FINISHED_GAME)) == 2


def test_a_game_that_cannot_be_read_holds_up_no_other_and_is_tried_again(server, table, monkeypatch):
    bad, good = over(table), over(table)
    real = game_statistics.standing_entries
    first = [1]

    def broken(*given):
        if first:
            first.clear()
            raise ValueError("no such fact")
        return real(*given)

    monkeypatch.setattr(game_statistics, "standing_entries", broken)
    counted(server)
    assert (bad.row().counted, good.row().counted) == (False, True)
    game_statistics.rebuild(server)
    counted(server)
    assert bad.row().counted


def test_deletion_keeps_the_games_and_a_merge_makes_two_players_one(server, table, person):
    game = over(table)
    counted(server)
    before = stored(server, FINISHED_SEAT)
    server.run(delete.delete_person, game.person_at(0))
    assert stored(server, FINISHED_SEAT) == before
    old, new = game.person_at(1), person("Zoe")
    keys = key_of(server, old), key_of(server, new)
    moderate(server, Merge(new, old))
    assert {row[2] for row in stored(server, FINISHED_SEAT)} == {row[2] for row in before} - {keys[0]} | {keys[1]}


def test_counting_and_reading_take_few_statements(server, table):
    over(table)
    with count_calls(server.store) as made:
        game_statistics.count_games(server)
    assert len(made) <= 32, len(made)
    with count_calls(server.store) as made:
        sums(server)
    assert len(made) <= 3


def test_workers_find_what_is_missing_by_an_index(server, table):
    over(table, rated=True)
    asked = []

    @event.listens_for(server.store.engine, "before_cursor_execute")
    def note(_connection, _cursor, statement, values, _context, _many):
        asked.append((statement, values))

    for query, index in ((results.missing, "ix_game_result"), (finished_games.missing, "ix_game_counted")):
        asked.clear()
        assert len(server.query(query, 5)) == 1
        statement, values = next(each for each in asked if each[0].startswith("SELECT"))
        assert scans(server, statement, values) == []
        if server.store.on_sqlite:
            assert index in plan_of(server, statement, values)


def test_a_person_with_two_seats_has_no_part_in_a_game(server, person):
    ann, ben = person("Ann"), person("Ben")
    settings = TableSettings("bid", 3, {"max_auctions": 1}, doubles=True)
    game = RunningGame(server, server.run(joining.create_table, ann, settings).game_id)
    server.run(joining.join, game.id, ann, holding=2)
    server.run(joining.join, game.id, ben)
    list(game.play_defaults())
    counted(server)
    assert game.row().counted
    assert [row[2] for row in stored(server, FINISHED_SEAT)] == [key_of(server, ben)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({}, []),
        ({7: 3}, [(7, 7, 3)]),
        ({0: 1, 11: 2}, [(n, n, {0: 1, 11: 2}.get(n, 0)) for n in range(12)]),
        ({3: 1, 999: 1}, [(n, n + 99, {0: 1, 900: 1}.get(n, 0)) for n in range(0, 1000, 100)]),
    ],
)
def test_a_distribution_has_few_rows_of_equal_width(counts, expected):
    assert spans(counts) == [Span(*each) for each in expected]
    if counts:
        assert median(counts) == min(counts) or len(counts) > 1


def test_numbers_are_bounded_and_shared_wins_add_up():
    found = counts_of(3, -1, 5000, (0, 1), [], [12, 5000])
    assert numbers_of(found, What.TURNS) == {MOST: 1}
    assert numbers_of(found, What.DAYS) == {0: 1}
    assert numbers_of(found, What.BID) == {12: 1, MOST: 1}
    assert [(each.wins, each.fair) for each in seat_wins(found)] == [(0.5, 1 / 3), (0.5, 1 / 3), (0, 1 / 3)]


def test_a_seat_stands_out_only_after_many_games_and_beyond_chance():
    def wins(games, won):
        return seat_wins({("players", "2"): games, ("won", "2/1"): won * WIN, ("won", "2/2"): (games - won) * WIN})

    assert [each.clearly for each in wins(20, 20)] == [False, False]
    assert [each.clearly for each in wins(100, 60)] == [False, False]
    assert [each.clearly for each in wins(100, 70)] == [True, True]
