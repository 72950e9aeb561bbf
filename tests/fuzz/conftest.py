"""The site and its server on SQLite, for the doors that need them."""

import pytest

from tests.service.conftest import clock, empty_postgresql, empty_sqlite, offered, person, server, store, table, time  # noqa: F401 - fixtures come in by their names
from tests.web.conftest import app, browser, carry, links, olga, settings, sign_in, sqlite_alone  # noqa: F401 - fixtures come in by their names


@pytest.fixture
def database_url(sqlite_alone):  # noqa: F811 - the fixture, as above
    """SQLite alone: nothing here is about a database."""
    return sqlite_alone
