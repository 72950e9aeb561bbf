"""The page of all public tables, by state and game."""

import pytest

from pbem.service.tables import hall, joining
from pbem.service.tables.new import TableSettings
from tests.service.database import count_calls

MOST_QUERIES = 14


@pytest.fixture
def over(table):
    game = table("bid", 3, title="A short one", options={"max_auctions": 1})
    list(game.play_defaults())
    return game


def test_tables_are_listed_by_state_and_game(browser, table, over, person, server):
    running = table("templari", 3, title="Thursday")
    server.run(joining.create_table, person("Ben"), TableSettings("bid", 3, title="Anyone?"))
    titles = {
        state: [title for title in ("A short one", "Thursday", "Anyone?") if title in text(browser, state)]
        for state in ("open", "playing", "over")
    }
    assert titles == {"open": ["Anyone?"], "playing": ["Thursday"], "over": ["A short one"]}
    assert browser.open("/tables").text == text(browser, "playing")
    assert "Thursday" in browser.open("/tables").follow("Templari").text
    assert "Thursday" not in browser.open("/tables").follow("Bid!").text
    watched = browser.open("/tables").follow(f"Watch {running.row().title}")
    assert "The game so far" in watched.text
    assert browser.open("/").follow("All tables").url == "/tables"


def test_a_finished_table_names_its_winners_and_leads_to_its_replay(browser, over):
    page = browser.open("/tables?show=over")
    names = [over.players()[seat].name for seat in over.ranking()[0].seats]
    sentence = f"{names[0]} won." if len(names) == 1 else f"{', '.join(names)} share the win."
    assert f"{sentence} Ended on Sat 21 Nov 2026." in page.text.translate({0x2068: None, 0x2069: None})
    assert "podium" in page.follow("Replay A short one").source


def test_a_private_table_is_in_no_list_and_leads_to_none(browser, table):
    for options in ({}, {"max_auctions": 1}):
        hidden = table("bid", 3, title="Among friends", private=True, bots=("greedy", "greedy"), options=options)
        if options:
            list(hidden.play_defaults())
        for state in ("open", "playing", "over"):
            assert "Among friends" not in text(browser, state)
        # Its key says nothing of when it began.
        assert browser.open(f"/tables?after={hidden.row().key}").text == browser.open("/tables").text


def test_older_tables_follow_page_by_page_in_few_statements(browser, server, table, monkeypatch):
    monkeypatch.setattr(hall, "ON_A_PAGE", 2)
    for number in range(5):
        table("templari", 3, title=f"Table {number}")
    pages = [browser.open("/tables?show=playing&game=templari")]
    while "Older tables" in pages[-1].text:
        with count_calls(server.store) as made:
            pages.append(pages[-1].follow("Older tables"))
        assert len(made) <= MOST_QUERIES, made
    shown = [[number for number in range(5) if f"Table {number}" in page.text] for page in pages]
    assert shown == [[3, 4], [1, 2], [0]]


@pytest.mark.parametrize("address", ["/tables?show=planned", "/tables?show=void", "/tables?game=chess"])
def test_a_list_that_there_is_not_is_refused_in_words(browser, address):
    page = browser.open(address)
    assert page.status == 404
    assert "There's no" in page.text or "no game" in page.text


def text(browser, state):
    return browser.open(f"/tables?show={state}").text
