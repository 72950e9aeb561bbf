"""The end of a game: the page, the email and the list of games tell the same result, and nothing where there is none."""

import re

import pytest
from lxml import html

from engine import registry
from engine.result import ordinal
from pbem.service.play.endings import ending_of
from pbem.service.tables import leaving
from pbem.store import games as game_rows
from tests.service.archive.test_replay import moves
from tests.service.database import count_calls


def result_of(game):
    with game.server.store.read() as tx:
        return ending_of(tx, game_rows.read(tx, game.id)).result


@pytest.fixture
def finished(table):
    """A finished game of a kind."""

    def play(kind="bid", options=None):
        game = table(kind, 3, options=options or dict(registry.load(kind).short) or {})
        list(moves(game, 1000))
        assert game.row().status == "over"
        return game

    return play


def page_of(browser, links, game, seat):
    return browser.open(f"/s/{links.of(game, seat)[1]}")


def order_of(page):
    """What comes one after the other on the page of a finished game."""
    tree = html.fromstring(page.source)
    found = tree.xpath(
        "//ol[@class='podium'] | //button[@class='main'] | //ul[@class='told'] | //figure | //section[@class='board']"
    )
    return [each.get("class") or each.tag for each in found]


@pytest.mark.parametrize("kind", registry.names())
def test_a_finished_game_shows_the_podium_then_a_rematch_then_its_story_and_course(browser, links, finished, kind):
    game = finished(kind, {"max_rounds": 3} if kind == "sunset-poker" else None)
    page, result = page_of(browser, links, game, 0), result_of(game)
    sentences = ["told"] if result.story(0) else []
    assert order_of(page) == ["podium", "main", *sentences, "chart", "board"]
    assert len(re.findall(r"Rematch", page.text)) == 1
    steps = [
        (int(li.get("value")), len(li.xpath(".//bdi")))
        for li in html.fromstring(page.source).xpath("//ol[@class='podium']/li")
    ]
    assert steps == [(place.number, len(place.seats)) for place in result.places]
    for place in result.places:
        assert f"{place.score} point" in page.text
    # The scores are also a table, and its turns lead to the replay.
    row = html.fromstring(page.source).xpath("//figure//tbody/tr[last()]")[0]
    assert [td.text_content() for td in row.xpath("td")] == [str(score) for score in result.course[-1][1]]
    assert browser.open(row.xpath("th/a/@href")[0]).status == 200


def test_each_reader_hears_of_their_own_place_first(browser, links, finished):
    game = finished()
    result = result_of(game)
    winner, last = result.places[0].seats[0], result.places[-1].seats[-1]
    assert re.search(r"You won|share the win", page_of(browser, links, game, winner).text)
    assert re.search(r"You came (second|third)|You tied", page_of(browser, links, game, last).text)


@pytest.mark.parametrize("kind", ["bid", "sunset-poker"])
def test_the_email_tells_the_same_as_the_page(browser, links, finished, carry, kind):
    game = finished(kind, {"max_rounds": 3} if kind == "sunset-poker" else None)
    carry()
    result = result_of(game)
    for seat, player in game.players().items():
        page = page_of(browser, links, game, seat)
        sentences = [li.text_content() for li in html.fromstring(page.source).xpath("//ul[@class='told']/li")]
        inbox = browser.open(f"/mailbox?to={player.name.lower()}@example.org")
        subject, address = next(
            (words, link) for words, link in inbox.links().items() if re.search(r": you (won|came|tied)", words)
        )
        email = " ".join(browser.open(address).text.split())
        for sentence in sentences:
            assert sentence in email
        place = result.place_of(seat)
        verb = "tied" if len(place.seats) > 1 else "won" if place.number == 1 else "came"
        assert f": you {verb}" in subject


def test_a_game_without_a_result_has_no_podium_and_says_why(browser, links, table):
    game = table("templari", 3)
    list(moves(game, 10))
    for seat in range(3):
        game.server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    page = page_of(browser, links, game, 0)
    assert "The game ended without a result" in page.text
    assert "Everyone agreed to end it." in page.text
    tree = html.fromstring(page.source)
    assert not tree.xpath("//ol[@class='podium'] | //figure")
    assert "Rematch" in page.text


def test_a_seat_that_a_bot_took_over_is_named(browser, links, table):
    game = table("bid", 3, options={"max_auctions": 2})
    game.server.run(leaving.resign, game.id, 2, game.person_at(2))
    list(moves(game, 1000))
    page = page_of(browser, links, game, 0)
    assert re.search(r"Bot 1 took over on turn \d+, after a player left\.", page.text)


def test_the_public_replay_of_a_finished_table_names_the_winner_and_shows_the_podium(browser, table):
    game = table("bid", 3, options={"max_auctions": 3}, private=False)
    list(moves(game, 1000))
    page = browser.open(f"/t/{game.row().key}/replay")
    assert re.search(r"won by \d+ points?|share the win|won on a tie-break", page.text)
    assert html.fromstring(page.source).xpath("//ol[@class='podium']")


def test_my_games_show_the_place_and_score_of_finished_games(browser, sign_in, finished):
    game = finished()
    result = result_of(game)
    sign_in(game.person_at(1))
    place = result.place_of(1)
    shown = browser.open("/my").text
    assert f"{'tied for' if len(place.seats) > 1 else 'came'} {ordinal(place.number)} of 3" in shown
    assert f"{place.score} point" in shown


def test_an_ended_table_that_was_shown_is_shown_again_without_reading_its_log(browser, links, finished):
    game = finished()
    token = links.of(game, 0)[1]
    browser.open(f"/s/{token}")
    with count_calls(game.server.store) as made:
        browser.open(f"/s/{token}")
    assert not [statement for statement in made if "log.body" in statement]
