"""Rounds made beforehand: as few repeats as can be, seats and byes in turn."""

from collections import Counter

import pytest

from pbem.domain.tournaments.plan import Sizes
from pbem.domain.tournaments.round_robin import even_rounds
from pbem.domain.tournaments.table_sizes import table_sizes
from tests.domain.tournaments.fewest_repeats import can_have
from tests.domain.tournaments.played import repeats, seat_gap

ALLOWED = ((3,), (4,), (5,), (3, 4), (4, 5))
# Each mix of tables once, with sizes that lead to it.
MIXES = {
    (players, mix): Sizes(max(allowed), allowed)
    for players in range(3, 13)
    for allowed in ALLOWED
    if (mix := table_sizes(players, Sizes(max(allowed), allowed)))
}
ROUNDS = range(2, 9)


@pytest.mark.slice(1 / 8)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("players, mix", MIXES)
def test_up_to_12_players_have_at_most_one_repeat_more_than_they_must(players, mix, rounds):
    made = even_rounds(players, MIXES[players, mix], rounds)
    assert seat_gap(made) <= 1
    assert all(tuple(map(len, each.tables)) == mix for each in made)
    byes = Counter(player for each in made for player in each.byes)
    assert len({byes[player] for player in range(players)}) <= 2
    found = repeats(made)
    assert found < 2 or not can_have(players, mix, rounds, found - 2)


def test_the_search_knows_famous_rounds():
    # Nine players meet each once in four rounds; eight schoolgirls cannot do so for five.
    assert can_have(9, (3, 3, 3), 4, 0)
    assert not can_have(9, (3, 3, 3), 5, 8)
    assert can_have(8, (4, 4), 2, 4)
    assert not can_have(8, (4, 4), 2, 3)
