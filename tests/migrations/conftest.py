"""Databases without any table, of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pbem.store.database import Store
from tests.service.conftest import postgresql_database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database in which there is nothing: of each kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/empty.sqlite3"
    else:
        with postgresql_database() as url:
            yield url


@pytest.fixture
def empty(empty_url: str) -> Iterator[Store]:
    """A store on a database in which there is nothing."""
    opened = Store(empty_url)
    yield opened
    opened.close()
