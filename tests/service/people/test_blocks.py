"""Blocking a player: their talk is hidden from the blocker, and they cannot join the blocker's new tables."""

import pytest

from pbem.domain.errors import BadInput, Forbidden
from pbem.service import links
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import blocks
from pbem.service.play import seat_view
from pbem.service.tables import joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store import games, talk as talk_rows
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR
from tests.service.database import all_rows, email_kinds


@pytest.fixture
def game(table):
    """Three people at a table."""
    return table()


def token(game, seat):
    """The link of a seat."""
    person = game.person_at(seat)
    row = game.server.store.write(
        lambda tx: links.make_for_seat(tx, game.server, person, game.id, game.row().turn, seat)
    ).seat
    with game.server.store.read() as tx:
        return links.token(game.server, links.read(tx, row))


def say(game, seat, text):
    game.server.run(talk.say_by_link, token(game, seat), text)


def heard(game, seat):
    return [line.text for line in game.server.read(talk.talk_page, token(game, seat)).lines]


def in_email(game, seat):
    """The lines of talk that an email to a seat would show."""
    with game.server.store.read() as tx:
        return [line.text for line in talk_rows.heard(tx, game.id, games.read(tx, game.id).key, seat, 0, 99)]


def test_a_blocked_player_is_hidden_from_the_blocker_only(game):
    game.server.run(blocks.block, token(game, 0), 1)
    say(game, 1, "Hello from one")
    say(game, 2, "Hello from two")
    assert (heard(game, 0), in_email(game, 0)) == (["Hello from two"], ["Hello from two"])
    assert heard(game, 2) == ["Hello from one", "Hello from two"]
    assert in_email(game, 2) == ["Hello from one"]
    assert game.server.read(talk.talk_page, token(game, 0)).left_out == 1


def test_unblocking_brings_back_earlier_talk(game):
    game.server.run(blocks.block, token(game, 0), 1)
    say(game, 1, "Hello")
    game.server.run(blocks.unblock_seat, token(game, 0), 1)
    assert heard(game, 0) == ["Hello"]


def test_blocking_twice_changes_nothing(game):
    game.server.run(blocks.block, token(game, 0), 1)
    before = all_rows(game.server.store)
    game.server.run(blocks.block, token(game, 0), 1)
    assert all_rows(game.server.store) == before


def test_the_list_of_blocks_shows_names_of_the_time_and_unblocks(game):
    me, other = game.person_at(0), game.person_at(1)
    game.server.run(blocks.block, token(game, 0), 1)
    (listed,) = game.server.read(blocks.blocked_by, me)
    assert (listed.blocked_id, listed.name) == (other, game.players()[1].name)
    assert game.server.read(blocks.blocked_by, other) == []
    game.server.run(blocks.unblock, me, other)
    assert game.server.read(blocks.blocked_by, me) == []


def test_bots_oneself_and_empty_seats_cannot_be_blocked(table):
    game = table("sunset-poker", 3, bots=("greedy",))
    (bot,) = (seat for seat, player in game.players().items() if player.bot)
    me = next(seat for seat in game.players() if seat != bot)
    for seat in (me, bot, 7):
        with pytest.raises(BadInput):
            game.server.run(blocks.block, token(game, me), seat)


def test_a_blocked_player_cannot_join_the_blockers_tables_only(game):
    server = game.server
    me, other, third = (game.person_at(seat) for seat in range(3))
    server.run(blocks.block, token(game, 0), 1)
    mine = server.run(joining.create_table, me, TableSettings("bid", 3)).game_id
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="Its host chooses"):
        server.run(joining.join, mine, other)
    assert all_rows(server.store) == before
    server.run(joining.join, mine, third)
    server.run(joining.join, server.run(joining.create_table, third, TableSettings("bid", 3)).game_id, other)


def test_no_invitation_is_emailed_to_a_person_who_blocks_its_host(game):
    server, me, other = game.server, game.person_at(0), game.person_at(1)
    server.run(blocks.block, token(game, 0), 1)
    people = [f"{game.players()[seat].name.lower()}@example.org" for seat in (0, 2)]
    made = server.run(joining.create_table, other, TableSettings("bid", 3, invited=tuple(people)))
    assert "invitation" not in email_kinds(server, me)
    assert "invitation" in email_kinds(server, game.person_at(2))
    # They may join all the same.
    server.run(joining.join, made.game_id, me)


def test_new_lines_are_counted_whatever_the_clock_says(game, clock):
    """Lines said after the player's last act are new, and those before aren't, even if the clock was set back in between."""
    first, other = 0, 1

    def new():
        return game.server.read(seat_view.view_seat, token(game, first)).new_lines

    say(game, other, "Before.")
    clock.set(clock.now() - DAY)
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    assert new() == 0
    clock.set(clock.now() - DAY)
    say(game, other, "After.")
    assert new() == 1


def test_new_lines_since_a_players_last_act_are_counted(game):
    def new(seat):
        return game.server.read(seat_view.view_seat, token(game, seat)).new_lines

    game.server.clock.advance(HOUR)
    say(game, 1, "one")
    say(game, 2, "two")
    assert [new(seat) for seat in range(3)] == [2, 1, 0]
    game.server.run(blocks.block, token(game, 0), 1)
    assert new(0) == 1
    say(game, 0, "three")
    assert [new(seat) for seat in range(3)] == [0, 2, 1]
    game.server.clock.advance(HOUR)
    decided = list(game.asked().items())
    for seat, each in decided:
        game.play(seat, each.default)
    assert decided
    assert [new(seat) for seat, _ in decided] == [0] * len(decided)


def test_lines_of_a_former_player_are_new_to_their_successor(game):
    def new(seat):
        return game.server.read(seat_view.view_seat, token(game, seat)).new_lines

    game.server.clock.advance(HOUR)
    say(game, 1, "I have to go.")
    say(game, 2, "Goodbye.")
    say(game, 1, "Bye.")
    assert [new(seat) for seat in range(3)] == [3, 0, 1]
    game.server.clock.advance(HOUR)
    moderate(game.server, Substitute(game.id, 1, "zoe@example.org"))
    assert new(1) == 3
    say(game, 1, "Hello!")
    assert new(1) == 0
