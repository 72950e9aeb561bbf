"""The page of a game's statistics: in words, numbers and bars, from finished public games alone."""

import re

import pytest

from pbem.service.archive import game_statistics
from tests.service.database import count_calls

MOST_QUERIES = 5


@pytest.fixture
def counted(server, table):
    """Three finished public games and a private one, counted."""
    for seats, more in ((3, {}), (3, {}), (4, {}), (3, {"private": True, "bots": ("greedy",) * 2})):
        list(table("bid", seats, options={"max_auctions": 1}, **more).play_defaults())
    while game_statistics.count_games(server):
        pass


def test_the_page_says_how_the_finished_public_games_went(browser, server, counted):
    page = browser.open("/games/bid").follow("Statistics")
    with count_calls(server.store) as made:
        page = browser.open(page.url)
    assert len(made) <= MOST_QUERIES
    assert "3 finished games. Only public tables count." in page.text
    assert "Half of the games had 3 players or fewer." in page.text
    assert "Half of the games took less than a day." in page.text
    assert "All tables chose: 1." in page.text
    assert "No seat wins more or less than chance explains." in page.text
    rows = re.findall(r'<th scope="row"><bdi>(\w+)</bdi></th><td>([^<]*)</td><td>([^<]*)</td>', page.source)
    assert ("3", "2", "67%") in rows
    assert page.source.count("<svg viewBox") >= len(rows)
    assert browser.open("/games/bid/statistics").follow("Finished tables").url == "/tables?show=over&game=bid"


def test_a_game_that_nobody_has_finished_says_so_and_one_that_there_is_not_is_refused(browser):
    assert "No finished game yet." in browser.open("/games/templari/statistics").text
    assert browser.open("/games/chess/statistics").status == 404
