"""What is not as the steps made it is found and named, on both databases, with a remedy that mends it."""

import re

import pytest
from sqlalchemy import text

from pbem.store import migrations, schema_check
from pbem.store.database import Store
from pbem.store.schema import METADATA

pytestmark = pytest.mark.slow


@pytest.fixture
def made(empty: Store) -> Store:
    """A database made by the steps."""
    migrations.upgrade(empty)
    return empty


def execute(store: Store, *statements: str) -> None:
    """Change the database behind our back."""
    for statement in statements:
        store.write(lambda tx, statement=statement: tx.execute(text(statement)))  # type: ignore[misc]  # one call each


def rewritten(store: Store, table: str, old: str, new: str) -> None:
    """Make an SQLite table again with another text, as a tool for databases does."""
    with store.rebuilding() as tx:
        (sql,) = tx.execute(text("SELECT sql FROM sqlite_master WHERE name = :name"), {"name": table}).one()
        assert old in sql
        tx.execute(text(f"DROP TABLE {table}"))
        tx.exec_driver_sql(sql.replace(old, new))


def found(store: Store) -> str:
    """All that is found, in one text."""
    return "\n".join(f"{each.says} {each.remedy}" for each in schema_check.differences(store))


def test_a_fresh_database_has_no_difference_and_the_comparison_leaves_nothing(made: Store) -> None:
    before = everything(made)
    assert schema_check.differences(made) == []
    assert everything(made) == before


def everything(store: Store) -> list[str]:
    """The names of all tables and indexes, temporary ones too."""
    query = "SELECT name FROM sqlite_master" if store.on_sqlite else "SELECT relname FROM pg_class"
    with store.read() as tx:
        return sorted(tx.execute(text(query)).scalars())


@pytest.mark.parametrize("name", ["ix_outbox_due", "ix_deadline_due"])
def test_a_dropped_index_is_named_and_the_statement_told_makes_it_again(made: Store, name: str) -> None:
    execute(made, f"DROP INDEX {name}")
    (difference,) = schema_check.differences(made)
    assert f"lacks the index {name}" in difference.says
    assert difference.slow_only
    execute(made, difference.remedy.partition(": ")[2].rstrip(";"))
    assert schema_check.differences(made) == []


def test_every_index_and_table_that_is_missing_is_named(made: Store) -> None:
    indexes = [index for table in METADATA.sorted_tables for index in table.indexes]
    execute(made, *(f"DROP INDEX {index.name}" for index in indexes))
    differences = found(made)
    assert [index.name for index in indexes if f"index {index.name} " not in differences] == []
    execute(made, "DROP TABLE search_word", "DROP TABLE tally")
    differences = found(made)
    assert "The table search_word is missing." in differences
    assert "The table tally is missing." in differences
    assert "`pbem restore`" in differences


def test_an_index_that_was_changed_is_named_with_both_and_mended(made: Store) -> None:
    execute(made, "DROP INDEX ix_outbox_due", "CREATE INDEX ix_outbox_due ON outbox (status)")
    (difference,) = schema_check.differences(made)
    assert "is “status” and should be “status, due_at”" in difference.says
    execute(made, *re.findall(r"[A-Z][^;]+", difference.remedy.partition(": ")[2]))
    assert schema_check.differences(made) == []


def test_a_missing_column_and_one_of_another_type_are_named(made: Store) -> None:
    execute(made, "ALTER TABLE ban DROP COLUMN reason")
    assert "The table ban lacks the column reason (TEXT, never empty, default none)." in found(made)
    assert "restore the newest backup that has it" in found(made)
    execute(made, "ALTER TABLE ban ADD COLUMN reason INTEGER")
    assert "the column reason was changed: it is “INTEGER, may be empty" in found(made)
    assert "`pbem copy`" in found(made)


def test_a_column_that_is_compared_in_another_way_is_named(made: Store) -> None:
    if made.on_sqlite:
        rewritten(made, "ban", "reason TEXT NOT NULL", "reason TEXT COLLATE NOCASE NOT NULL")
        assert "TEXT, never empty, default none, compared by NOCASE" in found(made)
        # The word alone is no collation.
        rewritten(made, "ban", "TEXT COLLATE NOCASE NOT NULL", "TEXT NOT NULL")
        execute(made, "ALTER TABLE ban ADD COLUMN note TEXT DEFAULT ', x COLLATE NOCASE'")
        assert "compared by" not in found(made)
    else:
        execute(made, 'ALTER TABLE ban ALTER COLUMN reason TYPE TEXT COLLATE "C"')
        assert "compared by C" in found(made)
        assert "`pbem copy`" in found(made)


