"""What everything costs among as many games as PBEM_TEST_GAMES says, beside the same among a thousand.

On SQLite the steps of its programs are counted. PostgreSQL has no such count: both servers are asked in turn, round after round,
and the quickest times are compared. Only ratios are noted. Plans are looked at as well: no statement may read a large table
from one end to the other.
"""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pbem.service.server import Server
from pbem.store import database_copy
from pbem.store.database import Store
from pbem.store.schema import METADATA
from pbem.worker.ticks import TICKS
from tests.scale import many, work
from tests.scale.work import Work, statements
from tests.service.desk.test_overview import scans

pytestmark = [pytest.mark.bench, pytest.mark.timeout(24 * 3600)]

FEW = 1_000
GAMES = int(os.environ.get("PBEM_TEST_GAMES", "1000000"))
ROUNDS = 9
MOST_SAVED = 100_000
"""A backup of more games takes very long, and what it costs for a row is known before."""

Note = Callable[[str, object], None]


def test_a_server_of_many_games_does_what_one_of_few_does(
    fresh_database: Callable[[], str], tmp_path: Path, record_property: Note
) -> None:
    url = fresh_database()
    kind = url.partition(":")[0]
    # One file has what PostgreSQL keeps in many, and is made as slowly.
    most = GAMES if kind == "postgresql" else max(GAMES // 10, 2 * FEW)
    servers, works = [], []
    for database, number in ((url, FEW), (fresh_database(), most)):
        server, clock = many.served(database, make=True)
        played = many.originals(server, clock)
        many.copy(server, number)
        servers.append(server)
        works.append(dict(work.daily(server, played, tmp_path)) | work.ticks(server, clock) | work.lists(server))
    if kind == "sqlite":
        counted = [work.count_steps(server, each) for server, each in zip(servers, works, strict=True)]
        times = {name: (counted[0][name] or 1.0, counted[1][name] or 1.0) for name in works[0]}
    else:
        times = quickest(*works)
    for name, (few, much) in times.items():
        print(f"{kind}: {name:30} {much / few:6.2f} times")
    record_property(f"scale.games {kind}", most)
    record_property(f"scale.emails {kind}", many.finished(servers[1]))
    for name in ("move", "email", "page", "verify", "overview"):
        record_property(f"scale.{name} {kind}", times[name][1] / times[name][0])
    searches = [much / few for name, (few, much) in times.items() if name.startswith("search")]
    record_property(f"scale.search {kind}", max(searches))
    rounds = [sum(times[tick.name][side] for tick in TICKS) for side in (0, 1)]
    record_property(f"scale.ticks {kind}", rounds[1] / rounds[0])
    record_property(f"scale.scans {kind}", len(whole_tables(servers[1], works[1])))
    if most <= MOST_SAVED:
        small, large = (saved(server, tmp_path / f"{number}.backup") for number, server in enumerate(servers))
        record_property(f"scale.backup {kind}", large / small)
    for server in servers:
        server.store.close()


def quickest(few: dict[str, Work], many: dict[str, Work]) -> dict[str, tuple[float, float]]:
    """The quickest times of each piece of work, among few games and among many."""
    found = {name: [float("inf")] * 2 for name in few}
    for _ in range(ROUNDS):
        for name, best in found.items():
            for side, works in enumerate((few, many)):
                before = time.perf_counter()
                works[name]()
                best[side] = min(best[side], time.perf_counter() - before)
    return {name: (best[0], best[1]) for name, best in found.items()}


def whole_tables(server: Server, works: dict[str, Work], rows_of_large: int = FEW) -> set[tuple[str, str]]:
    """The tables of more rows than this that a piece of work reads from one end to the other."""
    with server.store.read() as tx:
        rows = database_copy.counts(tx)
    large = {table.name for table in METADATA.sorted_tables if rows[table.name] > rows_of_large}
    found: set[tuple[str, str]] = set()
    for name, do in works.items():
        with statements(server) as sent:
            do()
        for statement, values in sent:
            read: Any = scans(server, statement, values, as_planned=True)
            found |= {(name, table) for table in large.intersection(read)}
    print(f"\nread as a whole: {sorted(found)}")
    return found


def saved(server: Server, file: Path) -> float:
    """The time that a backup takes for each row, before it is verified."""
    with server.store.read() as tx:
        rows = sum(database_copy.counts(tx).values())
    before = time.perf_counter()
    if server.store.on_sqlite:
        database_copy.write_file(server.store, file)
    else:
        with closing(Store(f"sqlite:///{file}")) as target:
            METADATA.create_all(target.engine)
            with server.store.read() as source, target.engine.begin() as tx:
                database_copy.copy_all(source, tx)
    spent = time.perf_counter() - before
    file.unlink()
    return spent / rows
