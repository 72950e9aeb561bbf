"""Connections and transactions: readers never wait, writers take turns.

On SQLite the server is one process. Its writers queue at our own lock, because SQLite's busy waiting polls and is not
fair, and fail if it isn't their turn in time. They begin IMMEDIATE, because a transaction that reads first and writes
later fails at once if another one wrote in between. On PostgreSQL writers lock the row of their game.

A use case is one function run in one transaction by `Store.write`, which reruns the whole function when the database
asks for a retry; so it must have no other effects. No transaction may wait for a network.
"""

import random
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.pool import StaticPool

from pbem import failpoints, metrics
from pbem.domain.errors import BadInput, Fault
from pbem.store.prefetch import OPTION

T = TypeVar("T")

Tx = Connection
"""An open transaction, as passed to use cases."""

# SQLite before this can corrupt a database in WAL mode when two connections write and checkpoint at one moment.
SAFE_SQLITE: Final = (3, 51, 3)

TRIES: Final = 3
_BUSY_MILLISECONDS: Final = 10_000

_BEGIN: Final = "BEGIN IMMEDIATE"

_PATIENCE: Final = 15.0
"""Seconds for which a transaction on SQLite waits for other writers of this process, or is tried again. While another program
locks the file, all of them queue: requests at its end would take every thread of the site, also from readers, and no proxy waits."""

_RETRY_CODES: Final = frozenset({"40001", "40P01", "55P03"})
"""PostgreSQL's error codes for a conflict that a retry solves."""

_READ_ONLY: Final = "25006"
"""PostgreSQL's error code for a write to a standby."""

