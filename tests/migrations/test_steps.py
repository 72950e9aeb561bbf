"""The steps of the database: each one up, down and up again with data, and the newest the same as the schema."""

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from pbem import paths
from pbem.domain.errors import BadInput
from pbem.store import migrations, schema_check
from pbem.store.database import Store
from pbem.store.schema import METADATA
from tests.migrations.filled import fill, rows
from tests.service.conftest import postgresql_database

pytestmark = pytest.mark.slow

STEPS = migrations.steps()


def test_steps_are_numbered_in_their_order() -> None:
    assert [f"{number:04}" for number in range(1, len(STEPS) + 1)] == STEPS


@pytest.mark.parametrize("step", STEPS)
def test_each_step_runs_up_and_down_and_up_again_with_data(empty: Store, step: str) -> None:
    before = STEPS[STEPS.index(step) - 1] if step != STEPS[0] else migrations.EMPTY
    if before != migrations.EMPTY:
        migrations.upgrade(empty, before)
        fill(empty)
    there = rows(empty) if before != migrations.EMPTY else {}
    migrations.upgrade(empty, step)
    assert {name: len(found) for name, found in rows(empty).items() if name in there} == {
        name: len(found) for name, found in there.items()
    }
    if before == migrations.EMPTY:
        assert not any(rows(empty).values())
        fill(empty)
    migrations.downgrade(empty, before)
    assert migrations.current(empty) == before
    assert before != migrations.EMPTY or table_names(empty) <= {"alembic_version"}
    assert migrations.upgrade(empty, step) == [step]
    assert migrations.current(empty) == step


def test_all_steps_together_run_up_and_down_and_up_again(empty: Store) -> None:
    assert migrations.upgrade(empty) == STEPS
    written = fill(empty)
    assert rows(empty) == written
    migrations.downgrade(empty, migrations.EMPTY)
    assert table_names(empty) <= {"alembic_version"}
    assert migrations.upgrade(empty) == STEPS
    assert not any(rows(empty).values())


def test_the_newest_step_is_the_schema(empty: Store) -> None:
    migrations.upgrade(empty)
    assert schema_check.differences(empty) == [], "run `make migration`; see migrations/README.md"


def test_the_newest_step_has_every_constraint_of_the_schema_by_its_name(
    empty: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the doctor's comparison is made of, as the database tells of it."""
    migrations.upgrade(empty)
    if empty.on_sqlite:
        assert layout(empty) == layout_of_schema(f"sqlite:///{tmp_path_factory.mktemp('schema')}/schema.sqlite3")
    else:
        with postgresql_database() as url:
            assert layout(empty) == layout_of_schema(url)


def test_a_constraint_that_is_missing_is_found(empty: Store) -> None:
    """The comparison above has been seen to fail."""
    migrations.upgrade(empty)
    whole = layout(empty)
    empty.write(lambda tx: tx.execute(text("DROP INDEX ix_outbox_due")))
    assert layout(empty) != whole
    assert schema_check.differences(empty)


def test_running_the_steps_again_does_nothing(empty: Store) -> None:
    migrations.upgrade(empty)
    fill(empty)
    before = rows(empty)
    assert migrations.upgrade(empty) == []
    assert rows(empty) == before


def test_several_processes_that_migrate_at_once_run_each_step_once(empty_url: str) -> None:
    stores = [Store(empty_url) for _ in range(4)]
    ready, failures = threading.Barrier(len(stores)), []

    def run(store: Store) -> None:
        ready.wait()
        try:
            migrations.upgrade(store)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test has to see it
            failures.append(error)

    threads = [threading.Thread(target=run, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert {migrations.current(store) for store in stores} == {STEPS[-1]}
    for store in stores:
        store.close()


def test_a_step_that_fails_leaves_nothing_half_done(empty: Store) -> None:
    migrations.upgrade(empty)
    fill(empty)
    migrations.downgrade(empty, migrations.EMPTY)
    # A table is in the way of an index that the first step makes.
    empty.write(lambda tx: tx.execute(text("CREATE TABLE ix_outbox_due (seat INTEGER)")))
    with pytest.raises(Exception, match="ix_outbox_due"):
        migrations.upgrade(empty)
    assert table_names(empty) <= {"alembic_version", "ix_outbox_due"}
    assert migrations.current(empty) == migrations.EMPTY


SLOW_STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "{before}", None, None

def upgrade():
    op.create_table("limit_in_a_step", sa.Column("says", sa.Text()))
    for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
        says = op.get_bind().exec_driver_sql("SHOW " + limit).scalar_one()
        op.get_bind().exec_driver_sql(f"INSERT INTO limit_in_a_step VALUES ('{{limit}} {{says}}')")
"""


@pytest.mark.parametrize("empty_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_step_may_work_for_long_in_a_statement_and_between_two(
    empty: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = shutil.copytree(paths.migrations(), tmp_path / "migrations")
    (folder / "versions" / "9999_slow.py").write_text(SLOW_STEP.format(before=STEPS[-1]))
    monkeypatch.setattr(paths, "migrations", lambda: folder)
    migrations.upgrade(empty)
    with empty.read() as tx:
        limits = set(tx.execute(text("SELECT says FROM limit_in_a_step")).scalars())
    assert limits == {"statement_timeout 0", "idle_in_transaction_session_timeout 0"}


def test_an_empty_database_is_refused_with_what_to_do(empty: Store) -> None:
    with pytest.raises(BadInput, match=r"empty\. .*`pbem init`"):
        migrations.must_be_current(empty)


def test_a_database_of_a_newer_release_is_refused_and_left_alone(empty: Store) -> None:
    migrations.upgrade(empty)
    empty.write(lambda tx: tx.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    for refuses in (migrations.must_be_current, migrations.upgrade):
        with pytest.raises(BadInput, match="newer than this release"):
            refuses(empty)
    assert migrations.current(empty) == "9999"


def table_names(store: Store) -> set[str]:
    """The tables that are there."""
    with store.read() as tx:
        return set(inspect(tx).get_table_names())


def layout_of_schema(url: str) -> dict[str, Any]:
    """The layout of a database made from the schema itself."""
    store = Store(url)
    try:
        METADATA.create_all(store.engine)
        return layout(store)
    finally:
        store.close()


def layout(store: Store) -> dict[str, Any]:
    """Columns, keys, checks and indexes of all tables, as the database describes them."""
    with store.read() as tx:
        there = inspect(tx)
        return {
            name: {
                "columns": [
                    str(sorted({**each, "type": str(each["type"])}.items())) for each in there.get_columns(name)
                ],
                "key": there.get_pk_constraint(name),
                "foreign": ordered(there.get_foreign_keys(name)),
                "unique": ordered(there.get_unique_constraints(name)),
                "checks": ordered(there.get_check_constraints(name)),
                # The condition of a partial index is an object that equals no other.
                "indexes": ordered(
                    [
                        {
                            **each,
                            "dialect_options": {
                                name: str(value) for name, value in each.get("dialect_options", {}).items()
                            },
                        }
                        for each in there.get_indexes(name)
                    ]
                ),
            }
            for name in there.get_table_names()
            if name != "alembic_version"
        }


def ordered(found: list[Any]) -> list[Any]:
    """By name, because the order of constraints means nothing."""
    return sorted(found, key=lambda each: str(each["name"]))
