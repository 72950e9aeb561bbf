"""Pairing, for every format: everyone sits at one table or has a bye, and the same input makes the same round."""

import pytest
from hypothesis import given, settings, strategies as st

from pbem.domain.tournaments.pairing import FORMATS, Plan, Sizes, pair, rounds_of, standings
from tests.domain.tournaments.played import play

SIZES = st.sampled_from([Sizes(4, (4,)), Sizes(4, (3, 4)), Sizes(3, (3,)), Sizes(3, (3, 4, 5)), Sizes(5, (4, 5))])


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=2)
@given(st.integers(3, 200), SIZES, st.integers(1, 4), st.randoms(use_true_random=False))
def test_nobody_sits_twice_in_a_round_and_the_same_input_makes_the_same_round(form, players, sizes, rounds, luck):
    plan = Plan(form, sizes, rounds, advance=1 + luck.randrange(sizes.smallest - 1))
    played = play(plan, players, luck)
    for round_number, made in enumerate(played.rounds, 1):
        seated = [entrant for table in made.tables for entrant in table]
        assert len({*seated, *made.byes}) == len(seated) + len(made.byes)
        assert all(len(table) in sizes.allowed for table in made.tables)
        if form in ("swiss", "league"):
            assert {*seated, *made.byes} == set(range(1, players + 1))
        if luck.random() < 0.2:
            turned = luck.sample(played.results, len(played.results))
            assert pair(plan, played.entrants[::-1], turned, round_number, "seed") == made
    if players >= sizes.smallest:
        assert len(played.rounds) == rounds_of(plan, players)
    lines = standings(plan, played.entrants, played.results, "seed")
    assert sorted(line.entrant for line in lines) == list(range(1, players + 1))
    assert [line.place for line in lines] == list(range(1, players + 1))
