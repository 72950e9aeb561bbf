"""The schema of a database compared with expected: tables, columns, checks, keys and indexes.

Both are described by the database itself, so that nothing differs but what is different: expected is made beside it, in memory
on SQLite and as temporary tables on PostgreSQL, and is gone afterwards. What an operator has added and nobody trips over
(a table, an index, a column that may be empty) is no difference.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateIndex

from pbem.i18n.speech import gettext as _
from pbem.store.database import Store
from pbem.store.schema import METADATA

Part = tuple[str, str]
"""The kind and the name of a part of a table."""

Detail = tuple[str, str, str]
"""A table, and a part of it."""

_NEXT: Final = re.compile(r"nextval\('(?:[^'.]+\.)?([^'.]+)'::regclass\)")
_WORD: Final = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^]]*\]|[\w$]+|[(),]""")

_COLLATIONS: Final = text(
    "SELECT c.relname, a.attname, o.collname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
    " JOIN pg_type t ON t.oid = a.atttypid JOIN pg_collation o ON o.oid = a.attcollation"
    " JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = coalesce(:of_schema, current_schema()) AND a.attnum > 0 AND c.relkind IN ('r', 'p')"
    " AND a.attcollation <> t.typcollation"
)
_INDEXES: Final = text(
    "SELECT c.relname, x.relname, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place)"
    " FROM unnest(i.indkey) WITH ORDINALITY AS k(number, place)"
    " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number), pg_get_indexdef(i.indexrelid)"
    " FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = coalesce(:of_schema, current_schema())"
)

COPY: Final = (
    "Stop the server, copy everything to a new database with `pbem copy`, and point PBEM_DATABASE_URL to that."
)
RESTORE: Final = (
    "Its data is lost. Stop the server, move the database away (on PostgreSQL name an empty one in"
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
    details = (_of_sqlite if connection.dialect.name == "sqlite" else _of_postgresql)(connection, schema)
    there = {name: dict(_parts(inspector, name, schema, details)) for name in METADATA.tables if name in named}
    for table, name in _triggers(connection, schema):
        if table in there:
            there[table]["trigger", name] = ""
    return there


def _parts(inspector: Any, table: str, schema: str | None, details: Mapping[Detail, str]) -> Iterator[tuple[Part, str]]:
    for each in inspector.get_columns(table, schema):
        default = _NEXT.sub(r"the next number of \1", each["default"] or "none")
        null = "may be empty" if each["nullable"] else "never empty"
        says = f"{each['type']}, {null}, default {default}"
        yield ("column", each["name"]), says + _made_by(each) + details.get((table, "column", each["name"]), "")
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
            yield (
                (kind, each["name"]),
                _listed(each["column_names"]) + where + details.get((table, "index", each["name"]), ""),
            )


def _made_by(column: Mapping[str, Any]) -> str:
    """What makes the values of a column, if it is not who inserts a row."""
    if computed := column.get("computed"):
        return f", computed as {computed['sqltext']}"
    return ", an identity" if column.get("identity") else ""


def _of_sqlite(connection: Connection, _schema: str | None) -> dict[Detail, str]:
    """What else SQLite says of columns and indexes, where it is not the usual."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all()
    details = {
        (table, "column", column): f", compared by {order}"
        for table, sql in rows
        for column, order in _collations(sql)
        if order != "BINARY"
    }
    query = (
        "SELECT t.name, i.name, c.name, c.desc, c.coll FROM sqlite_master t, pragma_index_list(t.name) i,"
        " pragma_index_xinfo(i.name) c WHERE t.type = 'table' AND c.key AND (c.desc OR c.coll <> 'BINARY')"
    )
    for table, index, column, descending, order in connection.exec_driver_sql(query):
        says = f"; {column or 'the expression'} compared by {order}{', descending' if descending else ''}"
        details[table, "index", index] = details.get((table, "index", index), "") + says
    return details


def _collations(sql: str) -> Iterator[tuple[str, str]]:
    """The columns of a CREATE TABLE that say how they are compared; the pragmas of SQLite do not tell it."""
    depth, column, words = 0, "", list(_WORD.findall(sql))
    for word, following in pairwise(words):
        depth += (word == "(") - (word == ")")
        if depth == 1 and word in "(,":
            column = following.strip('"`[]')
        elif depth == 1 and word.upper() == "COLLATE":
            yield column, following.strip('"').upper()


def _of_postgresql(connection: Connection, schema: str | None) -> dict[Detail, str]:
    """What else PostgreSQL says of columns and indexes, where it is not the usual."""
    within = {"of_schema": schema}
    columns = connection.execute(_COLLATIONS, within)
    details = {(table, "column", name): f", compared by {order}" for table, name, order in columns}
    for table, index, columns_of_it, definition in connection.execute(_INDEXES, within):
        says = definition.partition(" USING ")[2].partition(" WHERE ")[0]
        if says != f"btree ({columns_of_it})":
            details[table, "index", index] = f" as {says}"
    return details


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
                says = _("The table %(table)s has an unknown %(kind)s: %(name)s.", table=table, kind=kind, name=name)
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
            says, _("Create it again: %(statement)s", statement=" ".join(statements)), slow_only=kind == "index"
        )
    return Difference(says, COPY)
