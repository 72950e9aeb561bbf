"""Why a choice was made, as pages say it: to its player at once, to all when the game is over."""

import pytest

from pbem.service.play import standing_orders
from pbem.service.play.move import Actor
from tests.service.archive.test_replay import end

ORDER, TIME = "(standing order)", "(time ran out)"


@pytest.fixture
def game(table):
    """An auction in which the first player's order has bid, and the clock has passed for the second: game and players."""
    game = table("templari", 3)
    players = []
    for _ in range(2):
        (seat,) = game.asked()
        players.append(seat)
        if len(players) == 1:
            game.server.run(standing_orders.set_order, game.id, seat, "up to 1 or ask me")
        else:
            game.play(seat, "pass", Actor.CLOCK)
    return game, players[0], players[1], ({0, 1, 2} - {*players}).pop()


def test_a_seat_reads_of_the_clock_and_of_its_own_order_only(browser, links, game):
    game, first, second, third = game
    pages = {seat: browser.open(f"/s/{links.of(game, seat)[1]}").text for seat in (first, second, third)}
    assert f"You bid 0 {ORDER}." in pages[first]
    for seat in (second, third):
        assert ORDER not in pages[seat]
    assert f"You pass {TIME}." in pages[second]
    assert f"passes {TIME}." in pages[third]
    assert TIME in browser.open(f"/t/{game.row().key}/replay/2").text
    assert ORDER not in browser.open(f"/t/{game.row().key}/replay/1").text


def test_a_missed_sealed_choice_is_named_to_its_player_once_the_turn_closes(browser, links, table):
    game = table("sunset-poker", 3)
    for seat, by in enumerate((Actor.CLOCK, Actor.PERSON, Actor.PERSON)):
        game.play(seat, game.asked()[seat].default, by)
    pages = [browser.open(f"/s/{links.of(game, seat)[1]}").text for seat in range(3)]
    assert [TIME in page for page in pages] == [True, False, False]


def test_when_the_game_is_over_everyone_reads_why_each_choice_was_made(browser, links, game):
    game, first, _, third = game
    paths = [f"/t/{game.row().key}/replay/1", f"/s/{links.of(game, third)[1]}/replay/1"]
    assert not any(ORDER in browser.open(path).text for path in paths)
    end(game)
    assert all(ORDER in browser.open(path).text for path in paths)
    assert f"{game.players()[first].name} bids 0 {ORDER}." in browser.open(paths[0]).text
