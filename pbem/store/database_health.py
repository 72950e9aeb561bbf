"""What a database says of itself: its kind and version, its clock, whether it takes what is written."""

from contextlib import suppress
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, select

from pbem.store.database import SAFE_SQLITE, Store, sqlite_module
from pbem.store.schema import Slot, table_of


def version(store: Store) -> str:
    """Kind and version of the database, in words."""
    if store.on_sqlite:
        return f"SQLite {sqlite_module().sqlite_version} ({sqlite_module().__name__})"
    with store.read() as tx:
        return f"PostgreSQL {tx.exec_driver_sql('SHOW server_version').scalar_one()}"


def unsafe_sqlite(store: Store) -> bool:
    """Whether it is an SQLite that can damage a database when two connections meet at a bad moment."""
    return store.on_sqlite and tuple(sqlite_module().sqlite_version_info) < SAFE_SQLITE


def clock(store: Store) -> datetime | None:
    """What time the database thinks it is; None where it has no clock of its own."""
    if store.on_sqlite:
        return None
    with store.read() as tx:
        now = tx.execute(select(func.clock_timestamp())).scalar_one()
    assert isinstance(now, datetime)
    return now.astimezone(UTC)


def takes_writes(store: Store) -> None:
    """Write something and take it back; raises what the database says if it cannot."""

    class _Back(Exception):
        pass

    def work(tx: Connection) -> None:
        tx.execute(insert(table_of(Slot)), {"task": "doctor", "slot": "was here"})
        raise _Back

    # What has been written for a look must not stay.
    with suppress(_Back):
        store.write(work)
