"""Former players of a seat: their turns and their talk keep their name, and their links say who plays now."""

import re
from dataclasses import replace

import pytest

from engine import registry
from engine.coach import Luck, Swing
from engine.tell import say
from pbem.domain.former_players import FormerPlayer, name_at_row, names_in_turn
from pbem.i18n import speech
from pbem.service.account import delete
from pbem.service.archive import table_file
from pbem.service.archive.reviews import make_next
from pbem.service.desk.acts.seats import Substitute
from pbem.service.play.endings import ending_of
from pbem.service.play.log import standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.tables import talk
from pbem.store import games, log, people, players, saved_games
from pbem.store.schema import FormerPlayerRow
from tests.service.actors import moderate
from tests.service.archive.sample_review import SAMPLE
from tests.service.archive.test_replay import moves
from tests.service.clock import MINUTE
from tests.service.outgoing.test_deliver import drain, post_to


@pytest.fixture
def succession(server, table, person):
    """succession(kind) -> a game with a seat that Zoe took over after some turns, that seat, and its former player."""

    def play(kind="templari", turns=12):
        game = table(kind, 3)
        list(moves(game, turns))
        seat = max(game.asked(), key=lambda each: len(turns_of(game, each)))
        before = game.players()[seat]
        person("Zoe")
        moderate(server, Substitute(game.id, seat, "zoe@example.org"), "They asked for it.")
        assert game.players()[seat].name == "Zoe"
        assert turns_of(game, seat)
        return game, seat, before

    return play


def turns_of(game, seat):
    """The turns in which a seat made a choice."""
    with game.server.store.read() as tx:
        row = games.read(tx, game.id)
        entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    return [each.turn for each in entries if seat in each.entry.choices.keys() - each.entry.alone]


def test_each_turn_has_the_name_of_who_played_then():
    former = (FormerPlayer(1, 20, 5, "Ann"), FormerPlayer(1, 30, 9, "Bot 1"))
    played = [names_in_turn(turn, ("Ben", "Zoe"), former) for turn in (4, 5, 8, 9, None)]
    assert played == [("Ben", "Ann"), ("Ben", "Bot 1"), ("Ben", "Bot 1"), ("Ben", "Zoe"), ("Ben", "Zoe")]
    assert [name_at_row(seq, 1, "Zoe", former) for seq in (19, 20, 29, 30)] == ["Ann", "Bot 1", "Bot 1", "Zoe"]


@pytest.mark.parametrize("kind", registry.names())
def test_a_replay_names_who_played_then_to_everyone(browser, links, succession, kind):
    game, seat, before = succession(kind)
    first = game.row().turn
    for reader in range(3):
        page = browser.open(f"/s/{links.of(game, reader)[1]}/replay/{turns_of(game, seat)[0]}")
        assert before.name in page.text
        # Zoe reads it too, and is nowhere called “you” for what another did.
        assert "Zoe" not in page.text.replace("as seen by Zoe", "")
        assert reader != seat or "You " not in page.text
    list(moves(game, 9))
    own = [turn for turn in turns_of(game, seat) if turn >= first]
    page = browser.open(f"/t/{game.row().key}/replay/{own[0]}")
    assert "Zoe" in page.text
    assert before.name not in page.text


def test_the_page_of_a_seat_and_emails_name_who_played_then(server, clock, sink, browser, links, succession):
    game, seat, before = succession()
    story = browser.open(f"/s/{links.of(game, seat)[1]}").text.partition("Since your last turn")[2]
    assert before.name in story
    drain(server, clock, post_to(sink))
    (turn_email,) = (each.text for each in sink.to("zoe@example.org") if ", turn " in str(each.message["subject"]))
    # She is told what happened from the start, beginning with turns that were not hers.
    history = turn_email.partition("THE GAME SO FAR")[2]
    assert any(line.startswith(f"- {before.name} ") for line in history.splitlines()), turn_email


