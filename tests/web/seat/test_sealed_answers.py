"""A turn that several answer: nobody's page shows who has answered before it closes."""

import re

import pytest

from tests.service.archive.test_replay import moves


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a page is the same on any database."""
    return sqlite_alone


def board(page):
    """The table of a page, with everyone at it and what is folded beside it."""
    start = page.source.index('class="board"')
    return page.source[start : page.source.index('class="beside"', start)]


@pytest.mark.parametrize("kind", ["bid", "sunset-poker"])
def test_a_sealed_answer_changes_nobody_else_s_table(browser, links, table, kind):
    game = table(kind, 4)
    for _ in moves(game, 12):
        if len(game.asked()) == 4 and game.row().turn > 1:
            break
    before = board(browser.open(f"/s/{links.of(game, 3)[1]}"))
    turn = game.row().turn
    assert before.count("Deciding") == 4
    for seat in (0, 1):
        game.play(seat, game.asked()[seat].default)
        assert board(browser.open(f"/s/{links.of(game, 3)[1]}")).count("Deciding") == 4
    assert game.row().turn == turn
    after = board(browser.open(f"/s/{links.of(game, 3)[1]}"))
    assert re.sub(r"/s/[^\"/]+|/m/[^\"]+", "", after) == re.sub(r"/s/[^\"/]+|/m/[^\"]+", "", before)
    own = board(browser.open(f"/s/{links.of(game, 0)[1]}"))
    assert (own.count("Deciding"), own.count("Ready")) == (3, 1)
