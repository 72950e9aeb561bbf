"""Whether a move costs the same processor time late in a game as early: paired, in one process.

The same move is made and taken back again and again on two copies of one database; in one of them the log has five
hundred rows more.
"""

import shutil
import statistics
import time

import pytest

from pbem.service import play, second_thoughts
from pbem.service.play import By
from pbem.store import games
from tests.bench.tables import begin, crowd, house_on
from tests.service.test_move_cost import lengthen

pytestmark = pytest.mark.bench

PAIRS = 60
MOST = 1.1


@pytest.mark.parametrize("kind", ["bid", "templari"])
def test_a_move_at_row_500_takes_at_most_a_tenth_more_processor_time_than_at_row_5(kind, tmp_path):
    early, late = tmp_path / "early.sqlite3", tmp_path / "late.sqlite3"
    first = house_on(f"sqlite:///{early}", make=True)
    game_id = begin(first, kind, crowd(first, 3))
    first.store.close()
    shutil.copy(early, late)
    houses = [house_on(f"sqlite:///{each}") for each in (early, late)]
    lengthen(houses[1], game_id, 500)
    times = [[_timed(house, game_id) for house in houses] for _ in range(PAIRS)]
    ratio = statistics.median(after / before for before, after in times)
    print(f"\n{kind}: a move at row 500 takes {ratio:.2f} of one at row 5")
    assert ratio <= MOST


def _timed(house, game_id):
    with house.store.read() as tx:
        row = games.read(tx, game_id)
    position = play.position_of(row)
    seat, decision = next(iter(position.open().items()))
    before = time.process_time()
    play.play(house, game_id, row.window, seat, decision.default, By.PERSON)
    spent = time.process_time() - before
    second_thoughts.take_back(house, game_id, row.window, seat)
    return spent
