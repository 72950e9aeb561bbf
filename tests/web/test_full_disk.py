"""A full disk: nothing confirmed is lost, nothing is half done, and visitors are told."""

from contextlib import contextmanager
from itertools import cycle

import pytest
from sqlalchemy import event

from tests.web.test_reading_changes_nothing import everything


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: the size of its file can be limited."""
    return sqlite_alone


@contextmanager
def full(store):
    """Keep the file of the database from growing, so that SQLite fails as on a full disk."""

    def limited(connection, *_):
        connection.execute("PRAGMA max_page_count=1")

    event.listen(store.engine, "checkout", limited)
    try:
        yield
    finally:
        event.remove(store.engine, "checkout", limited)
        store.engine.dispose()


def test_a_move_without_disk_space_is_not_half_made_and_counts_once_there_is_space(browser, server, table, links):
    game = table("bid", 3)
    seat = next(iter(game.asked()))
    _, token = links.of(game, seat)
    turn = str(game.row().turn)
    with full(server.store):
        # While the pages of the file have room, changing a choice needs no more.
        for bid in cycle(["bid 1", "bid 2"]):
            before, seq, fields = (
                everything(server),
                game.row().seq,
                [("turn", turn), ("choice", bid), ("press", "yes")],
            )
            page = browser.post(f"/s/{token}/play", fields)
            if page.status != 200:
                break
        assert page.status == 503

        assert "We can't reach our database right now. Everything we confirmed to you is safe." in page.text
        assert browser.open(f"/s/{token}").status == 200
        assert everything(server) == before
    assert browser.post(f"/s/{token}/play", fields, follow=False).status == 303
    assert game.row().seq == seq + 1
