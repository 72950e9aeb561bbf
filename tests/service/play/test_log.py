"""Reading a log, whole or in part, without leaving anything open in the database."""

from itertools import islice

from pbem.store import games, log

LENGTH = 45
"""More than twice as many rows as are read at once from the end."""


def test_a_log_is_read_whole_in_both_directions_however_long_it_is(table):
    game = table("templari")
    while game.row().seq < LENGTH:
        next(game.play_defaults())
    row = game.row()
    with game.server.store.read() as tx:
        forth = [each.seq for each in log.chain(tx, game.id, row.key)]
        back = [each.seq for each in log.chain_back(tx, game.id, row.key)]
        late = [each.seq for each in log.chain(tx, game.id, row.key, after=row.seq - 1)]
    assert forth == list(range(1, row.seq + 1))
    assert back == forth[::-1]
    assert late == [row.seq]


def test_a_log_that_was_read_in_part_leaves_nothing_open(table):
    game = table("templari")
    while game.row().seq < LENGTH:
        next(game.play_defaults())
    key = game.row().key
    with game.server.store.read() as tx:
        rows = log.chain_back(tx, game.id, key)
        last = next(rows)
    # By now the connection serves another reader; the first one is dropped in the middle of that.
    with game.server.store.read() as tx:
        games.read(tx, game.id)
        del rows
        assert [row.seq for row in islice(log.chain_back(tx, game.id, key), 1)] == [last.seq]
