"""Rating arithmetic: fair, the same for any order of players, and right about players of known strength."""

import math
import random
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from pbem.domain.rating_words import gain_text, rating_text, why
from pbem.domain.ratings import NEW, OVERALL, Change, Rating, chances, changes, rate
from tests.conftest import EVERYTHING
from tests.domain.rated_crowd import Crowd

RATINGS = st.builds(Rating, st.floats(900, 2100), st.floats(30, 150), st.integers(0, 500))
TABLES = st.lists(RATINGS, min_size=2, max_size=10)


@given(TABLES, st.data())
def test_winners_gain_losers_lose_and_every_game_makes_more_certain(players, data):
    ranks = data.draw(st.lists(st.integers(1, 10), min_size=len(players), max_size=len(players)))
    after = rate(players, ranks)
    first, last = min(ranks), max(ranks)
    alone = [number for number, rank in enumerate(ranks) if rank == first]
    if len(alone) == 1:
        assert after[alone[0]].mu > players[alone[0]].mu
    if first != last:
        losers = [number for number, rank in enumerate(ranks) if rank == last]
        assert len(losers) > 1 or after[losers[0]].mu < players[losers[0]].mu
    assert all(new.games == old.games + 1 for old, new in zip(players, after, strict=True))
    assert all(new.sigma < math.hypot(old.sigma, 3) for old, new in zip(players, after, strict=True))


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_seats_makes_no_difference(players, luck):
    order = list(range(len(players)))
    luck.shuffle(order)
    straight = rate(players, range(1, len(players) + 1))
    turned = rate([players[number] for number in order], [number + 1 for number in order])
    for rank, number in enumerate(order):
        assert math.isclose(turned[rank].mu, straight[number].mu, rel_tol=1e-12)
        assert math.isclose(turned[rank].sigma, straight[number].sigma, rel_tol=1e-12)


@pytest.mark.parametrize("ranks", sorted({*permutations((1, 1, 3, 4)), *permutations((1, 2, 2, 2)), (1, 1, 1, 1)}))
def test_tied_players_who_were_equal_stay_equal_and_gain_more_than_those_behind(ranks):
    after = rate([NEW] * 4, ranks)
    for one, one_rank in zip(after, ranks, strict=True):
        for other, other_rank in zip(after, ranks, strict=True):
            assert (round(one.mu, 9) > round(other.mu, 9)) == (one_rank < other_rank)


def test_the_digits_are_those_of_the_first_release():
    after = rate([NEW, Rating(1600, 60, 30), Rating(1450, 90, 8)], [2, 1, 2])
    expected = [
        (1465.5140513386657, 134.70172627201168),
        (1608.4489012368654, 59.564499675616155),
        (1443.440075581972, 87.03972908936885),
    ]
    for each, (mu, sigma) in zip(after, expected, strict=True):
        assert math.isclose(each.mu, mu, abs_tol=1e-6)
        assert math.isclose(each.sigma, sigma, abs_tol=1e-6)


@given(TABLES)
def test_chances_add_up_and_follow_the_ratings(players):
    found = chances(players)
    assert math.isclose(sum(found), 1)
    assert all(
        (found[one] >= found[other]) == (players[one].mu >= players[other].mu)
        for one in range(len(players))
        for other in range(len(players))
        if abs(players[one].mu - players[other].mu) > 1e-6 or one == other
    )


def test_400_points_more_win_ten_times_as_often_at_tables_of_any_size():
    sure = Rating(1500, 0.0)
    for others in range(1, 9):
        strong, *rest = chances([Rating(1900, 0.0)] + [sure] * others)
        assert math.isclose(strong / rest[0], 10)


def test_a_game_for_fewer_than_two_or_twice_for_one_changes_nothing():
    assert changes("bid", [("ann", 1)], {}) == []
    assert changes("bid", [("ann", 1), ("ben", 2), ("ann", 3)], {}) == []
    assert len(changes("bid", [("ann", 1), ("ben", 2)], {})) == 4