_CONNECTING: Final = {
    # Of several hosts only the primary will do, and a standby that is to become one is refused until then.
    "target_session_attrs": "read-write",
    # A machine that is gone says nothing: without these a connection to it would hang for a quarter of an hour.
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
"""How we connect to PostgreSQL, unless the URL says otherwise."""

_SEVERAL_HOSTS: Final = re.compile(
    r"(?P<before>postgresql(?:\+\w+)?://(?:[^:/]*(?::[^@]*)?@)?)(?P<hosts>[^/?@]*,[^/?@]*)(?P<rest>.*)", re.ASCII
)


class Store:
    """The database of one process."""

    def __init__(self, url: str, *, threads: int = 8) -> None:
        self.url = parse_url(url)
        self.on_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite(self.url) if self.on_sqlite else _postgresql(self.url, threads)
        self._writers = threading.Lock()
        self._file, self._opened = self.file_of(url), ""
        event.listen(self.engine, "connect", self._note_file)

    @contextmanager
    def read(self, *, ahead: bool = False) -> Iterator[Connection]:
        """A connection that sees one state of the database and changes nothing; with `ahead` it caches what it reads."""
        self._must_have_its_file()
        with self.engine.connect() as connection:
            if ahead:
                connection = connection.execution_options(**{OPTION: {}})
            if not self.on_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                if self.on_sqlite:
                    # This takes no lock yet, so nothing can be in its way, and the library would take as long as for a query.
                    driver: Any = connection.connection.driver_connection
                    driver.execute("BEGIN")
                yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a use case in one transaction and commit, rerunning it all if the database asks for a retry."""
        until = time.monotonic() + _PATIENCE
        for attempt in range(1, TRIES + 1):
            metrics.drop_pending_rows()
            committing = False
            try:
                with self._turn_to_write(until), self.engine.connect() as connection, connection.begin():
                    self._begin_to_write(connection)
                    # Only now: it may have waited for others.
                    self._must_have_its_file()
                    result = work(connection)
                    failpoints.hit("store.committing")
                    committing = True
                failpoints.hit("store.committed")
                metrics.count_pending_rows()
                return result
            except DBAPIError as error:
                # A connection lost in the commit may have done everything: the caller looks before asking again.
                in_doubt = committing and error.connection_invalidated
                too_late = self.on_sqlite and time.monotonic() >= until
                if attempt == TRIES or too_late or in_doubt or not _may_retry(error):
                    raise
                metrics.RETRIES.inc()
                # A short random wait, so that the transaction in the way can finish.
                time.sleep(random.uniform(0.005, 0.05) * attempt)  # noqa: S311 - no secret
        raise AssertionError("unreachable")

    @contextmanager
    def rebuilding(self) -> Iterator[Connection]:
        """On SQLite, a write transaction that may replace whole tables: foreign keys are checked at its end."""
        with self._writers, self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            # This cannot be switched in a transaction, and dropping a table would empty those that refer to it.
            driver.execute("PRAGMA foreign_keys=OFF")
            try:
                with connection.begin():
                    self._begin_to_write(connection)
                    yield connection
                    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
                    if broken:
                        raise Fault(f"Rows of {broken[0][0]} would point to nothing, so nothing was changed.")
            finally:
                driver.execute("PRAGMA foreign_keys=ON")

    @contextmanager
    def _turn_to_write(self, until: float) -> Iterator[None]:
        """On SQLite, be the only writer of this process. Raises what a locked file does if others write until this moment."""
        if not self.on_sqlite:
            yield
            return
        if not self._writers.acquire(timeout=max(until - time.monotonic(), 0)):
            locked = sqlite_module().OperationalError("database is locked: other writers have waited for it so long")
            raise OperationalError(_BEGIN, None, locked)
        try:
            yield
        finally:
            self._writers.release()

    def _begin_to_write(self, connection: Connection) -> None:
        # Not in a listener of the engine, which would cost every statement a check for listeners.
        if self.on_sqlite:
            connection.exec_driver_sql(_BEGIN)

    @staticmethod
    def file_of(url: str) -> Path | None:
        """The file a URL names; None if there is none, as on PostgreSQL."""
        parsed = parse_url(url)
        if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
            return None
        return Path(str(parsed.database)).expanduser()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._opened = ""

    def _note_file(self, _dbapi: object, _record: object) -> None:
        self._opened = self._opened or _identity(self._file)

    def _must_have_its_file(self) -> None:
        """On SQLite, raise what a file that can't be opened does once the file has been moved away or replaced.

        Everything that is written then goes into the old file, and is gone with the next start.
        """
        if self._opened and _identity(self._file) != self._opened:
            moved = sqlite_module().OperationalError("the database file was moved or replaced while it was in use")
            raise OperationalError(_BEGIN, None, moved)


def sqlite_module() -> ModuleType:
    """The SQLite in use: Python's own if it is safe, otherwise the one of pysqlite3."""
    if sqlite3.sqlite_version_info >= SAFE_SQLITE:
        return sqlite3
    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    module: ModuleType = pysqlite3
    return module


def parse_url(url: str) -> URL:
    """A database URL, which may name several PostgreSQL hosts as `host:port,host:port`. Raises BadInput."""
    several = _SEVERAL_HOSTS.fullmatch(url)
    try:
        if several is None:
            return make_url(url)
        hosts = [urlsplit(f"//{each}") for each in several["hosts"].split(",")]
        listed = {
            "host": ",".join(each.hostname or "" for each in hosts),
            "port": ",".join(str(each.port or 5432) for each in hosts),
        }
        return make_url(several["before"] + several["rest"]).update_query_dict(listed)
    except (ArgumentError, ValueError) as error:
        raise BadInput(
            "The database URL can't be read.",
            remedy="Write it as postgresql://NAME:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the password.",
        ) from error


def _identity(file: Path | None) -> str:
    """What tells a file from another of its name; empty if there is none."""
    try:
        found = None if file is None else file.stat()
    except FileNotFoundError:
        return ""
    return "" if found is None else f"{found.st_dev}/{found.st_ino}"


def _sqlite(parsed: URL) -> Engine:
    in_memory = parsed.database in (None, "", ":memory:")
    if not in_memory:
        Path(str(parsed.database)).expanduser().parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        parsed,
        module=sqlite_module(),
        # What a statement writes may be a hidden card or a passphrase's hash, and its error goes into the log.
        hide_parameters=True,
        poolclass=StaticPool if in_memory else None,
        connect_args={"check_same_thread": False, "timeout": _BUSY_MILLISECONDS / 1000},
    )

    @event.listens_for(engine, "connect")
    def _settings(dbapi: Any, _record: object) -> None:
        # The driver must not guess where a transaction begins: the store says so.
        dbapi.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={_BUSY_MILLISECONDS}"):
            dbapi.execute(f"PRAGMA {pragma}")

    return engine


def _postgresql(url: URL, threads: int) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg").update_query_dict(_CONNECTING | dict(url.query)),
        pool_size=threads + 2,
        max_overflow=0,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        hide_parameters=True,
        connect_args={
            "options": "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s -c timezone=UTC"
        },
    )

    @event.listens_for(engine, "handle_error")
    def _drop_standby(context: ExceptionContext) -> None:
        # The server behind this connection has become a standby: another one takes writes now.
        if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
            context.is_disconnect = True

    return engine


def _may_retry(error: DBAPIError) -> bool:
    if isinstance(error, IntegrityError) or error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", None)
    return state in _RETRY_CODES or (isinstance(error, OperationalError) and "locked" in str(error.orig))
