"""The site in a test: the server of `tests/service`, an application on it, and a browser."""

from datetime import timedelta

import pytest
from waitress.server import create_server

from pbem import config
from pbem.service.absence.bots import play_bots
from pbem.service.outgoing.deliver import deliver
from pbem.service.outgoing.post import post_of
from pbem.service.people.sign_in import send_requested
from pbem.store.database import sqlite_module
from pbem.tokens import Purpose
from tests.in_thread import served
from tests.service.conftest import (  # noqa: F401 - fixtures come in by their names
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    offered,
    person,
    pytest_itemcollected,
    server,
    sink,
    sqlite_alone,
    store,
    table,
    time,
)
from tests.web.applications import application
from tests.web.browser import Browser, Links
from tests.web.desk_pages import at_the_desk


@pytest.fixture
def settings(tmp_path):
    """The settings of a server that runs on this machine alone."""
    return config.read({"PBEM_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def app(server, settings):  # noqa: F811 - the fixture, as above
    """The application."""
    return application(server, settings)


@pytest.fixture
def site(app):
    """The application on a port of this machine."""
    web_server = create_server(app, host="127.0.0.1", port=0, threads=4)
    with served(web_server):
        yield f"http://localhost:{web_server.effective_port}"


@pytest.fixture
def browser(app):
    """A browser."""
    return Browser(app)


@pytest.fixture
def olga(browser, server):  # noqa: F811 - the fixture, as above
    """An organiser's browser."""
    return at_the_desk(browser, server)


@pytest.fixture
def links(server):  # noqa: F811 - the fixture, as above
    """The links that emails would have."""
    return Links(server)


@pytest.fixture
def sign_in(browser, links):
    """sign_in(person) -> the page “My games”, by the link in an email."""

    def press(person_id):
        return browser.open(f"/l/{links.made(Purpose.SIGN_IN, person_id)}").form("Sign in").press()

    return press


@pytest.fixture
def carry(server, clock, settings):  # noqa: F811 - the fixture, as above
    """Let a little time pass: bots play, links are sent to those who ask, and due emails arrive in the local mailbox."""
    post = post_of(settings)

    def pass_by():
        for _ in range(100):
            clock.advance(timedelta(minutes=2))
            moved = play_bots(server) + send_requested(server) + deliver(server, post).dealt_with
            if not moved:
                return
        raise AssertionError("the worker never comes to rest")

    return pass_by


@pytest.fixture
def backup(server):  # noqa: F811 - a fixture
    """backup() -> restore(): back to everything as it is when it is called. On SQLite only."""
    file = server.store.engine.url.database

    def copy(source, target):
        server.store.engine.dispose()
        here, there = (sqlite_module().connect(each) for each in (source, target))
        here.backup(there)
        here.close()
        there.close()

    def make():
        copy(file, f"{file}.backup")
        return lambda: copy(f"{file}.backup", file)

    return make