def test_bots_of_a_level_with_several_seats_have_the_mean_of_their_changes():
    one = rate([NEW] * 3, [1, 2, 3])
    found = {(each.player, each.kind): each for each in changes("bid", [("bot:x", 1), ("ann", 2), ("bot:x", 3)], {})}
    assert len(found) == 4
    assert found["ann", "bid"].after == one[1]
    assert math.isclose(found["bot:x", "bid"].after.mu, (one[0].mu + one[2].mu) / 2)
    assert found["bot:x", "bid"].after.games == 1
    assert changes("bid", [("bot:x", 1), ("bot:x", 2)], {}) == []


def test_each_kind_of_game_has_its_own_rating_and_all_count_overall():
    current = {("ann", "bid"): Rating(1700, 60, 20)}
    found = {(each.player, each.kind): each for each in changes("bid", [("ann", 1), ("ben", 2)], current)}
    assert found["ann", "bid"].before.games == 20
    assert found["ann", OVERALL].before == NEW
    assert found["ann", "bid"].gain < found["ann", OVERALL].gain


def reason(mine, rank, *others):
    """Why a rating changed, given that before, and (rating, rank) of the others."""
    all_ranks = [rank, *(each for _rating, each in others)]
    before = [Rating(mine, 50, 9), *(Rating(rating, 50, 9) for rating, _place in others)]
    after = rate(before, all_ranks)
    found = [Change(str(number), "bid", old, new) for number, (old, new) in enumerate(zip(before, after, strict=True))]
    seats = 4
    return why(found[0], found, [(str(number), each) for number, each in enumerate(all_ranks)], seats)


@pytest.mark.parametrize(
    "says, mine, rank, others",
    [
        ("you finished ahead of 2 players rated higher", 1500, 1, [(1600, 2), (1550, 3), (1400, 4)]),
        ("you finished ahead of one player rated higher", 1500, 1, [(1600, 2)]),
        ("you finished ahead of 2 players", 1500, 1, [(1400, 2), (1400, 3)]),
        ("one player rated lower finished ahead of you", 1500, 2, [(1400, 1)]),
        ("one player finished ahead of you", 1500, 2, [(1600, 1)]),
        ("you tied with players rated higher", 1500, 1, [(1700, 1)]),
        ("you tied with players rated lower", 1500, 1, [(1300, 1)]),
        ("you finished where your rating predicted", 1500, 1, [(1500, 1)]),
        ("you left the game, which counts as last place", 1500, 5, [(1500, 1), (1400, 2)]),
    ],
)
def test_each_change_is_explained(says, mine, rank, others):
    assert reason(mine, rank, *others) == says


def test_a_rating_is_shown_with_its_uncertainty_and_a_question_mark_while_provisional():
    assert rating_text(NEW) == "1500? ± 300"
    assert rating_text(Rating(1612.4, 40.2, 31)) == "1612 ± 80"
    gains = [gain_text(Change("ann", "bid", NEW, Rating(mu))) for mu in (1514, 1491, 1500.2)]
    assert gains == ["+14", "−9", "±0"]


def test_players_of_known_strength_are_ranked_right():
    crowd = Crowd(random.Random(3), players=60)
    for _ in range(1500):
        crowd.play()
    assert crowd.rank_correlation() > 0.95
    assert crowd.within_uncertainty() > 0.9


def test_predictions_come_true():
    """In each tenth of chances as many win as were predicted: within 3 points in a hundred, with 1,000 predictions or more.

    A run tries the tenths that a few thousand games fill, and allows for their luck; `make everything` tries them all.
    """
    crowd = Crowd(random.Random(8), players=800 if EVERYTHING else 100)
    for _ in range(60_000 if EVERYTHING else 3_000):
        crowd.play()
    full = [each for each in crowd.tenths if each.predictions >= 1000]
    assert len(full) == (10 if EVERYTHING else 4)
    assert max(abs(each.points_off) for each in full) < (3 if EVERYTHING else 5)
