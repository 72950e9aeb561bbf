"""Copies a running table many times, to measure what a page costs among many.

Nothing is played in the copies. Each has its own players, an open deadline, rows in its log, an email and a search
term; a few have each kind of trouble.
"""

from sqlalchemy import Table

from pbem.service.server import Server
from pbem.store.database import Tx
from pbem.store.database_copy import unhurried
from pbem.store.schema import METADATA

FIRST = 1_000_000
"""The id of the first copy, higher than that of any real table."""

TROUBLED = 1_000
"""How many of the first copies include every kind of trouble; the others run, or have an expired clock."""

_SERIES = "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < {most})"


def copy(server: Server, game_id: int, times: int, rows: int = 10) -> None:
    """Copy a table a number of times, each copy with `rows` log rows; deadlines and rows are spread over weeks."""
    on_sqlite = server.store.on_sqlite
    people = max(times // 4, 3)
    number = f"{FIRST} + s.n"
    few = f"CASE WHEN s.n < {TROUBLED} THEN s.n % 25 ELSE 0 END"

    def moment(column: str, seconds: str) -> str:
        if on_sqlite:
            return f"strftime('%Y-%m-%d %H:%M:%f', {column}, ({seconds}) || ' seconds') || '000'"
        return f"{column} + ({seconds}) * interval '1 second'"

    def data(words: str) -> str:
        return f"CAST({words} AS BLOB)" if on_sqlite else f"convert_to({words}, 'UTF8')"

    def run(sql: str) -> None:
        def work(tx: Tx) -> None:
            unhurried(tx)
            tx.exec_driver_sql(sql if on_sqlite else sql.replace("%", "%%"))

        server.store.write(work)

    def of(of_table: str, own: str, most: int, series: str = "s", **changed: str) -> None:
        table: Table = METADATA.tables[of_table]
        columns = ", ".join(f'"{column.name}"' for column in table.c)
        values = ", ".join(changed.get(column.name, f't."{column.name}"') for column in table.c)
        start = _SERIES.format(most=most - 1)
        run(f'INSERT INTO "{of_table}" ({columns}) {start} SELECT {values} FROM "{of_table}" t, {series} WHERE {own}')

    of_game = f"t.game_id = {game_id}"
    someone = f"{FIRST} + (s.n * 3 + t.number) % {people}"
    a_person = "t.id = (SELECT min(id) FROM person)"
    of(
        "person",
        a_person,
        people,
        id=number,
        key="'copy' || s.n",
        mailbox="'copy' || s.n || '@example.net'",
        name="'Pat'",
    )
    of(
        "game",
        f"t.id = {game_id}",
        times,
        id=number,
        key="'copy' || s.n",
        paused=f"({few} = 1)",
        created_at=moment("t.created_at", "s.n"),
        status=f"CASE WHEN {few} = 3 THEN 'frozen' WHEN s.n % 4 = 2 THEN 'over' ELSE t.status END",
    )
    of("player", of_game, times, game_id=number, person_id=someone)
    due = moment("t.asked_at", "CASE WHEN s.n % 25 = 4 THEN s.n / 100 - 3600 ELSE 86400 + s.n END")
    closed = "CASE WHEN s.n % 4 = 2 THEN 'closed' ELSE t.status END"
    of("deadline", of_game, times, game_id=number, due_at=due, remind_at="NULL", status=closed)
    of(
        "log",
        f"{of_game} AND t.seq = 1",
        times,
        series=f"s, (WITH RECURSIVE r(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM r WHERE m < {rows - 1}) SELECT m FROM r) r",
        game_id=number,
        seq="r.m + 1",
        at=moment("t.at", "-60 * (s.n % 40000) - r.m"),
    )
    parked = f"CASE WHEN {few} = 5 THEN 'parked' ELSE 'sent' END"
    of(
        "outbox",
        f"t.id = (SELECT min(id) FROM outbox WHERE game_id = {game_id})",
        times,
        id=number,
        game_id=number,
        status=parked,
    )
    words = f"SELECT 'table', {{}}, {number} FROM s"
    series = _SERIES.format(most=times - 1)
    common, own = data("'copied'"), data("'copy' || s.n")
    run(
        f"INSERT INTO search_word (about, word, subject_id) {series} {words.format(common)} UNION ALL {words.format(own)}"
    )
    run(
        f"INSERT INTO search_word (about, word, subject_id) {series} SELECT 'person', {data(repr('pat'))}, {number} FROM s WHERE s.n < {people}"
    )
    run(f"INSERT INTO pause (game_id, start_at) SELECT id, started_at FROM game WHERE id >= {FIRST} AND paused")
    run(
        f"INSERT INTO flaw (game_id, found_at, seq, says) SELECT id, started_at, 1, 'x' FROM game WHERE id >= {FIRST} AND id % 25 = 6 AND id < {FIRST + TROUBLED}"
    )
    run(
        "INSERT INTO unreachable (person_id, start_at, cause, why)"
        f" SELECT id, created_at, 'refused', 'x' FROM person WHERE id >= {FIRST} AND id % 8 = 1 AND id < {FIRST + TROUBLED // 8}"
    )


def acts(server: Server, times: int) -> None:
    """Copy the first act of the audit a number of times; one in a hundred differs in kind, actor, table or person.

    The copies keep the hash of the first, so they form no valid chain; they are only for searching.
    """
    columns = {column.name: f't."{column.name}"' for column in METADATA.tables["audit"].c}
    columns |= {
        "seq": "s.n + 2",
        "form": "NULL",
        "act": "CASE WHEN s.n % 100 = 1 THEN 'rewind' ELSE t.act END",
        "actor": "CASE WHEN s.n % 100 = 2 THEN 'organiser Zoe' ELSE t.actor END",
        "game_id": f"CASE WHEN s.n % 100 = 3 THEN {FIRST} ELSE t.game_id END",
        "person_id": f"CASE WHEN s.n % 100 = 4 THEN {FIRST} END",
    }
    names, values = ", ".join(f'"{name}"' for name in columns), ", ".join(columns.values())
    series = _SERIES.format(most=times - 1)
    sql = f"INSERT INTO audit ({names}) {series} SELECT {values} FROM audit t, s WHERE t.seq = 1"
    server.store.write(lambda tx: tx.exec_driver_sql(sql if server.store.on_sqlite else sql.replace("%", "%%")))


def analyse(server: Server) -> None:
    """Update the statistics of PostgreSQL's planner, as it does itself in time. SQLite plans without any."""
    if not server.store.on_sqlite:
        with server.store.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("ANALYZE")
