"""How fast a move is: as a share of what the same server, database and disk can do at all.

Product and floors run in turn, round after round, in processes of their own on the same database, behind the same
server with the same number of threads. Each round gives one ratio, in which the machine's mood of that moment is shared,
and the middle one counts. Only ratios are asserted.
"""

import json
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain, zip_longest
from statistics import median

import pytest

from tests.bench.load import CONNECTIONS, Contender, compare, served
from tests.bench.tables import Move, begin_one_of_each, crowd, moves_of, server_on, with_links

pytestmark = [pytest.mark.bench, pytest.mark.needs("wrk"), pytest.mark.timeout(900)]

ROUNDS = 5
SECONDS = 2
MOST = 160

SHARE_OF_INSERT = 0.35
SHARE_OF_SHAPE = 0.5
WORST_TAIL = 3


def test_a_move_keeps_a_fair_share_of_what_one_insert_and_the_bare_writes_reach(
    database_url, tmp_path, record_property
):
    queues = _queues(database_url)
    numbers = {move: number for number, move in enumerate(chain.from_iterable(queues))}
    recipes = tmp_path / "moves.json"
    recipes.write_text(json.dumps([asdict(move) for move in numbers]))
    twins = _twins(database_url)
    shapes = [
        [f"/shape/{twins[at][number % len(twins[at])]}/{numbers[move]}" for number, move in enumerate(queue)] * 9
        for at, queue in enumerate(queues)
    ]
    inserts = [["/insert"] * 20_000] * CONNECTIONS
    with ExitStack() as stack:

        def contender(name: str, paths: list[list[str]], *rest: str) -> Contender:
            folder = tmp_path / name
            folder.mkdir()
            port = stack.enter_context(served(name, database_url, *rest))
            return Contender(name, port, folder, [list(each) for each in paths])

        move = contender("move", [[move.path for move in queue] for queue in queues])
        shape = contender("shape", shapes, str(recipes))
        insert = contender("insert", inserts)
        compare(insert, move, shape, rounds=ROUNDS, seconds=SECONDS)
    of_insert, of_shape = move.share_of(insert), move.share_of(shape)
    print(f"\n{database_url.split(':')[0]}: {insert}; {shape}; {move}")
    print(f"a move is {of_insert:.2f} of one insert and {of_shape:.2f} of its own reads and writes")
    kind = database_url.partition(":")[0]
    record_property(f"bench.move of insert {kind}", of_insert)
    record_property(f"bench.move of shape {kind}", of_shape)
    assert of_insert >= SHARE_OF_INSERT
    assert of_shape >= SHARE_OF_SHAPE
    assert median(move.tails) < WORST_TAIL


def _queues(url: str) -> list[list[Move]]:
    """For each connection the moves of games of its own, one of each kind, taken in turn."""
    server = server_on(url)
    players = crowd(server)
    queues = []
    for _ in range(CONNECTIONS):
        scripts = [moves_of(server, game_id, MOST) for game_id in begin_one_of_each(server, players)]
        queues.append([move for together in zip_longest(*scripts) for move in together if move is not None])
    linked = iter(with_links(server, list(chain.from_iterable(queues))))
    server.store.close()
    return [[next(linked) for _ in queue] for queue in queues]


def _twins(url: str) -> list[list[int]]:
    """For each connection games of its own that only the floor writes to."""
    server = server_on(url)
    players = crowd(server)
    found = [begin_one_of_each(server, players) for _ in range(CONNECTIONS)]
    server.store.close()
    return found
