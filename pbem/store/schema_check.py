"""The schema of a database compared with expected: tables, columns, checks, keys and indexes.

Both are described by the database itself, so that nothing differs but what is different: expected is made beside it, in memory
on SQLite and as temporary tables on PostgreSQL, and is gone afterwards. What an operator has added and nobody trips over
(a table, an index, a column that may be empty) is no difference.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, inspect
from sqlalchemy.schema import CreateIndex

from pbem.i18n.speech import gettext as _
from pbem.store.database import Store
from pbem.store.schema import METADATA

Part = tuple[str, str]
"""The kind and the name of a part of a table."""

COPY: Final = (
    "Stop the server, make all tables anew in another database with `pbem copy`, and set PBEM_DATABASE_URL to that one."
)
RESTORE: Final = (
    "What was in it is lost here. Stop the server, move the database away (on PostgreSQL name an empty one in"
    " PBEM_DATABASE_URL), and restore the newest backup that has it with `pbem restore`."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a database is not as it should be, and what to do about it."""

    says: str
    remedy: str
    slow_only: bool = False


def differences(store: Store) -> list[Difference]:
    """How the schema of a database at the newest migration differs from expected."""
    if store.on_sqlite:
        with store.read() as tx:
            there = _tables(tx, None)
        memory = Store("sqlite://")
        try:
            with memory.engine.connect() as connection:
                expected = _made(connection, None)
        finally:
            memory.close()
    else:
        with store.engine.connect() as connection:
            there = _tables(connection, None)
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            expected = _made(connection, "pg_temp")
            # The temporary tables are gone with this.
            connection.rollback()
    return list(_compare(there, expected, store))


def _made(connection: Connection, schema: str | None) -> dict[str, dict[Part, str]]:
    """Make all our tables, and describe them."""
    METADATA.create_all(connection.execution_options(schema_translate_map={None: schema}), checkfirst=False)
    if schema is not None:
        query = "SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()"
        schema = connection.exec_driver_sql(query).scalar_one()
    return _tables(connection, schema)


def _tables(connection: Connection, schema: str | None) -> dict[str, dict[Part, str]]:
    """The parts of each of our tables that is there, and what the database says of them."""
    inspector = inspect(connection)
    named = set(
        inspector.get_table_names(schema) + inspector.get_temp_table_names() if schema else inspector.get_table_names()
    )
    there = {name: dict(_parts(inspector, name, schema)) for name in METADATA.tables if name in named}
    for table, name in _triggers(connection, schema):
        if table in there:
            there[table]["trigger", name] = ""
    return there


def _parts(inspector: Any, table: str, schema: str | None) -> Iterator[tuple[Part, str]]:
    for each in inspector.get_columns(table, schema):
        default = re.sub(r"nextval\(.*", "the next number", each["default"] or "none")
        null = "may be empty" if each["nullable"] else "never empty"
        yield ("column", each["name"]), f"{each['type']}, {null}, default {default}"
    yield ("primary key", table), _listed(inspector.get_pk_constraint(table, schema)["constrained_columns"])
    for each in inspector.get_check_constraints(table, schema):
        yield ("check", each["name"]), each["sqltext"]
    for each in inspector.get_unique_constraints(table, schema):
        yield ("unique constraint", each["name"]), _listed(each["column_names"])
    for each in inspector.get_foreign_keys(table, schema):
        to = f"{each['referred_table']} ({_listed(each['referred_columns'])}) {sorted(each['options'].items()) or ''}"
        yield ("foreign key", each["name"]), f"{_listed(each['constrained_columns'])} to {to}".rstrip()
    for each in inspector.get_indexes(table, schema):
        if "duplicates_constraint" not in each:
            where = next(
                (f" where {of}" for name, of in each.get("dialect_options", {}).items() if name.endswith("_where")), ""
            )
            kind = "unique index" if each["unique"] else "index"
            yield (kind, each["name"]), _listed(each["column_names"]) + where


def _triggers(connection: Connection, schema: str | None) -> Iterator[tuple[str, str]]:
    """The triggers of a database, each after its table. We make none."""
    if connection.dialect.name == "sqlite":
        query = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'"
    elif schema is None:
        query = (
            "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace"
        )
    else:
        return
    yield from connection.exec_driver_sql(query)


def _listed(columns: list[str | None]) -> str:
    return ", ".join(each or "an expression" for each in columns)


def _compare(
    there: dict[str, dict[Part, str]], expected: dict[str, dict[Part, str]], store: Store
) -> Iterator[Difference]:
    for table, parts in expected.items():
        if table not in there:
            yield Difference(_("The table %(table)s is missing.", table=table), RESTORE)
            continue
        found = there[table]
        for part, needed in parts.items():
            if found.get(part) != needed:
                yield _difference(table, part, needed, found.get(part), store)
        for kind, name in found.keys() - parts.keys():
            if kind not in ("index", "column") or found[kind, name].endswith("never empty, default none"):
                says = _(
                    "The table %(table)s has a %(kind)s that is not ours: %(name)s.", table=table, kind=kind, name=name
                )
                yield Difference(says, COPY)


def _difference(table: str, part: Part, needed: str, found: str | None, store: Store) -> Difference:
    kind, name = part
    if found is not None:
        words = {"table": table, "kind": kind, "name": name, "found": found, "wanted": needed}
        says = _(
            "In the table %(table)s the %(kind)s %(name)s was changed: it is “%(found)s” and should be “%(wanted)s”.",
            **words,
        )
    else:
        says = _(
            "The table %(table)s lacks the %(kind)s %(name)s (%(wanted)s).",
            table=table,
            kind=kind,
            name=name,
            wanted=needed,
        )
    if kind == "column" and found is None:
        return Difference(says, RESTORE)
    if kind.endswith("index"):
        index = next(each for each in METADATA.tables[table].indexes if each.name == name)
        statements = [f"DROP INDEX {name};"] if found is not None else []
        statements.append(" ".join(str(CreateIndex(index).compile(store.engine)).split()) + ";")
        return Difference(
            says, _("Make it again: %(statement)s", statement=" ".join(statements)), slow_only=kind == "index"
        )
    return Difference(says, COPY)
