"""Pairing, for every format: everyone sits at one table or has a bye, and the same input makes the same round."""

from collections import Counter
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from pbem.domain.tournaments.pairing import FORMATS, Plan, Sizes, is_over, pair, rounds_of, standings, table_sizes
from pbem.domain.tournaments.stages import stages
from tests.conftest import EVERYTHING
from tests.domain.tournaments.played import Played, play, repeats, seat_gap

FEW = settings(max_examples=60 if EVERYTHING else 4)
SIZES = st.sampled_from(
    [Sizes(4, (4,)), Sizes(4, (3, 4)), Sizes(3, (3,)), Sizes(3, (3, 4)), Sizes(5, (4, 5)), Sizes(2, (2,))]
)
LUCK = st.integers(0, 10**9).map(Random)


@pytest.mark.parametrize("form", FORMATS)
@FEW
@given(st.integers(3, 200), SIZES, st.integers(1, 5), LUCK)
def test_everyone_is_at_one_table_or_has_a_bye_and_seats_and_byes_are_fair(form, players, sizes, rounds, luck):
    plan = Plan(form, sizes, rounds, advance=1 + luck.randrange(sizes.smallest - 1))
    played = play(plan, players, luck)
    begun = stages(plan, played.entrants, played.results, len(played.rounds), "seed")
    for number, made in enumerate(played.rounds, 1):
        there = sorted([*(entrant for table in made.tables for entrant in table), *made.byes])
        if form in ("swiss", "league"):
            assert there == list(range(1, players + 1))
            assert tuple(sorted(map(len, made.tables))) == tuple(sorted(table_sizes(players, sizes)))
        else:
            assert there == next(list(stage.entrants) for stage in begun if stage.first <= number <= stage.last)
        assert all(len(table) in sizes.allowed for table in made.tables)
    if players >= sizes.smallest:
        assert len(played.rounds) == rounds_of(plan, players)
    assert is_over(plan, played.entrants, played.results, "seed")
    if form in ("swiss", "league"):
        # Byes leave some Swiss tournaments without a fair seat for everyone.
        assert seat_gap(played.rounds) <= 1 + (form == "swiss" and players > 12 and bool(played.rounds[0].byes))
        assert byes_are_fair(played, set(range(1, players + 1)))
    for stage in begun if form == "pods" else ():
        for pod in map(set, stage.groups):
            inside = played.rounds[stage.first - 1 : stage.last]
            assert seat_gap([type(each)(tuple(t for t in each.tables if pod.issuperset(t))) for each in inside]) <= 1
            assert byes_are_fair(Played([], list(inside), []), pod)
    if form == "knockout":
        had = Counter[int]()
        for stage in begun:
            least = min(had[entrant] for entrant in stage.entrants)
            assert all(had[entrant] == least for entrant in stage.byes) or len(stage.byes) > sum(
                had[entrant] == least for entrant in stage.entrants
            )
            had.update(stage.byes)


def byes_are_fair(played: Played, everyone: set[int]) -> bool:
    """Whether nobody had a bye before everyone else had as many as they."""
    had = Counter[int]()
    for made in played.rounds:
        resting = [entrant for entrant in made.byes if entrant in everyone]
        # Those with the fewest byes are taken first; a second can only come once they are all taken.
        fewest = sorted(had[entrant] for entrant in everyone)[: len(resting)]
        if sorted(had[entrant] for entrant in resting) != fewest:
            return False
        had.update(resting)
    return True


@pytest.mark.parametrize("players", [9, 15, 18, 21])
def test_nobody_has_a_second_bye_before_everyone_has_had_one(players):
    played = play(Plan("swiss", Sizes(4, (4,)), 8), players, Random(5))
    assert byes_are_fair(played, set(range(1, players + 1)))


@pytest.mark.parametrize("form", FORMATS)
@FEW
@given(st.integers(3, 60), SIZES, st.integers(1, 5), LUCK)
def test_leavers_and_latecomers_are_seated_while_they_are_in_and_change_no_earlier_round(
    form, players, sizes, rounds, luck
):
    plan = Plan(form, sizes, rounds, advance=1)
    played = play(plan, players, luck, moving=True)
    for number, made in enumerate(played.rounds, 1):
        there = [*(entrant for table in made.tables for entrant in table), *made.byes]
        now = [each.number for each in played.entrants if each.is_in(number)]
        assert len(set(there)) == len(there)
        assert set(there) == set(now) if form in ("swiss", "league") else set(there) <= set(now)
        # A round that is made again later is made from all entrants, also those who left or came since.
        before = [result for result in played.results if result.round < number]
        assert pair(plan, played.entrants, before, number, "seed") == made
    lines = standings(plan, played.entrants, played.results, "seed")
    assert sorted(line.entrant for line in lines) == [each.number for each in played.entrants]
    if form == "swiss":
        counts = Counter(entrant for made in played.rounds for entrant in made.byes)
        whole = [each for each in played.entrants if each.since == 1 and each.until is None]
        had = [counts[each.number] for each in whole]
        assert not had or max(had) - min(had) <= 1


