"""More time from another player, by the form on the page of a seat."""

import pytest


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a page is the same on any database."""
    return sqlite_alone


def test_a_player_gives_a_day_on_the_page_and_the_other_reads_who_gave_it(browser, links, table):
    game = table("bid", 3)
    names, tokens = [game.players()[seat].name for seat in range(3)], [links.of(game, seat)[1] for seat in range(3)]
    game.play(2, game.asked()[2].default)
    page = browser.open(f"/s/{tokens[0]}")
    # A player who has answered is among them.
    assert [form.button for form in page.forms() if form.action.endswith("/more-time")] == [names[1]]
    for seat in (1, 2):
        form = page.form(names[1])
        given = form.press(seat=seat)
        assert "They have one more day for this turn." in given.text
        assert "already given" in form.press(seat=seat).text
        assert f"More time for this turn from {names[0]}." in browser.open(f"/s/{tokens[seat]}").text
    decided = browser.open(f"/s/{tokens[2]}/decided").text
    assert all(f"{names[seat]} · 1 day · from {names[0]}" in decided for seat in (1, 2))
    assert "More time for this turn" not in browser.open(f"/s/{tokens[0]}").text
    assert "can't give yourself" in form.press(seat=0).text
    assert "That turn is over" in form.press(seat=1, turn=7).text


def test_no_time_is_offered_where_nobody_else_has_to_move(browser, links, table):
    game = table("sun-bid", 2)
    (seat,) = game.asked()
    assert "Give more time" not in browser.open(f"/s/{links.of(game, seat)[1]}").text
    assert "Give more time" in browser.open(f"/s/{links.of(game, 1 - seat)[1]}").text
