"""All tables from one database into another, and a database into a file.

The source is read in one transaction, so what arrives is the server at one moment, whatever happens meanwhile. The target
must be empty and at the same step; it is written in one transaction, so it has everything or nothing.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select

from pbem.domain.errors import Forbidden
from pbem.store.database import Store, sqlite_module
from pbem.store.schema import Base

AT_ONCE: Final = 500
"""Rows in one statement: a mail with its bytes has some 60 KB, so this is 30 MB at the very most."""

Progress = Callable[[int], None]
"""Is told how many more rows were copied."""


def counts(tx: Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {table.name: _count(tx, table) for table in Base.metadata.sorted_tables}


def must_be_empty(tx: Connection) -> None:
    """Refuse a database in which there is something already."""
    filled = [name for name, rows in counts(tx).items() if rows]
    if filled:
        raise Forbidden(
            "The target database is not empty.",
            why=f"There are rows in {', '.join(filled[:5])}.",
            remedy="Nothing was changed; choose an empty database, or move this one away first.",
        )


def unhurried(tx: Connection) -> None:
    """For this transaction, lift the limits on PostgreSQL that keep requests from taking long."""
    if tx.dialect.name == "postgresql":
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            tx.exec_driver_sql(f"SET LOCAL {limit} = 0")


def copy_all(source: Connection, target: Connection, progress: Progress = lambda _: None) -> None:
    """Copy all rows of all tables, those that others point to first."""
    unhurried(source)
    unhurried(target)
    for table in Base.metadata.sorted_tables:
        adding = insert(table)
        wanted = select(table).order_by(*table.primary_key.columns)
        with source.execute(wanted, execution_options={"yield_per": AT_ONCE}) as found:
            for batch in found.partitions():
                target.execute(adding, [dict(row._mapping) for row in batch])
                progress(len(batch))
    _go_on_numbering(target)


def write_file(source: Store, path: Path) -> None:
    """Write an SQLite database as it is at one moment into a file that is there and empty, while it is in use."""
    target = sqlite_module().connect(str(path))
    try:
        with source.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.backup(target)
        # Without a journal beside it: the copy is one file.
        target.execute("PRAGMA journal_mode=DELETE")
    finally:
        target.close()


def damage(store: Store) -> str | None:
    """What SQLite finds broken in its file; nothing is looked for on PostgreSQL, which checks its pages itself."""
    if not store.on_sqlite:
        return None
    with store.read() as tx:
        said = tx.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        broken = tx.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if said != "ok":
        return str(said)
    return f"a row of {broken[0][0]} points to nothing" if broken else None


def _go_on_numbering(target: Connection) -> None:
    """On PostgreSQL the next number of each table comes from a sequence, which knows nothing of rows that were copied."""
    if target.dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        sequence = func.pg_get_serial_sequence(table.name, column.name)
        if target.execute(select(sequence)).scalar_one() is None:
            continue
        highest = target.execute(select(func.max(column))).scalar_one()
        target.execute(select(func.setval(sequence, highest or 1, highest is not None)))


def _count(tx: Connection, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())
