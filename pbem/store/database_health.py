"""Checks of a database: its version, its clock, whether it takes writes."""

from contextlib import suppress
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import DatabaseError, OperationalError

from pbem.store.database import SAFE_SQLITE, Store, sqlite_module
from pbem.store.schema import TASK_RUN


def version(store: Store) -> str:
    """Name and version of the database."""
    if store.on_sqlite:
        return f"SQLite {sqlite_module().sqlite_version} ({sqlite_module().__name__})"
    with store.read() as tx:
        return f"PostgreSQL {tx.exec_driver_sql('SHOW server_version').scalar_one()}"


def can_be_read(store: Store) -> bool:
    """Whether the file of an SQLite database is one, and whole enough to be looked at."""
    try:
        with store.read() as tx:
            tx.exec_driver_sql("SELECT count(*) FROM sqlite_master")
    except OperationalError:
        raise
    except DatabaseError:
        return False
    return True


def unsafe_sqlite(store: Store) -> bool:
    """Whether this SQLite can corrupt a database when two connections meet at a bad moment."""
    return store.on_sqlite and tuple(sqlite_module().sqlite_version_info) < SAFE_SQLITE


def clock(store: Store) -> datetime | None:
    """The time by the database's own clock; None if it has none."""
    if store.on_sqlite:
        return None
    with store.read() as tx:
        now = tx.execute(select(func.clock_timestamp())).scalar_one()
    assert isinstance(now, datetime)
    return now.astimezone(UTC)


def takes_writes(store: Store) -> None:
    """Write a row and roll back. Raises what the database raises if it cannot."""

    class _RollBack(Exception):
        pass

    def work(tx: Connection) -> None:
        tx.execute(insert(TASK_RUN), {"task": "doctor", "period": "a test"})
        raise _RollBack

    with suppress(_RollBack):
        store.write(work)
