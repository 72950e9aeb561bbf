"""Points, tie-breaks and standings; the sizes of tables; who goes on, and who moves up and down."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from random import Random

import pytest

from pbem.domain.tournaments.pairing import (
    Entrant,
    Plan,
    Sizes,
    TableResult,
    divisions_next_season,
    is_over,
    pair,
    standings,
    table_sizes,
)
from pbem.domain.tournaments.points import earned
from tests.domain.tournaments.played import play

SWISS = Plan("swiss", Sizes(4, (3, 4)), 3)


def lines(results, *, tie_breaks=SWISS.tie_breaks, players=4, **plan):
    entrants = [Entrant(number, number) for number in range(1, players + 1)]
    return standings(Plan("swiss", SWISS.sizes, 3, tie_breaks=tie_breaks, **plan), entrants, results, "seed")


@pytest.mark.parametrize(
    "places, expected",
    [
        ((1, 2, 3, 4), ("1", "2/3", "1/3", "0")),
        ((1, 2, 2, 4), ("1", "1/2", "1/2", "0")),
        ((1, 1, 1, 1), ("1/2", "1/2", "1/2", "1/2")),
        ((2, 1, 3), ("1/2", "1", "0")),
    ],
)
def test_tied_entrants_share_the_points_of_the_places_they_take(places, expected):
    seats = tuple(range(1, len(places) + 1))
    gained = earned(SWISS, TableResult(1, 1, seats, places))
    assert [gained[each] for each in seats] == [Fraction(each) for each in expected]


def test_points_of_ones_own_and_byes_count_as_agreed():
    rows = (tuple(map(Fraction, (5, 2, 0))), tuple(map(Fraction, (6, 3, 1, 0))))
    result = [TableResult(1, 1, (1, 2, 3), (1, 2, 2))]
    points = {bye: [line.points for line in lines(result, points=rows, bye=bye)] for bye in ("mean", "win", "nothing")}
    assert points["mean"] == [5, Fraction(5, 2), 1, 1]
    assert points["win"] == [6, 5, 1, 1]
    assert points["nothing"] == [5, 1, 1, 0]


@pytest.mark.parametrize(
    "tie_break, results, order",
    [
        ("wins", [((1, 2, 3), (1, 2, 3)), ((3, 2, 1), (1, 2, 3))], (1, 3, 2, 4)),
        ("head_to_head", [((1, 2, 3), (1, 2, 3)), ((3, 2, 4), (1, 2, 3))], (1, 2, 3, 4)),
        ("later_rounds", [((1, 2, 3), (1, 2, 3)), ((3, 2, 1), (1, 2, 3))], (3, 2, 1, 4)),
        ("opponents", [((1, 2, 3), (1, 2, 3)), ((4, 2, 1), (1, 2, 3))], (4, 1, 2, 3)),
    ],
)
def test_a_tie_break_parts_those_with_equal_points_and_is_named(tie_break, results, order):
    made = [TableResult(number, 1, seats, places) for number, (seats, places) in enumerate(results, 1)]
    found = lines(made, tie_breaks=(tie_break,), bye="nothing")
    assert tuple(line.entrant for line in found) == order
    assert [line.points for line in found] == sorted((line.points for line in found), reverse=True)
    for ahead, behind in pairwise(found):
        if ahead.points != behind.points:
            assert ahead.ahead_by == "points"
        elif ahead.place == behind.place:
            assert ahead.ahead_by is None
        else:
            assert ahead.ahead_by == tie_break
            assert dict(ahead.values)[tie_break] > dict(behind.values)[tie_break]


def test_ties_are_kept_where_nothing_parts_them_and_lots_part_everyone():
    level = [TableResult(1, 1, (1, 2, 3, 4), (1, 1, 3, 3))]
    assert [line.place for line in lines(level, tie_breaks=("wins",))] == [1, 1, 3, 3]
    assert [line.place for line in lines(level)] == [1, 2, 3, 4]


def test_head_to_head_asks_only_those_who_all_met():
    apart = [TableResult(1, 1, (1, 2, 3), (1, 2, 3)), TableResult(1, 2, (4, 5, 6), (1, 2, 3))]
    assert [line.place for line in lines(apart, tie_breaks=("head_to_head",), players=6)] == [1, 1, 3, 3, 5, 5]


def test_tables_seat_as_many_as_can_be_with_the_most_of_the_preferred_size():
    for sizes in (Sizes(4, (3, 4)), Sizes(4, (4,)), Sizes(3, (3, 5)), Sizes(5, (3, 4, 5, 6)), Sizes(4, (3, 4, 5))):
        for players in range(1, 26):
            mixes = [
                mix
                for count in range(players // sizes.smallest + 1)
                for mix in combinations_with_replacement(sizes.allowed, count)
                if sum(mix) <= players
            ]
            most = max(map(sum, mixes))
            preferred = max(mix.count(sizes.preferred) for mix in mixes if sum(mix) == most)
            found = table_sizes(players, sizes)
            assert (sum(found), found.count(sizes.preferred)) == (most, preferred)


def test_the_strongest_two_meet_last_and_those_who_met_are_kept_apart():
    plan = Plan("knockout", Sizes(4, (4,)), advance=2)
    entrants = [Entrant(number, number) for number in range(1, 65)]
    results = []
    for number in range(1, 6):
        made = pair(plan, entrants, results, number, "seed")
        assert len(made.tables) == 2 ** (5 - number)
        assert any({1, 2} <= set(table) for table in made.tables) == (number == 5)
        met = {frozenset(pair) for each in results for pair in _pairs(each.seats)}
        again = [pair for table in made.tables for pair in _pairs(table) if frozenset(pair) in met]
        # Two of each table go on: with two tables left, all of them can be apart.
        assert number == 5 or again == []
        results += [TableResult(number, at, table, _by_rank(table)) for at, table in enumerate(made.tables, 1)]
    found = standings(plan, entrants, results, "seed")
    assert [line.entrant for line in found[:4]] == [1, 2, 3, 4]
    assert is_over(plan, entrants, results, "seed")
    assert [line.stage for line in found[:8]] == [5] * 4 + [4] * 4


def _pairs(table):
    return [(one, other) for one in table for other in table if one < other]


def _by_rank(table):
    return tuple(sorted(table).index(each) + 1 for each in table)


def test_a_knockout_goes_on_as_it_was_when_an_old_result_is_corrected():
    plan = Plan("knockout", Sizes(4, (3, 4)), advance=2)
    played = play(plan, 30, Random(4))
    changed = [TableResult(each.round, each.table, each.seats, each.places[::-1]) for each in played.results[:3]]
    results = [*changed, *played.results[3:]]
    again = pair(plan, played.entrants, results, len(played.rounds), "seed")
    assert {*again.tables[0]} == {*played.rounds[-1].tables[0]}
    assert standings(plan, played.entrants, results, "seed")[0].entrant in again.tables[0]


def test_someone_who_goes_on_and_leaves_is_followed_by_the_next_of_their_table():
    plan = Plan("knockout", Sizes(4, (4,)), advance=1)
    entrants = [Entrant(number, number, until=1 if number == 1 else None) for number in range(1, 17)]
    first = pair(plan, entrants, [], 1, "seed")
    results = [TableResult(1, at, table, _by_rank(table)) for at, table in enumerate(first.tables, 1)]
    second = sorted(next(table for table in first.tables if 1 in table))[1]
    assert sorted(pair(plan, entrants, results, 2, "seed").tables[0]) == sorted((2, 3, 4, second))


def test_the_best_of_a_division_move_up_and_the_last_of_the_next_higher_one_down():
    plan = Plan("league", Sizes(4, (4,)), 4, moving=2)
    entrants = [Entrant(number, number, division=1 + (number - 1) // 8) for number in range(1, 25)]
    results = []
    for number in range(1, 5):
        made = pair(plan, entrants, results, number, "seed")
        assert all(len({(entrant - 1) // 8 for entrant in table}) == 1 for table in made.tables)
        results += [TableResult(number, at, table, _by_rank(table)) for at, table in enumerate(made.tables, 1)]
    found = standings(plan, entrants, results, "seed")
    after = divisions_next_season(plan, found)
    by_division = [[line.entrant for line in found if line.division == division] for division in (1, 2, 3)]
    assert [line.place for line in found] == [*range(1, 9)] * 3
    assert [each for each in after if after[each] == 1] == [*by_division[0][:-2], *by_division[1][:2]]
    assert [each for each in after if after[each] == 3] == [*by_division[1][-2:], *by_division[2][2:]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "ladder"},
        {"rounds": 0},
        {"format": "knockout", "advance": 4},
        {"format": "pods", "pod": 2},
        {"points": ((Fraction(1),) * 3,)},
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(wrong):
    with pytest.raises(ValueError, match=r"."):
        Plan(**{"format": "swiss", "sizes": Sizes(4, (4,)), "rounds": 3, **wrong})
