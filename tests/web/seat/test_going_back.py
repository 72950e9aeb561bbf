"""Going back by consent on the page of a seat: proposed under “More options”, and agreed by one press each."""

import pytest


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a page is the same on any database."""
    return sqlite_alone


def test_a_move_is_taken_back_by_one_press_of_each(browser, links, table, time):
    game = table("templari", 3, going_back=True, private=False)
    (seat,) = game.asked()
    turn, (one, two) = game.row().turn, (each for each in range(3) if each != seat)
    game.play(seat, game.asked()[seat].default)
    time.sends()
    pages = {each: f"/s/{links.of(game, each)[1]}" for each in range(3)}
    name = game.players()[seat].name
    assert "You have no move to take back." in browser.open(pages[one]).form("Propose going back").press().text
    proposed = browser.open(pages[seat]).form("Propose going back").press()
    assert "We've asked the others whether to go back." in proposed.text
    assert f"The game goes back to turn {turn} once everyone agrees" in proposed.text
    assert "Propose going back" not in proposed.text
    # Read, and read again, it changes nothing.
    page = browser.open(pages[one])
    assert f"{name} would like to go back to turn {turn}" in page.text
    assert "once everyone agrees, if nobody moves first" in page.form("Agree").press().text
    last = browser.open(pages[two]).form("Agree")
    assert "Everyone agreed, so the game has gone back." in last.press().text
    assert "Everyone agreed, so the game has gone back." in last.press().text
    assert set(game.asked()) == {seat}
    assert f"the game was rewound · to turn {turn}" in browser.open(f"{pages[one]}/decided").text
    # What ended meanwhile is refused in words; “Play on” ends it.
    game.play(seat, game.asked()[seat].default)
    browser.open(pages[seat]).form("Propose going back").press()
    late = browser.open(pages[two]).form("Agree")
    browser.open(pages[one]).form("Play on").press()
    assert "Nobody is proposing to go back now." in late.press().text
    assert "would like to go back" not in browser.open(pages[two]).text


def test_a_table_says_before_anyone_joins_whether_moves_can_be_taken_back(browser, links, table):
    game, other = table("templari", 3, going_back=True, private=False), table("templari", 3, private=False)
    words = "a player's last move can be taken back if everyone agrees"
    assert words in browser.open(f"/t/{game.row().key}").text
    assert words not in browser.open(f"/t/{other.row().key}").text
    assert "going back" not in browser.open(f"/s/{links.of(other, 0)[1]}").text
