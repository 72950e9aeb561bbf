"""How strong the bots are, game by game: one expert among regulars, and among the bots that there were before levels."""

import pytest

from engine.game import load, names
from tests.bench.strength import bar, measure, player

pytestmark = pytest.mark.bench

CELLS = [(name, seats) for name in names() for seats in sorted({load(name).seats[0], load(name).seats[0] + 1})]
"""Each game at its smallest table and at the usual one."""


@pytest.mark.timeout(0)
@pytest.mark.parametrize("others", ["regular", "greedy"])
@pytest.mark.parametrize(("name", "seats"), CELLS)
def test_an_expert_clearly_beats_others_in_strength(name, seats, others):
    # A whole game of Sunset Poker takes hours of thought in all.
    options = {"max_rounds": 2} if name == "sunset-poker" else {}
    found = measure(load(name), seats, player("expert"), player(others), options=options)
    print(f"\n{name}, {seats} seats: expert among {others} won {found}; the bar is {bar(seats):.0%}")
    assert found.high >= bar(seats)
