"""Whether moves are as fast while the coach reviews a game: paired, on one core, among two hundred running games.

The coach thinks in its own process of lower priority. It is halted for one half of each pair, and thinks on in the other.
"""

import os
import signal
import statistics
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from threading import Thread

import pytest

from engine.bots import random_bot
from engine.chance import Stream
from engine.registry import load, names
from engine.table import begin as begin_game
from pbem import child_process
from pbem.coach import Coach, ReviewTask
from pbem.service.play import move
from pbem.service.play.move import Actor
from pbem.service.play.positions import position_of
from pbem.store import games
from tests.bench.tables import begin, crowd, server_on
from tests.waiting import until

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900), pytest.mark.usefixtures("as_served")]

GAMES = 200
PAIRS = 30
MOVES = 20
MOST = 1.1
"""The coach has a few hundredths of the core, and takes some of its caches."""


@pytest.fixture
def one_core() -> Iterator[None]:
    """This process and its children on one core, as on a small server."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


def test_a_move_takes_as_long_as_ever_while_a_game_is_reviewed(tmp_path, record_property, one_core):
    server = server_on(f"sqlite:///{tmp_path / 'pbem.sqlite3'}", make=True)
    people = crowd(server, 3)
    kinds = cycle(names())
    running = [begin(server, next(kinds), people) for _ in range(GAMES)]
    coach = Coach()
    reader = Thread(target=_review, args=(coach,))
    reader.start()
    child = until(lambda: coach._child._process, "the coach has begun").pid
    try:
        until(lambda: _spent(child) > 2, "the coach thinks")
        thought, ratios = _spent(child), []
        for pair in range(PAIRS):
            some = running[pair % (GAMES // MOVES) :: GAMES // MOVES]
            os.kill(child, signal.SIGSTOP)
            alone = _moves(server, some)
            os.kill(child, signal.SIGCONT)
            ratios.append(_moves(server, some) / alone)
        assert _spent(child) > thought
    finally:
        os.kill(child, signal.SIGKILL)
        reader.join()
        coach.close()
    ratio = statistics.median(ratios)
    print(f"\na move takes {ratio:.2f} times as long while a game is reviewed on the same core")
    record_property("bench.move while reviewing", ratio)
    assert ratio <= MOST


def _review(coach):
    """Review a long game, which takes longer than the measurement; it ends by being killed."""
    game, luck = load("sunset-poker"), Stream(b"coach", 1)
    table = begin_game(game, 3, b"s" * 32)
    while asks := table.asks():
        seat = next(seat for seat in asks if seat not in table.position.box)
        table = table.submit(seat, random_bot(game, table.view(seat), asks[seat], luck))
    turns = tuple(enumerate(table.log))
    with pytest.raises(child_process.Failed):
        coach(ReviewTask(game, 3, table.options, turns, 0, tuple(range(len(turns))), b"s" * 32))


def _spent(process):
    """The seconds of CPU that it has had."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _moves(server, game_ids):
    """The seconds that a move in each of these games takes."""
    begun = time.perf_counter()
    for game_id in game_ids:
        with server.store.read() as tx:
            row = games.read(tx, game_id)
            asked = position_of(tx, row).open()
        seat, decision = next(iter(asked.items()))
        server.run(move.play, game_id, row.turn, seat, decision.default, Actor.PERSON)
    return time.perf_counter() - begun
