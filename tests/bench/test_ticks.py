"""Whether a look at the clocks costs the same among few games and among many: counted, not timed.

A hundred real games whose clocks have run out lie among copies whose clocks still run. PostgreSQL counts the rows that it
reads and writes, SQLite the steps of its programs.
"""

from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import BindParameter, bindparam, event, insert, literal, select, text, update

from pbem.service.clocks.outages import Worker
from pbem.service.server import Server
from pbem.store.schema import DEADLINE, GAME, METADATA, PLAYER
from pbem.worker.ticks import TICKS, WorkerContext
from tests.bench.tables import begin, crowd, server_on
from tests.service.play.test_move_cost import cost_of
from tests.service.table_copies import analyse

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

DUE = 100
FEW, MANY = 1_000, 100_000


def test_a_look_at_the_clocks_with_a_hundred_due_touches_no_more_rows_among_many_games_than_among_few(fresh_database):
    costs = [_cost_among(fresh_database(), games) for games in (FEW, MANY)]
    (few, few_statements), (many, many_statements) = costs
    print(f"\n{DUE} clocks that ran out, among {FEW:,} games: {few}; among {MANY:,}: {many}")
    assert few_statements == many_statements > DUE
    # A small table PostgreSQL reads whole where it would look up a few rows of a large one; so reading may only get less.
    assert many.pop("read", 0) <= few.pop("read", 0)
    assert few == many
    assert sum(few.values()) > DUE


def _cost_among(url: str, games: int) -> tuple[dict[str, int], int]:
    """What the database did in one look, and in how many statements."""
    server = server_on(url, make=True)
    players = crowd(server, 3)
    due = [begin(server, "bid", players) for _ in range(DUE)]
    _start_clocks(server, players[0])
    _copy(server, due[0], games - DUE)
    context = WorkerContext(server, Worker("bench", server.now() - timedelta(hours=1)), send=lambda _server: 0)
    named = {tick.name: tick for tick in TICKS}
    named["beat"].run(context)
    analyse(server)
    server.store.close()
    before = _rows(url)
    steps = _count_steps(server)
    statements = len(cost_of(server.store, lambda: named["time_outs"].run(context)).statements)
    server.store.close()
    with server.store.read() as tx:
        assert tx.execute(text("SELECT count(*) FROM log WHERE by = 'clock'")).scalar_one() >= DUE
    server.store.close()
    done = {name: number - before[name] for name, number in _rows(url).items()} if before else {"steps": steps[0]}
    return done, statements


def _start_clocks(server: Server, person_id: int) -> None:
    """In each game one player's clock ran out an hour ago, and nobody else's runs."""
    deadline, player = DEADLINE, PLAYER
    ran_out = server.now() - timedelta(hours=1)
    started = ran_out - timedelta(days=1)
    seats = select(player.c.seat).where(player.c.game_id == deadline.c.game_id, player.c.person_id == person_id)
    values = {"rendered_at": started, "accepted_at": started, "asked_at": started, "due_at": ran_out}
    server.store.write(
        lambda tx: tx.execute(update(deadline).where(deadline.c.seat == seats.scalar_subquery()).values(values))
    )


def _copy(server: Server, game_id: int, times: int) -> None:
    """More games like this one, whose clocks run out in a week."""
    game, player, deadline = GAME, PLAYER, DEADLINE
    numbers = [{"number": game_id + DUE + i} for i in range(times)]
    new: BindParameter[int] = bindparam("number")
    key = literal("copy").concat(new)

    def of(table, own, **changed):
        columns = {column.name: changed.get(column.name, column) for column in table.c}
        return insert(table).from_select(list(columns), select(*columns.values()).where(own == game_id))

    later = server.now() + timedelta(weeks=1)

    def copied(tx):
        tx.execute(of(game, game.c.id, id=new, key=key), numbers)
        tx.execute(of(player, player.c.game_id, game_id=new), numbers)
        tx.execute(
            of(deadline, deadline.c.game_id, game_id=new, due_at=literal(later, deadline.c.due_at.type)), numbers
        )

    server.store.write(copied)


def _rows(url: str) -> dict[str, int]:
    """Rows that PostgreSQL has read and written so far in our tables; nothing on SQLite."""
    if url.startswith("sqlite"):
        return {}
    names = [table.name for table in METADATA.sorted_tables]
    with psycopg.connect(url, autocommit=True) as admin:
        # A connection's own counts are seen once it has gone.
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
        while admin.execute(others).fetchone() != (0,):
            pass
        found = admin.execute(
            "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int, sum(n_tup_ins)::int, sum(n_tup_upd)::int,"
            " sum(n_tup_del)::int FROM pg_stat_user_tables WHERE relname = ANY(%s)",
            [names],
        ).fetchone()
    assert found is not None
    return dict(zip(("read", "inserted", "updated", "deleted"), found, strict=True))


def _count_steps(server: Server) -> list[int]:
    """Count the steps of SQLite's programs from now on."""
    steps = [0]

    def step() -> int:
        steps[0] += 1
        return 0

    if server.store.on_sqlite:

        @event.listens_for(server.store.engine, "connect")
        def count(connection, _record):
            connection.set_progress_handler(step, 1)

    return steps
