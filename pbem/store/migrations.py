"""The database's steps, run one after the other up to the newest: the only place that knows Alembic.

On SQLite all steps are one transaction, so an upgrade happens whole or not at all; whoever comes second waits for it. On
PostgreSQL each step is a transaction, and an advisory lock keeps two processes from running them at once.

This module must never run a step that nobody asked for: commands decide when.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pbem import paths
from pbem.domain.errors import BadInput, Fault
from pbem.store.database import Store
from pbem.store.schema import Base

EMPTY: Final = "base"
"""The name of what is before the first step."""

# It tells of every look at a database; what was run is for the caller to say.
logging.getLogger("alembic").setLevel(logging.WARNING)

_LOCK: Final = 0x7062656D
"""Any number will do for the advisory lock, as long as nobody else on the server uses it: these are the letters of pbem."""


def head() -> str:
    """The newest step there is."""
    newest = _script().get_current_head()
    if newest is None:
        raise Fault(f"There are no steps of the database in {paths.migrations()}.")
    return newest


def steps() -> list[str]:
    """All steps, in the order in which they run."""
    return [script.revision for script in reversed(list(_script().walk_revisions()))]


def current(store: Store) -> str:
    """The step that the database is at."""
    with store.read() as tx:
        return MigrationContext.configure(tx).get_current_revision() or EMPTY


def upgrade(store: Store, to: str = "head") -> list[str]:
    """Run the steps that are missing, up to one of them; those that were run. Nothing happens where none is missing."""
    wanted = head() if to == "head" else to
    before = current(store)
    _must_be_known(before)
    if before == wanted:
        return []
    with _alone(store) as connection:
        command.upgrade(_config(connection), wanted)
    known = steps()
    done_before = known.index(before) + 1 if before != EMPTY else 0
    return known[done_before : known.index(wanted) + 1]


def downgrade(store: Store, to: str) -> None:
    """Take steps back, down to one of them or to EMPTY. What later steps added is lost."""
    with _alone(store) as connection:
        command.downgrade(_config(connection), to)


def must_be_current(store: Store) -> None:
    """Refuse to work with a database that is not at the newest step."""
    at, newest = current(store), head()
    _must_be_known(at)
    if at == EMPTY:
        raise BadInput("The database is empty.", remedy="Set it up with `pbem init`.")
    if at != newest:
        raise BadInput(
            "The database is older than this release.",
            why=f"It is at step {at}, and this release needs step {newest}.",
            remedy="Make a backup with `pbem backup`, then run `pbem migrate`.",
        )


def differences(store: Store) -> list[Any]:
    """What Alembic finds different between the database and the schema: nothing, at the newest step."""
    with store.read() as tx:
        return list(compare_metadata(MigrationContext.configure(tx), Base.metadata))


def write(message: str) -> Path:
    """Write the next step: the difference between the steps so far and the schema."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/steps.sqlite3")
        try:
            if known := steps():
                upgrade(store, known[-1])
            with _alone(store) as connection:
                number = f"{len(known) + 1:04}"
                command.revision(_config(connection), message, autogenerate=True, rev_id=number)
        finally:
            store.close()
    written = next((paths.migrations() / "versions").glob(f"{number}_*.py"))
    lines = written.read_text(encoding="utf-8").splitlines(keepends=True)
    written.write_text("".join(line for line in lines if "# ###" not in line), encoding="utf-8")
    return written


def _must_be_known(revision: str) -> None:
    if revision != EMPTY and revision not in steps():
        raise BadInput(
            "The database is newer than this release.",
            why=f"It is at step {revision}, and this release knows steps up to {head()}.",
            remedy="Install the release that the database was used with last, or a newer one.",
        )


@contextmanager
def _alone(store: Store) -> Iterator[Connection]:
    """A connection on which steps can be run, while nobody else runs any."""
    if store.on_sqlite:
        with store.rebuilding() as connection:
            yield connection
    else:
        with store.engine.connect() as waiting:
            waiting = waiting.execution_options(isolation_level="AUTOCOMMIT")
            # The one before us may take long; a step itself may, too.
            waiting.exec_driver_sql("SET lock_timeout = 0")
            waiting.exec_driver_sql("SET statement_timeout = 0")
            waiting.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
            try:
                with store.engine.connect() as connection:
                    connection.exec_driver_sql("SET statement_timeout = 0")
                    connection.commit()
                    yield connection
                    connection.commit()
                    connection.invalidate()
            finally:
                waiting.exec_driver_sql(f"SELECT pg_advisory_unlock({_LOCK})")
                # Its settings must not go back into the pool.
                waiting.invalidate()


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
