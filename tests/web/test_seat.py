"""The page of a seat: whole games by reading its HTML, and what becomes of forms that come late, twice or from two tabs."""

import random

import pytest

from engine import game as games

KINDS = games.names()


def play_through(browser, links, game, luck, most=4000):
    """Play a game to its end on the pages of its seats: reading, filling in, pressing."""
    pages = 0
    while asked := game.asked():
        seat = luck.choice(sorted(asked))
        page = browser.open(f"/s/{links.of(game, seat)[1]}")
        assert page.status == 200
        preview = luck.choice(page.acts()).press_anyhow(luck)
        while preview.status == 400:
            preview = luck.choice(preview.acts()).press_anyhow(luck)
        assert preview.status == 200
        yes = next(form for form in preview.forms() if form.button.startswith("Yes"))
        receipt = yes.press()
        assert receipt.status == 200
        assert "Your choice" in receipt.heading
        pages += 1
        assert pages < most
    return pages


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_game_is_played_on_the_pages_of_its_seats(kind, browser, links, table):
    game = table(kind, games.load(kind).seats[0])
    play_through(browser, links, game, random.Random(kind))
    assert game.row().status == "over"
    assert game.verifies()