def test_the_review_names_who_played_when_something_happened(server, clock, sink, browser, links, succession):
    game, seat, before = succession(turns=9)
    reader, turn = (seat + 1) % 3, turns_of(game, seat)[0]
    lot, later = say("{seat} [takes|take] the lot.", seat=seat), game.row().turn
    list(game.play_defaults())

    def review(task):
        luck = (Luck(turn, -50, -90, -10, lot),)
        side = replace(SAMPLE.known, swings=(Swing(turn, 300, 600, (lot,)), Swing(later, 600, 300, (lot,))))
        return replace(SAMPLE, seat=task.seat, known=side, opened=None, luck=luck)

    while make_next(server, review):
        pass
    drain(server, clock, post_to(sink))
    address = server.query(people.read, game.person_at(reader)).address
    (email,) = (each.text for each in sink.to(address) if "your review" in str(each.message["subject"]))
    for text in (browser.open(f"/s/{links.of(game, reader)[1]}/review").text, email):
        says = " ".join(text.split())
        assert f"Turn {turn}: {before.name} takes the lot. Bad luck lowered" in says
        assert f"Turn {turn}: {before.name} takes the lot. Your chance of winning rose" in says
        assert f"Turn {later}: Zoe takes the lot. Your chance of winning fell" in says


def test_talk_of_a_former_player_keeps_their_name(server, clock, browser, links, table):
    game = table("templari", 3)
    server.run(talk.say, game.id, 0, game.person_at(0), "Good luck!")
    clock.advance(MINUTE)
    moderate(server, Substitute(game.id, 0, "dora@example.org"), "They asked for it.")
    name = game.players()[0].name
    server.run(talk.say, game.id, 0, game.person_at(0), "Hello, I am new here.")
    page = browser.open(f"/s/{links.of(game, 1)[1]}/talk")
    assert page.text.index("Ann ·") < page.text.index("Good luck!") < page.text.index(f"{name} ·")


def test_a_former_player_who_is_deleted_loses_the_name_there_too(server, browser, links, succession):
    game, seat, before = succession()
    with server.store.read() as tx:
        saved = saved_games.read(tx, game.id)
    assert [each.name for each in saved.former_players] == [before.name]
    server.run(delete.delete_person, before.person_id)
    page = browser.open(f"/s/{links.of(game, seat)[1]}/replay/{turns_of(game, seat)[0]}")
    assert "a former player" in page.text.lower()
    assert before.name not in page.text


def test_the_file_of_a_table_keeps_former_players(server, succession):
    game, _seat, _before = succession()
    with server.store.read() as tx:
        saved = saved_games.read(tx, game.id)
    assert table_file.read(table_file.write(saved, server.now())) == saved
    assert saved.former_players


@pytest.mark.parametrize("successors", [1, 2])
def test_the_link_of_a_former_player_says_what_happened(browser, links, table, server, successors):
    game = table("templari", 3)
    list(moves(game, 4))
    choice, seat = links.of(game, 0)
    turn = game.row().turn
    for name in ("dora", "erik")[:successors]:
        moderate(server, Substitute(game.id, 0, f"{name}@example.org"), "They asked for it.")
    for address in (f"/s/{seat}", f"/m/{choice}/pass"):
        page = browser.open(address)
        assert page.status == 410
        assert page.heading == "Someone else plays this seat now."
        assert f"It changed hands on turn {turn}." in page.text
        assert "new links" not in page.text


def test_the_best_buy_of_a_finished_game_is_that_of_who_made_it(server, browser, links, table):
    game = table("bid", 3)
    list(moves(game, 1000))
    ending = server.read(lambda tx, _server: ending_of(tx, game.row()))
    best = ending.result.best_buy
    winner = next(player for player in game.players().values() if player.name in str_of(best.text, game))
    before = FormerPlayerRow(game.id, winner.seat, 1, best.turn + 1, 0, None, "Nora")
    server.store.write(lambda tx: players.add_former(tx, before))
    for reader in range(3):
        (sentence,) = re.findall(
            r"The best bargain was on turn \d+, worth .*?: .*?\.(?= |$)",
            browser.open(f"/s/{links.of(game, reader)[1]}").text,
        )
        assert "Nora" in sentence


def str_of(text, game):
    return speech.teller(rules_of(game.row()), None, tuple(game.players()[seat].name for seat in range(3)))(text)