def test_a_column_that_is_computed_is_named(made: Store) -> None:
    if made.on_sqlite:
        rewritten(made, "ban", "reason TEXT NOT NULL", "reason TEXT GENERATED ALWAYS AS ('x') STORED NOT NULL")
    else:
        execute(made, "ALTER TABLE ban DROP COLUMN reason")
        execute(made, "ALTER TABLE ban ADD COLUMN reason TEXT GENERATED ALWAYS AS ('x') STORED NOT NULL")
    assert "the column reason was changed" in found(made)
    assert "computed as 'x'" in found(made)


def test_a_default_that_was_changed_is_named(made: Store) -> None:
    if made.on_sqlite:
        rewritten(made, "ban", "reason TEXT NOT NULL", "reason TEXT DEFAULT 'x' NOT NULL")
        assert "default 'x'" in found(made)
    else:
        execute(made, "ALTER TABLE ban ALTER COLUMN reason SET DEFAULT 'x'")
        assert "default 'x'::text" in found(made)
        execute(made, "ALTER TABLE ban ALTER COLUMN reason DROP DEFAULT")
        execute(made, "CREATE SEQUENCE other", "ALTER TABLE call ALTER COLUMN id SET DEFAULT nextval('other')")
        assert "default the next number of other” and should be" in found(made)
        execute(made, "ALTER TABLE call ALTER COLUMN id DROP DEFAULT")
        assert "default none” and should be" in found(made)


@pytest.mark.parametrize("columns", ["status, due_at DESC", "status COLLATE {}, due_at"])
def test_an_index_in_another_order_is_named_and_mended(made: Store, columns: str) -> None:
    order = "NOCASE" if made.on_sqlite else '"C"'
    execute(made, "DROP INDEX ix_outbox_due", f"CREATE INDEX ix_outbox_due ON outbox ({columns.format(order)})")
    (difference,) = schema_check.differences(made)
    assert "the index ix_outbox_due was changed" in difference.says
    assert re.search(r"DESC|descending|COLLATE|compared by NOCASE", difference.says)
    execute(made, *re.findall(r"[A-Z][^;]+", difference.remedy.partition(": ")[2]))
    assert schema_check.differences(made) == []


def test_a_check_that_was_changed_or_dropped_is_named(made: Store) -> None:
    check = "ck_vote_decision" if "ck_vote_decision" in checks() else sorted(checks())[0]
    table, condition = checks()[check]
    if made.on_sqlite:
        rewritten(made, table, f"CONSTRAINT {check} CHECK ({condition})", f"CONSTRAINT {check} CHECK (1 = 1)")
    else:
        execute(made, f"ALTER TABLE {table} DROP CONSTRAINT {check}")
        assert f"The table {table} lacks the check {check}" in found(made)
        execute(made, f"ALTER TABLE {table} ADD CONSTRAINT {check} CHECK (1 = 1)")
    assert f"In the table {table} the check {check} was changed: it is “1 = 1”" in found(made)
    assert "`pbem copy`" in found(made)


def checks() -> dict[str, tuple[str, str]]:
    """The checks of the schema by name: table and text."""
    return {
        str(each.name): (table.name, str(each.sqltext))
        for table in METADATA.sorted_tables
        for each in table.constraints
        if hasattr(each, "sqltext") and str(each.name).startswith("ck_")
    }


def test_a_trigger_is_named(made: Store) -> None:
    if made.on_sqlite:
        execute(made, "CREATE TRIGGER swallows BEFORE INSERT ON log BEGIN SELECT RAISE(IGNORE); END")
    else:
        execute(
            made,
            "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER swallows BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION nothing()",
        )
    assert "The table log has an unknown trigger: swallows." in found(made)


def test_unique_constraints_and_foreign_keys_are_compared_and_what_hinders_nobody_is_not(made: Store) -> None:
    execute(
        made,
        "CREATE TABLE of_the_operator (id INTEGER)",
        "CREATE INDEX of_the_operator_too ON game (status, id)",
        "ALTER TABLE game ADD COLUMN note TEXT",
    )
    assert schema_check.differences(made) == []
    execute(made, "CREATE UNIQUE INDEX once ON game (status)")
    assert "The table game has an unknown unique index: once." in found(made)
    execute(made, "DROP INDEX once")
    table, name = next(
        (table.name, str(each.name))
        for table in METADATA.sorted_tables
        for each in table.foreign_key_constraints
        if table.name == "vote"
    )
    if made.on_sqlite:
        rewritten(made, table, f"CONSTRAINT {name} ", "CONSTRAINT another ")
    else:
        execute(made, f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    assert f"The table vote lacks the foreign key {name}" in found(made)
    unique = [
        (table.name, str(each.name))
        for table in METADATA.sorted_tables
        for each in table.constraints
        if str(each.name).startswith("uq_")
    ]
    for table, name in unique:
        if made.on_sqlite:
            rewritten(made, table, f"CONSTRAINT {name} UNIQUE", f"CONSTRAINT {name} CHECK (1 = 1), UNIQUE")
        else:
            execute(made, f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE")
        assert f"the unique constraint {name}" in found(made)
