"""Ratings on pages: one's own on “My games”, others' at a rated table if they show theirs, and what a table agreed."""

import re

import pytest
from sqlalchemy import delete

from pbem.service.archive import ratings
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import people
from pbem.store.schema import RATING
from tests.service.database import count_calls

MOST_QUERIES = 25


@pytest.fixture
def rated(table):
    """Two short rated games that are over."""
    for _ in range(2):
        game = table("bid", 3, options={"max_auctions": 1}, rated=True)
        list(game.play_defaults())
    while ratings.add_endings(game.server):
        pass
    return game


def test_my_games_show_ones_own_ratings_their_course_and_why_they_changed(browser, sign_in, rated, server):
    ann = rated.person_at(0)
    sign_in(ann)
    with count_calls(server.store) as made:
        page = browser.open("/my")
    assert len(made) <= MOST_QUERIES
    section = page.text[page.text.index("Ratings") :]
    assert "All games" in section
    assert "? ± " in section
    assert "2 games" in section
    assert "Nobody else can see your ratings." in section
    assert "Latest changes" in section
    assert 'id="rating-chart-title"' in page.source
    assert page.source.count("<polyline") == 2
    other = browser.open("/my/settings")
    other.form("Save settings").press(show_ratings="yes")
    assert "Others can see your ratings." in browser.open("/my").text


def test_a_person_without_rated_games_reads_nothing_of_ratings(browser, sign_in, person):
    sign_in(person("Ann"))
    assert "Ratings" not in browser.open("/my").text


def waits(server, host, **more):
    """The address of a table that waits for more players, with its host."""
    created = server.run(joining.create_table, host, TableSettings("bid", 4, title="Same", **more))
    server.run(joining.join, created.game_id, host, name="Pat")
    return f"/t/{created.key}"


def players_on(browser, address):
    text = browser.open(address).text
    return text[text.index("Players") : text.index("Time per turn")]


def test_a_table_says_whether_it_is_rated_and_shows_ratings_only_there(browser, rated, server):
    ann = rated.person_at(0)
    server.store.write(lambda tx: people.change(tx, ann, show_ratings=True))
    address = waits(server, ann, rated=True)
    assert "rated: the result changes everyone's rating" in browser.open(address).text
    assert re.search(r"rated 1\d{3}\? ± \d+", players_on(browser, address))
    assert "1 day per turn · rated · Pat" in browser.open("/").text
    address = waits(server, ann)
    assert "friendly: the result won't affect ratings" in browser.open(address).text
    assert "±" not in players_on(browser, address)


def test_one_who_hides_their_ratings_looks_like_one_who_has_none(browser, rated, server):
    """Twins: the same table before its host had a rating."""
    address = waits(server, rated.person_at(0), rated=True)
    hidden = players_on(browser, address)
    server.store.write(lambda tx: tx.execute(delete(RATING)))
    assert players_on(browser, address) == hidden
