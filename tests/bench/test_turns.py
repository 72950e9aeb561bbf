"""Whether a move costs the same processor time late in a game as early: paired, in one process.

The same move is made and taken back again and again on two copies of one database; in one of them the log has five
hundred rows more.
"""

import shutil
import statistics
import time

import pytest

from pbem.service.play import changes, move, undo
from pbem.service.play.move import Actor
from pbem.service.play.positions import position_of
from pbem.store import games
from tests.bench.tables import begin, crowd, server_on
from tests.service.play.test_move_cost import lengthen

pytestmark = pytest.mark.bench

PAIRS = 60
MOST = 1.1


@pytest.mark.parametrize("kind", ["bid", "templari"])
def test_a_move_at_row_500_takes_at_most_a_tenth_more_processor_time_than_at_row_5(
    kind, tmp_path, record_property, monkeypatch
):
    # Nobody may change their mind as often in a turn.
    monkeypatch.setattr(changes, "MOST", 10**6)
    early, late = tmp_path / "early.sqlite3", tmp_path / "late.sqlite3"
    first = server_on(f"sqlite:///{early}", make=True)
    game_id = begin(first, kind, crowd(first, 3))
    first.store.close()
    shutil.copy(early, late)
    servers = [server_on(f"sqlite:///{each}") for each in (early, late)]
    lengthen(servers[1], game_id, 500)
    times = [[_timed(server, game_id) for server in servers] for _ in range(PAIRS)]
    ratio = statistics.median(after / before for before, after in times)
    print(f"\n{kind}: a move at row 500 takes {ratio:.2f} of one at row 5")
    record_property("bench.late move", ratio)
    assert ratio <= MOST


def _timed(server, game_id):
    with server.store.read() as tx:
        row = games.read(tx, game_id)
        position = position_of(tx, row)
    seat, decision = next(iter(position.open().items()))
    before = time.process_time()
    server.run(move.play, game_id, row.turn, seat, decision.default, Actor.PERSON)
    spent = time.process_time() - before
    server.run(undo.take_back, game_id, row.turn, seat)
    return spent
