"""Copy all tables from one database to another, or a database to a file.

The source is read in one transaction, so the copy is the server at one moment, even while it is in use. The target must
be empty and at the same migration; it is written in one transaction, so it gets all or nothing.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select

from pbem.domain.errors import Forbidden
from pbem.store.database import Store, sqlite_module
from pbem.store.schema import METADATA

AT_ONCE: Final = 500
"""Rows in one statement: an email with its bytes has some 60 KB, so this is at most 30 MB."""

Progress = Callable[[int], None]
"""Called with the number of rows just copied."""


def counts(tx: Connection) -> dict[str, int]:
    """The number of rows in each table."""
    return {table.name: _count(tx, table) for table in METADATA.sorted_tables}


def must_be_empty(tx: Connection) -> None:
    """Refuse a database that has any rows. Raises Forbidden."""
    filled = [name for name, rows in counts(tx).items() if rows]
    if filled:
        raise Forbidden(
            "The target database is not empty.",
            why=f"There are rows in {', '.join(filled[:5])}.",
            remedy="Nothing was changed; choose an empty database, or move this one away first.",
        )


def unhurried(tx: Connection) -> None:
    """Lift PostgreSQL's time limits for this transaction."""
    if tx.dialect.name == "postgresql":
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            tx.exec_driver_sql(f"SET LOCAL {limit} = 0")


def copy_all(source: Connection, target: Connection, progress: Progress = lambda _: None) -> None:
    """Copy all rows of all tables, referenced tables first."""
    unhurried(source)
    unhurried(target)
    for table in METADATA.sorted_tables:
        adding = insert(table)
        query = select(table).order_by(*table.primary_key.columns)
        with source.execute(query, execution_options={"yield_per": AT_ONCE}) as rows:
            for batch in rows.partitions():
                target.execute(adding, [dict(row._mapping) for row in batch])
                progress(len(batch))
    _advance_sequences(target)


def write_file(source: Store, path: Path) -> None:
    """Copy an SQLite database, as it is at one moment, into an empty file while it is in use."""
    target = sqlite_module().connect(str(path))
    try:
        with source.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.backup(target)
        # Without a journal the copy is one file.
        target.execute("PRAGMA journal_mode=DELETE")
    finally:
        target.close()


def damage(store: Store) -> str | None:
    """What SQLite finds broken in its file; None if nothing, and always on PostgreSQL, which checks its pages itself."""
    if not store.on_sqlite:
        return None
    with store.read() as tx:
        verdict = tx.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        broken = tx.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if verdict != "ok":
        return str(verdict)
    return f"a row of {broken[0][0]} points to nothing" if broken else None


def _advance_sequences(target: Connection) -> None:
    """On PostgreSQL ids come from sequences, which know nothing of copied rows: set them past the highest."""
    if target.dialect.name != "postgresql":
        return
    for table in METADATA.sorted_tables:
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
