"""An open table shows news by itself in a browser with script, and leaves alone what is being filled in."""

import pytest
from playwright.sync_api import Page, expect

from tests.service.running_game import RunningGame

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.needs("chromium"),
    # Pages are the same on either database, which is tested elsewhere.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

LONG = 20_000
"""Milliseconds to wait for news, which is asked for every few seconds."""


@pytest.fixture
def templari(table):
    """A game whose players decide one after the other."""
    return table("templari", 3)


@pytest.fixture
def look(people, links, templari):
    """look(seat) -> the page of the seat, open in a browser tab."""

    def opened(seat: int) -> Page:
        page: Page = people()
        page.goto(f"/s/{links.of(templari, seat)[1]}")
        return page

    return opened


def bid_least(game: RunningGame) -> int:
    """Let the player who is asked bid the least; returns their seat."""
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, next(choice for choice in decision.choices(40) if choice.verb == "bid"))
    return seat


def test_the_move_of_another_is_shown_and_the_title_says_whose_turn_it_is(templari: RunningGame, look) -> None:
    asked = next(iter(templari.asked()))
    page = look((asked + 1) % 3)
    expect(page).to_have_title("Templari")
    assert bid_least(templari) == asked
    expect(page).to_have_title("Your turn: Templari", timeout=LONG)
    expect(page.locator("form.bar")).to_be_visible()


def test_a_form_that_is_being_filled_in_stays_and_news_is_offered(templari: RunningGame, look) -> None:
    asked = next(iter(templari.asked()))
    page = look(asked)
    page.get_by_text("Type your move, as in an email").click()
    page.get_by_label("Your move").fill("bid 1")
    bid_least(templari)
    expect(page.locator(".news")).to_be_visible(timeout=LONG)
    assert page.get_by_label("Your move").input_value() == "bid 1"


def test_news_comes_to_the_page_of_a_refused_form_too(templari: RunningGame, look) -> None:
    asked = next(iter(templari.asked()))
    page = look(asked)
    page.get_by_text("Type your move, as in an email").click()
    page.get_by_label("Your move").fill("bid 999")
    with page.expect_navigation():
        page.get_by_role("button", name="Make this move").click()
    assert page.url.endswith("/play")
    bid_least(templari)
    expect(page.get_by_role("heading", name="It isn't your turn")).to_be_visible(timeout=LONG)
