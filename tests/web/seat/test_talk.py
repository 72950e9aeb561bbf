"""The talk page of a table: reading, sending, refusing, removing and muting."""

import pytest

from pbem.service.desk.acts.seats import Substitute
from pbem.service.tables import talk
from pbem.store import calls, talk as talk_rows
from tests.service.actors import moderate
from tests.service.clock import HOUR
from tests.service.database import all_rows
from tests.service.play.test_move_cost import cost_of

MOST_QUERIES = 12


@pytest.fixture
def game(table):
    """Three people at a table."""
    return table()


@pytest.fixture
def talk_page(browser, links, game):
    """Open the talk page of a seat."""

    def open_it(seat):
        return browser.open(f"/s/{links.of(game, seat)[1]}/talk")

    return open_it


def say(page, text):
    return page.form("Send").press(text=text)


def test_a_message_is_read_by_the_others(talk_page, game):
    name = game.players()[0].name
    page = say(talk_page(0), "Good evening <b>all</b>")
    assert "You ·" in page.text
    assert "Good evening <b>all</b>" in page.text
    other = talk_page(1)
    assert f"{name} ·" in other.text
    assert "Good evening <b>all</b>" in other.text


def test_a_refused_message_is_still_in_the_form(talk_page):
    page = say(talk_page(0), "x" * 501)
    assert page.status == 400
    assert "has 501 characters" in page.text
    assert "x" * 501 in page.source
    assert "No messages yet." in page.text


def test_a_removed_message_says_so(talk_page, game):
    say(talk_page(0), "something bad")
    game.server.store.write(lambda tx: talk.redact(tx, game.id, 1))
    assert "Removed by the organiser." in talk_page(1).text
    assert "something bad" not in talk_page(1).text


def test_the_page_of_a_seat_shows_the_number_of_new_messages(browser, links, game, talk_page, clock):
    seat = links.of(game, 1)[1]
    clock.advance(HOUR)
    assert browser.open(f"/s/{seat}").links()["Talk"].endswith("/talk")
    say(talk_page(0), "one"), say(talk_page(2), "two")
    assert browser.open(f"/s/{seat}").links()["Talk (2 new)"].endswith("/talk")


def test_messages_of_a_muted_player_are_hidden_until_they_are_unmuted(talk_page, game):
    names = [game.players()[seat].name for seat in range(3)]
    say(talk_page(1), "Hello")
    page = talk_page(0).form(f"Mute {names[1]}").press(seat=1)
    assert "Hello" not in page.text
    assert "One message from a player you muted is hidden" in page.text
    assert "Hello" in talk_page(2).text
    assert "Hello" in page.form(f"Unmute {names[1]}").press(seat=1).text


def test_the_account_lists_muted_players_and_unmutes_them(browser, talk_page, sign_in, game):
    names = [game.players()[seat].name for seat in range(3)]
    talk_page(0).form(f"Mute {names[1]}").press(seat=1)
    sign_in(game.person_at(0))
    listed = browser.open("/my/account")
    assert names[1] in listed.text
    (again,) = (form for form in listed.forms() if form.action == "/my/blocks")
    page = again.press()
    assert page.status == 200
    assert names[1] not in page.text
    say(talk_page(1), "Hello")
    assert "Hello" in talk_page(0).text


def test_the_page_takes_few_queries_however_many_messages_there_are(browser, links, talk_page, game, server):
    for number in range(15):
        say(talk_page(0), f"line {number}")
    pages, token = [], links.of(game, 1)[1]
    cost = cost_of(server.store, lambda: pages.append(browser.open(f"/s/{token}/talk")))
    assert "line 14" in pages[0].text
    assert len(cost.statements) <= MOST_QUERIES


def test_no_message_is_offered_where_all_others_are_bots(browser, links, table):
    game = table("sunset-poker", 3, bots=("random", "random"))
    (seat,) = (seat for seat, player in game.players().items() if player.person_id)
    page = browser.open(f"/s/{links.of(game, seat)[1]}/talk")
    assert "they don't talk" in page.text
    assert not [form for form in page.forms() if form.button == "Send"]


@pytest.mark.parametrize("button", ["Mute", "Add friend"])
def test_a_button_means_the_player_it_names_and_not_one_who_has_taken_the_seat_since(talk_page, game, person, button):
    server = game.server
    form = talk_page(0).form(f"{button} {game.players()[1].name}")
    moderate(server, Substitute(game.id, 1, "zoe@example.org"))
    assert game.players()[1].person_id == person("Zoe")
    before = all_rows(server.store)
    assert "Open the page again" in form.press().text
    assert all_rows(server.store) == before


def test_earlier_messages_of_a_seat_are_not_attributed_to_its_new_player(talk_page, game):
    server = game.server
    say(talk_page(0), "I am bored.")
    say(talk_page(1), "Please play on.")
    server.clock.advance(HOUR)
    moderate(server, Substitute(game.id, 0, "zoe@example.org"))
    server.clock.advance(HOUR)
    old, new, other = "Ann", game.players()[0].name, game.players()[1].name
    mine = say(talk_page(0), "Good evening.")
    assert f"{old} ·" in mine.text
    assert mine.text.count("You ·") == 1
    other_page = talk_page(2).text
    assert other_page.index(f"{old} ·") < other_page.index("I am bored.") < other_page.index("Good evening.")
    assert other_page.count(f"{new} ·") == other_page.count(f"{other} ·") == 1
    names = [game.players()[seat].name for seat in range(3)]
    with server.store.read() as tx:
        lines = talk_rows.heard(tx, game.id, game.row().key, 0, 0, 99)
    assert [(line.who(names[line.seat]), line.text) for line in lines] == [
        (old, "I am bored."),
        (other, "Please play on."),
    ]


def test_a_message_is_reported_to_the_organiser(talk_page, game, olga):
    say(talk_page(0), "Something rude")
    assert not [form for form in talk_page(0).forms() if form.button.startswith("Report")]
    names = [game.players()[seat].name for seat in range(3)]
    assert talk_page(1).form("Report message 1").press().url == "/called"
    (call,) = game.server.store.write(lambda tx: calls.with_status(tx, "open", 10))
    assert call.text == f"Please look at message 1 of the table talk, by {names[0]}: “Something rude”"
    assert (call.game_id, call.seat, call.person_id) == (game.id, 1, game.person_at(1))
    assert call.text in olga.open("/desk/calls").text
