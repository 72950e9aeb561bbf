"""The site in a test: the house of `tests/service`, an application on it, and a browser that reads what it is shown."""

import pytest

from pbem import config
from pbem.app import create_app
from tests.service.conftest import (  # noqa: F401 - fixtures come in by their names
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    house,
    person,
    store,
    table,
)
from tests.web.browser import Browser, Links


@pytest.fixture
def settings(tmp_path):
    """What a server is set up with that runs on this machine alone."""
    return config.read({"PBEM_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def app(house, settings):  # noqa: F811
    """The application."""
    return create_app(house, settings)


@pytest.fixture
def browser(app):
    """Somebody's browser."""
    return Browser(app)


@pytest.fixture
def links(house):  # noqa: F811
    """The links that mails would bring."""
    return Links(house)
