"""Friends: a private list, and tables that only friends can join."""

from dataclasses import replace

import pytest

from pbem.domain.conditions import Conditions
from pbem.domain.errors import BadInput, Forbidden, TooMany
from pbem.service.account import my_page
from pbem.service.people import blocks, friends
from pbem.service.tables import joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store import friends as rows
from pbem.store.sessions import Holder
from tests.service.database import all_rows, email_kinds
from tests.service.people.test_blocks import game, token

__all__ = ["game"]

FRIENDS_ONLY = replace(TableSettings("bid", 3), conditions=Conditions(friends=True))


def test_only_friends_join_a_table_for_friends_and_others_hear_what_a_muted_player_hears(game):
    server = game.server
    me, friend, muted = (game.person_at(seat) for seat in range(3))
    for seat in (1, 2):
        server.run(friends.add, token(game, 0), seat)
    server.run(blocks.block, token(game, 0), 2)
    table = server.run(joining.create_table, me, FRIENDS_ONLY).game_id
    assert server.run(joining.join, table, friend).players
    refused = []
    other = server.run(joining.create_table, me, FRIENDS_ONLY).game_id
    server.run(friends.remove, me, friend)
    for person_id in (muted, friend):
        with pytest.raises(Forbidden) as raised:
            server.run(joining.join, other, person_id)
        refused.append(str(raised.value))
    assert refused[0] == refused[1]


def test_being_a_friend_or_not_changes_nothing_that_the_other_person_can_read(game, server):
    other = game.person_at(1)

    def readable():
        account = server.read(my_page.account, Holder(person_id=other), other)
        return server.read(talk.talk_page, token(game, 1)), account, email_kinds(server, other)

    before = readable()
    server.run(friends.add, token(game, 0), 1)
    assert readable() == before


def test_adding_a_friend_twice_changes_nothing_and_bots_are_nobodys_friends(table):
    game = table("sunset-poker", 3, bots=("greedy",))
    (bot,) = (seat for seat, player in game.players().items() if player.bot)
    me, other = (seat for seat in game.players() if seat != bot)
    game.server.run(friends.add, token(game, me), other)
    before = all_rows(game.server.store)
    game.server.run(friends.add, token(game, me), other)
    assert all_rows(game.server.store) == before
    for seat in (me, bot, 7):
        with pytest.raises(BadInput):
            game.server.run(friends.add, token(game, me), seat)


def test_a_list_of_friends_has_an_end(game, monkeypatch):
    monkeypatch.setattr(friends, "MOST_FRIENDS", 1)
    game.server.run(friends.add, token(game, 0), 1)
    with pytest.raises(TooMany):
        game.server.run(friends.add, token(game, 0), 2)
    game.server.run(friends.remove_seat, token(game, 0), 1)
    game.server.run(friends.add, token(game, 0), 2)
    with game.server.store.read() as tx:
        assert [row.friend_id for row in rows.of_person(tx, game.person_at(0))] == [game.person_at(2)]