@pytest.mark.parametrize("form", FORMATS)
@FEW
@given(st.integers(3, 40), SIZES, LUCK)
def test_the_order_of_the_input_makes_no_difference_and_the_seed_does(form, players, sizes, luck):
    plan = Plan(form, sizes, 3)
    played = play(plan, players, luck)
    number = luck.randrange(len(played.rounds) + 1) + 1
    turned = luck.sample(played.results, len(played.results))
    entrants = luck.sample(played.entrants, players)
    expected = played.rounds[number - 1].tables if number <= len(played.rounds) else ()
    assert pair(plan, entrants, turned, number, "seed").tables == expected
    assert standings(plan, entrants, turned, "seed") == standings(plan, played.entrants, played.results, "seed")


def test_the_rounds_are_those_of_the_first_release():
    # Anyone can make a pairing again only if the same input makes the same bytes for ever.
    digests = {}
    for form in FORMATS:
        for players in (9, 11, 30, 61):
            played = play(Plan(form, Sizes(4, (3, 4)), 3, advance=2), players, Random(players))
            digests[form, players] = sha256(repr(played.rounds).encode()).hexdigest()[:12]
    assert digests == DIGESTS


def test_another_seed_makes_another_round():
    entrants = play(Plan("swiss", Sizes(4, (4,)), 1), 40, Random(1)).entrants
    plan = Plan("swiss", Sizes(4, (4,)), 3)
    assert pair(plan, entrants, [], 1, "one") != pair(plan, entrants, [], 1, "two")


@FEW
@given(
    st.integers(26, 200), st.sampled_from([Sizes(3, (3,)), Sizes(3, (3, 4)), Sizes(4, (3, 4)), Sizes(4, (4,))]), LUCK
)
def test_nobody_meets_someone_again_while_they_meet_less_than_half_of_the_others(players, sizes, luck):
    most = (players - 1) // 2 // (max(table_sizes(players, sizes)) - 1)
    played = play(Plan("swiss", sizes, min(most, luck.choice((3, 5, 8)))), players, luck)
    assert repeats(played.rounds) == 0


def test_500_players_meet_new_opponents_in_ten_rounds():
    played = play(Plan("swiss", Sizes(4, (3, 4)), 10), 500, Random(3))
    assert repeats(played.rounds) == 0
    assert seat_gap(played.rounds) <= 1


def test_500_players_of_one_division_have_fair_seats():
    assert seat_gap(play(Plan("league", Sizes(4, (3, 4)), 6), 500, Random(3)).rounds) <= 1


def test_leaders_play_each_other():
    played = play(Plan("swiss", Sizes(4, (4,)), 5, points="opponents"), 64, Random(2))
    plan = Plan("swiss", Sizes(4, (4,)), 6, points="opponents")
    points = {line.entrant: line.points for line in standings(plan, played.entrants, played.results, "seed")}
    made = pair(plan, played.entrants, played.results, 6, "seed")
    spread = [max(points[each] for each in table) - min(points[each] for each in table) for table in made.tables]
    assert max(points.values()) - min(points.values()) >= 8
    assert sorted(spread)[len(spread) // 2] <= 2


DIGESTS = {
    ("swiss", 9): "00c48256ba61",
    ("swiss", 11): "6d02f0e1dca1",
    ("swiss", 30): "4019da1bb3d9",
    ("swiss", 61): "1d28854ab38d",
    ("pods", 9): "4aa1178fc8cc",
    ("pods", 11): "52b37e700266",
    ("pods", 30): "f0accaea04af",
    ("pods", 61): "5d09b748e67d",
    ("knockout", 9): "6a8dbdae1a4f",
    ("knockout", 11): "5fc338b61e33",
    ("knockout", 30): "71c0cbabf77e",
    ("knockout", 61): "89ec001031af",
    ("league", 9): "1244985891da",
    ("league", 11): "b3007f5c2f69",
    ("league", 30): "20c8ce260646",
    ("league", 61): "e01285ffce9e",
}
