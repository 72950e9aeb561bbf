"""The site and its server on SQLite, for the doors that need them."""

import pytest

from tests.service.conftest import (  # noqa: F401 - fixtures come in by their names
    clock,
    empty_postgresql,
    empty_sqlite,
    offered,
    person,
    server,
    sqlite_alone,
    store,
    table,
    time,
)
from tests.web.conftest import app, browser, carry, links, olga, settings, sign_in  # noqa: F401 - fixtures come in by their names


@pytest.fixture
def database_url(sqlite_alone):  # noqa: F811 - the fixture, as above
    """SQLite alone: nothing here is about a database."""
    return sqlite_alone
