"""Migrations, run in order up to the newest; the only module that knows Alembic.

On SQLite all migrations run in one transaction, so an upgrade happens whole or not at all, and a second process waits
for it. On PostgreSQL each migration is a transaction, and an advisory lock keeps two processes from running them at
once.

This module must never run a migration by itself: commands decide when.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from pbem import paths
from pbem.domain.errors import BadInput, Fault
from pbem.store.database import Store
from pbem.store.schema import METADATA

EMPTY: Final = "base"
"""The name of the state before the first migration."""

# Alembic logs every look at a database; callers report what was run.
logging.getLogger("alembic").setLevel(logging.WARNING)

_LOCK: Final = 0x7062656D
"""The id of the advisory lock: the letters of pbem. Nothing else on the database server may use it."""


def head() -> str:
    """The newest migration. Raises Fault if there is none."""
    newest = _script().get_current_head()
    if newest is None:
        raise Fault(f"There are no migrations in {paths.migrations()}.")
    return newest


def steps() -> list[str]:
    """All migrations, in order."""
    return [script.revision for script in reversed(list(_script().walk_revisions()))]


def current(store: Store) -> str:
    """The migration the database is at."""
    with store.read() as tx:
        return MigrationContext.configure(tx).get_current_revision() or EMPTY


def upgrade(store: Store, to: str = "head") -> list[str]:
    """Run missing migrations up to `to`, and return those that were run."""
    target = head() if to == "head" else to
    before = current(store)
    _must_be_known(store, before)
    if before == target:
        return []
    with _alone(store) as connection:
        command.upgrade(_config(connection), target)
    in_order = [EMPTY, *steps()]
    return in_order[in_order.index(before) + 1 : in_order.index(target) + 1]


def downgrade(store: Store, to: str) -> None:
    """Undo migrations down to `to` or EMPTY. What later ones added is lost."""
    with _alone(store) as connection:
        command.downgrade(_config(connection), to)


def remove_all(store: Store) -> None:
    """Undo all migrations, and leave no table at all."""
    downgrade(store, EMPTY)
    store.write(lambda tx: tx.exec_driver_sql("DROP TABLE IF EXISTS alembic_version"))


def must_be_current(store: Store) -> None:
    """Refuse a database that is not at the newest migration. Raises BadInput."""
    at, newest = current(store), head()
    _must_be_known(store, at)
    if at == EMPTY:
        raise BadInput("The database is empty.", remedy="Set it up with `pbem init`.")
    if at != newest:
        raise BadInput(
            "The database is older than this release.",
            why=f"It is at step {at}, and this release needs step {newest}.",
            remedy="Make a backup with the release that last used it, then run `pbem migrate` of this one.",
        )


def write(message: str) -> Path:
    """Write the next migration: the difference between the migrations so far and the schema."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/steps.sqlite3")
        try:
            if earlier := steps():
                upgrade(store, earlier[-1])
            with _alone(store) as connection:
                number = f"{len(earlier) + 1:04}"
                command.revision(_config(connection), message, autogenerate=True, rev_id=number)
        finally:
            store.close()
    path = next((paths.migrations() / "versions").glob(f"{number}_*.py"))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "# ###" not in line), encoding="utf-8")
    return path


def is_newer(store: Store) -> bool:
    """Whether a database is at a migration that this release does not know."""
    return current(store) not in (EMPTY, *steps())


def _must_be_known(store: Store, revision: str) -> None:
    # Another process may have made them just now, and with them the note of its step.
    if revision == EMPTY and _has_tables(store) and current(store) == EMPTY:
        raise BadInput(
            "The database has tables, but doesn't say which step it's at.",
            remedy="Stop the server, move the database away (on PostgreSQL name an empty one in PBEM_DATABASE_URL), and"
            " restore a backup with `pbem restore`.",
        )
    if revision != EMPTY and revision not in steps():
        raise BadInput(
            "The database is newer than this release.",
            why=f"It is at step {revision}, and this release knows steps up to {head()}.",
            remedy="Install the release that last used the database, or a newer one.",
        )


@contextmanager
def _alone(store: Store) -> Iterator[Connection]:
    """A connection for running migrations, while no other process runs any."""
    if store.on_sqlite:
        with store.rebuilding() as connection:
            yield connection
    else:
        with store.engine.connect() as waiting:
            waiting = waiting.execution_options(isolation_level="AUTOCOMMIT")
            # Another process's migration may take long, and so may ours.
            waiting.exec_driver_sql("SET lock_timeout = 0")
            waiting.exec_driver_sql("SET statement_timeout = 0")
            waiting.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
            try:
                with store.engine.connect() as connection:
                    # Between two statements a step may work for long, too.
                    for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
                        connection.exec_driver_sql(f"SET {limit} = 0")
                    connection.commit()
                    yield connection
                    connection.commit()
                    connection.invalidate()
            finally:
                waiting.exec_driver_sql(f"SELECT pg_advisory_unlock({_LOCK})")
                # A connection with these settings must not go back to the pool.
                waiting.invalidate()


def _has_tables(store: Store) -> bool:
    with store.read() as tx:
        return not METADATA.tables.keys().isdisjoint(inspect(tx).get_table_names())


def _script() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    # A percent sign in the path would be read as the beginning of a variable.
    config.set_main_option("script_location", str(paths.migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config
