"""How strong the bots are, game by game. A bar that the games played don't show to be cleared is a failure."""

import pytest

from engine.registry import load, names
from tests.bench.strength import Match, Strength, as_strong, bot, interval, measure, much_stronger

pytestmark = pytest.mark.bench

CELLS = [(name, seats) for name in names() for seats in sorted({load(name).seats[0], load(name).seats[0] + 1})]
"""Each game at its smallest table and at the usual one."""


def test_too_few_games_show_no_strength():
    assert not Strength(3, 3, *interval(3, 3), much_stronger(3)).shown
    assert Strength(12, 12, *interval(12, 12), much_stronger(3)).shown


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("level", "others", "bar"),
    [("expert", "regular", much_stronger), ("expert", "greedy", much_stronger), ("regular", "greedy", as_strong)],
)
@pytest.mark.parametrize(("name", "seats"), CELLS)
def test_a_level_is_shown_to_be_stronger_than_another(name, seats, level, others, bar):
    found = measure(Match(load(name), seats, bot(level), bot(others)), bar(seats))
    print(f"\n{name}, {seats} seats: {level} among {others} won {found}")
    assert found.shown
