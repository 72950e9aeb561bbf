"""A database file that another program has locked: pages are shown, writers are told to try again, and none waits for all others."""

import threading
from contextlib import contextmanager

import pytest

from pbem.store import database
from pbem.store.database import sqlite_module
from tests.service.database import count_calls
from tests.waiting import PATIENCE, until
from tests.web.browser import Browser

WRITERS = 6


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: PostgreSQL has no file."""
    return sqlite_alone


@contextmanager
def locked(store):
    """Lock the file, as another program does."""
    program = sqlite_module().connect(store.url.database, isolation_level=None)
    program.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        program.close()


@pytest.fixture
def hurried(store, monkeypatch):
    """Let writers wait for the file only for a moment, and try once."""
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 1)
    monkeypatch.setattr(database, "_PATIENCE", 0.0)
    store.engine.dispose()


def test_a_move_is_refused_while_the_file_is_locked_and_counts_afterwards(browser, server, table, links, hurried):
    game = table("bid", 3)
    seat = next(iter(game.asked()))
    _, token = links.of(game, seat)
    fields = [("turn", str(game.row().turn)), ("choice", "bid 1"), ("press", "yes")]
    seq = game.row().seq
    with locked(server.store), count_calls(server.store) as calls:
        page = browser.post(f"/s/{token}/play", fields)
        assert page.status == 503
        assert "We can't reach our database right now. Everything we confirmed to you is safe." in page.text
        assert browser.open(f"/s/{token}").status == 200
    assert calls.count("BEGIN IMMEDIATE") == 1, "once its time is over, it isn't tried again"
    assert game.row().seq == seq
    assert browser.post(f"/s/{token}/play", fields, follow=False).status == 303
    assert game.row().seq == seq + 1


def test_a_writer_waits_for_the_others_only_for_its_own_time(app, server, table, links, monkeypatch):
    game = table("bid", 3)
    seat = next(iter(game.asked()))
    _, token = links.of(game, seat)
    fields = [("turn", str(game.row().turn)), ("choice", "bid 1"), ("press", "yes")]
    begun, may_end, answered = threading.Event(), threading.Event(), []

    def writes_long(_tx):
        begun.set()
        assert may_end.wait(PATIENCE)

    writer = threading.Thread(target=server.store.write, args=(writes_long,))
    monkeypatch.setattr(database, "_PATIENCE", 0.05)
    posts = [
        threading.Thread(target=lambda: answered.append(Browser(app).post(f"/s/{token}/play", fields).status))
        for _ in range(WRITERS)
    ]
    writer.start()
    try:
        assert begun.wait(PATIENCE)
        for each in posts:
            each.start()
        until(lambda: len(answered) == WRITERS, "all are told to try again")
    finally:
        may_end.set()
        for each in (writer, *posts):
            each.join()
    assert answered == [503] * WRITERS
