"""A row in every table of a database, whatever its tables are: what a step of the database has to bear."""

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    insert,
    select,
)
from sqlalchemy.engine import Connection

from pbem.store.database import Store

_AT = datetime(2026, 11, 21, 12, tzinfo=UTC)

# Of two columns that exclude each other, the first gets a value.
_ONE_OF_TWO = re.compile(r"(?<= <> )\(?(\w+) IS NULL")


def fill(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Put a row into every table; all rows of the database afterwards."""
    metadata = _reflected(store)
    store.write(lambda tx: [tx.execute(insert(table), _row(store, table)) for table in metadata.sorted_tables])
    return rows(store)


def rows(store: Store) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables, but for the one that says which step this is."""
    metadata = _reflected(store)

    def read(tx: Connection) -> dict[str, list[dict[str, Any]]]:
        return {
            table.name: [dict(row._mapping) for row in tx.execute(select(table))] for table in metadata.sorted_tables
        }

    with store.read() as tx:
        return read(tx)


def _reflected(store: Store) -> MetaData:
    metadata = MetaData()
    with store.read() as tx:
        metadata.reflect(tx)
    if (version := metadata.tables.get("alembic_version")) is not None:
        metadata.remove(version)
    return metadata


def _row(store: Store, table: Table) -> dict[str, Any]:
    return {column.name: _value(store, table, column) for column in table.columns}


def _value(store: Store, table: Table, column: Column[Any]) -> Any:
    """A value that the column takes. All numbers are the same, so that every key of another table finds its row."""
    checks = [str(check.sqltext) for check in table.constraints if isinstance(check, CheckConstraint)]
    if any(column.name in _ONE_OF_TWO.findall(check) for check in checks):
        return None
    # Not within quotes: a word that one column may hold can be the name of another.
    named = [check for check in checks if re.search(rf"(?<!')\b{column.name}\b(?!')", check)]
    allowed = [re.findall(r"'(\w+)'", check) for check in named]
    if any(allowed):
        return next(filter(None, allowed))[0]
    kind = column.type
    if isinstance(kind, Boolean):
        return True
    if isinstance(kind, DateTime):
        return _AT.replace(tzinfo=None) if store.on_sqlite else _AT
    if isinstance(kind, Date):
        return _AT.date()
    if isinstance(kind, Float):
        return 0.1
    if isinstance(kind, LargeBinary):
        return b"\x00\xff bytes"
    return 1 if isinstance(kind, Integer) else "a text with ' and ü"
