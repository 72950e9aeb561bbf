"""Copies of rows by strides of ids: copy `n` of a row has every id moved on by `n` strides of its table, so references stay whole.

Moments are moved too, and names and keys are made different. Anything else is said in SQL, where `s.n` is its number and `t` the
row that is copied.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy import Column, Table, func, select

from pbem.service.server import Server
from pbem.store.database import Tx
from pbem.store.database_copy import unhurried
from pbem.store.schema import METADATA
from pbem.store.types import Moment
from tests.service.table_copies import analyse

AT_ONCE: Final = 2_000
"""Copies in one transaction."""

AHEAD: Final = frozenset({"due_at", "remind_at", "expires_at"})
"""Moments that lie in the future."""

Place = tuple[str, str]
"""A table and its column."""


@dataclass(frozen=True)
class Copying:
    """What is copied, and how.

    `different` are texts that every copy has for itself. `numbers` says which copy of a row a reference leads to, where that isn't the
    one with the same number, `values` what else is in a column, and `conditions` which rows of a table have a copy of a number.
    """

    tables: tuple[str, ...]
    different: frozenset[Place] = frozenset()
    numbers: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[Place, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    past: str = "-s.n"
    future: str = "s.n"
    """By how many times `apart` moments are moved."""
    apart: timedelta = timedelta(minutes=10)
    """The time between what happened to one copy and to the next: more games, and no more moves an hour."""

    def run(self, server: Server, times: int) -> None:
        """Make so many copies of what is there."""
        with server.store.read() as tx:
            stride = self.strides(tx)
        for first in range(1, times + 1, AT_ONCE):
            last = min(first + AT_ONCE - 1, times)
            server.store.write(partial(self._copy, stride=stride, first=first, last=last))
        server.store.write(self._go_on_after)
        analyse(server)

    def strides(self, tx: Tx) -> dict[str, int]:
        """By how much the ids of each table are moved on from one copy to the next."""
        return {table.name: highest(tx, table) + 1 for table in self._tables() if "id" in table.c}

    def _tables(self) -> list[Table]:
        return [table for table in METADATA.sorted_tables if table.name in self.tables]

    def _copy(self, tx: Tx, stride: dict[str, int], first: int, last: int) -> None:
        unhurried(tx)
        on_sqlite = tx.dialect.name == "sqlite"
        if not on_sqlite:
            # The references of copies are right, and asking for each takes most of the time.
            tx.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for table in self._tables():
            columns = ", ".join(f'"{column.name}"' for column in table.c)
            values = ", ".join(self._value(column, stride, on_sqlite=on_sqlite) for column in table.c)
            # The originals alone, not what was copied before.
            ids = {f't."{name}"': of for name, of in self._ids(table).items() if not table.c[name].nullable}
            own = [f"{name} < {stride[of]}" for name, of in ids.items()]
            own += [self.conditions[table.name].format_map(stride)] if table.name in self.conditions else []
            numbers = f"WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {last})"
            sql = f'INSERT INTO "{table.name}" ({columns}) {numbers} SELECT {values} FROM s, "{table.name}" t WHERE {" AND ".join(own)}'
            tx.exec_driver_sql(sql if on_sqlite else sql.replace("%", "%%"))

    def _ids(self, table: Table) -> dict[str, str]:
        """The columns that hold an id, and whose."""
        found = {key.parent.name: key.column.table.name for key in table.foreign_keys}
        if "id" in table.c:
            found["id"] = table.name
        return {name: of for name, of in found.items() if of in self.tables}

    def _value(self, column: Column[object], stride: dict[str, int], *, on_sqlite: bool) -> str:
        """What a copy has in this column."""
        own, table = f't."{column.name}"', column.table
        if (table.name, column.name) in self.values:
            return self.values[table.name, column.name].format_map(stride)
        if of := self._ids(table).get(column.name):
            number = "s.n" if table.name == of else self.numbers.get(of, "s.n").replace("OWN", own)
            return f"{own} + {number} * {stride[of]}"
        if (table.name, column.name) in self.different:
            return f"s.n || 'x' || {own}"
        if isinstance(column.type, Moment):
            # Links expire after the games that they belong to, and emails are due when they are queued.
            by = self.future if column.name in AHEAD and table.name != "outbox" else self.past
            seconds = f"({by}) * {self.apart.total_seconds():.0f}"
            if on_sqlite:
                return f"strftime('%Y-%m-%d %H:%M:%f', {own}, ({seconds}) || ' seconds') || '000'"
            return f"{own} + ({seconds}) * interval '1 second'"
        return own

    def _go_on_after(self, tx: Tx) -> None:
        """Let ids go on after the copies."""
        if tx.dialect.name == "postgresql":
            for table in self._tables():
                if "id" in table.c:
                    tx.exec_driver_sql(
                        f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
                    )


def count(tx: Tx, table: Table) -> int:
    """How many rows a table has."""
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


def highest(tx: Tx, table: Table) -> int:
    """The highest id of a table."""
    return int(tx.execute(select(func.max(table.c.id))).scalar_one() or 0)
