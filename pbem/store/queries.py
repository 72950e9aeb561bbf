"""The steps that many queries share. The columns of a query stand in the order of the fields of its rows."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Executable, Select, Table, func, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from pbem.domain.errors import NotFound
from pbem.domain.interval import Interval
from pbem.i18n.speech import gettext

R = TypeVar("R")

Values = Mapping[str, Any]

Times = Mapping[int, tuple[Interval, ...]]
"""Intervals by id of a table or person; each id asked for is there, even without intervals."""


def one(tx: Connection, row: Callable[..., R], query: Executable, values: Values | None = None) -> R | None:
    """The only row of a query; None if there is none."""
    columns = tx.execute(query, values).one_or_none()
    return None if columns is None else row(*columns)


def only(tx: Connection, row: Callable[..., R], query: Executable, missing: str, values: Values | None = None) -> R:
    """The only row of a query. Raises NotFound with the marked sentence `missing` if there is none."""
    columns = tx.execute(query, values).one_or_none()
    if columns is None:
        raise NotFound(gettext(missing))
    return row(*columns)


def unindexed(column: ColumnElement[str]) -> ColumnElement[str]:
    """A column of words as a value that no index has. SQLite knows nothing of the rows, and would begin with all of a status."""
    return column.concat("")


def many(tx: Connection, row: Callable[..., R], query: Executable, values: Values | None = None) -> list[R]:
    """The rows of a query, in its order."""
    return [row(*columns) for columns in tx.execute(query, values)]


def by_id(tx: Connection, row: Callable[..., R], table: Table, ids: Iterable[int]) -> dict[int, R]:
    """The rows with these ids, by id."""
    query = select(table).where(table.c.id.in_(list(ids)))
    return {columns.id: row(*columns) for columns in tx.execute(query)}


def count(tx: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """The number of rows for which these conditions hold."""
    return tx.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()


def add(tx: Connection, table: Table, values: Values) -> int:
    """Insert a row and return its id."""
    return int(tx.execute(insert(table).returning(table.c.id), values).scalar_one())


def add_once(tx: Connection, table: Table, values: Values) -> bool:
    """Insert a row; False if it exists already."""
    new = insertion(tx.dialect.name, table).values(**values).on_conflict_do_nothing()
    return tx.execute(new.returning(literal(1))).first() is not None


def insertion(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insertion that can say what to do with a row that exists already."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def times_of(tx: Connection, statement: Select[Any], these: Collection[int], since: datetime) -> Times:
    """The intervals that end after this moment, by id of the table or person."""
    times: dict[int, tuple[Interval, ...]] = dict.fromkeys(these, ())
    for owner_id, start, end in tx.execute(statement, {"these": list(these), "since": since}):
        times[owner_id] += (Interval(start, end),)
    return times
