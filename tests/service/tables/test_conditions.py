"""Conditions for joining a table, through its doors."""

from dataclasses import replace

import pytest

from pbem.domain.conditions import Conditions
from pbem.domain.errors import BadInput, Forbidden
from pbem.service.tables import invitations, joining, listing
from pbem.service.tables.new import TableSettings
from pbem.store import people, ratings
from pbem.store.schema import RatingRow
from tests.service.archive.test_ratings import finish

POKER = TableSettings("sunset-poker", 3)


def opened(server, host, **asked):
    """A table with these conditions, whose host sits at it."""
    created = server.run(joining.create_table, host, replace(POKER, conditions=Conditions(**asked)))
    server.run(joining.join, created.game_id, host)
    return created.game_id


def rated(server, person_id, rating, sigma=50.0):
    """Give a person this rating in the table's kind of game."""
    with server.store.read() as tx:
        key = people.read(tx, person_id).key
    row = RatingRow(1, key, POKER.kind, 1500.0, 150.0, rating, sigma, 9)
    server.store.write(lambda tx: ratings.add(tx, [row]))


def test_a_person_who_lacks_something_gets_no_seat_and_stays_confirmed(server, person):
    table = opened(server, person("Ann"), finished=2)
    server.run(joining.ask_to_join, table, "ben@example.org", "Ben")
    with server.store.read() as tx:
        ben = people.by_mailbox(tx, "ben@example.org").id
    with pytest.raises(Forbidden) as refused:
        joining.accept(server, table, ben)
    assert refused.value.what == "This table asks for 2 games finished in the last year; you have 0."
    assert "Games against bots count." in str(refused.value)
    assert server.read(listing.by_id, table).players == ("Ann",)
    with server.store.read() as tx:
        assert people.read(tx, ben).confirmed_at is not None


def test_only_games_that_ended_count_as_finished_and_those_against_bots_do(server, person, table):
    asking = opened(server, person("Zoe"), finished=1)
    alone = table("bid", 3, bots=("random",) * 2, options={"max_auctions": 1})
    with pytest.raises(Forbidden):
        server.run(joining.join, asking, person("Ann"))
    finish(alone)
    assert server.run(joining.join, asking, person("Ann")).players


def test_people_with_an_invitation_are_asked_nothing(server, person):
    ann, ben = person("Ann"), person("Ben")
    table = opened(server, ann, finished=3)
    server.run(invitations.invite, table, ann, ("ben@example.org",))
    assert server.run(joining.join, table, ben).players


@pytest.mark.parametrize(
    ("rating", "sigma", "joins"), [(1700.0, 50.0, True), (1300.0, 50.0, False), (1300.0, 90.0, True)]
)
def test_only_a_rating_that_is_not_provisional_keeps_someone_out(server, person, rating, sigma, joins):
    ben, table = person("Ben"), opened(server, person("Ann"), lowest=1600, highest=1800)
    rated(server, ben, rating, sigma)
    if joins:
        assert server.run(joining.join, table, ben).players
        return
    with pytest.raises(Forbidden, match="This table asks for a rating from 1600 to 1800; yours is 1300"):
        server.run(joining.join, table, ben)


def test_a_stranger_who_types_an_address_learns_nothing_about_its_owner(server, person):
    table = opened(server, person("Ann"), lowest=1600)
    rated(server, person("Ben"), 1300.0)
    for address in ("ben@example.org", "nobody@example.org"):
        assert server.run(joining.ask_to_join, table, address, "Eve") is None


def test_a_private_table_has_no_conditions(server, person):
    with pytest.raises(BadInput) as refused:
        server.run(joining.create_table, person("Ann"), replace(POKER, private=True, conditions=Conditions(finished=1)))
    assert list(refused.value.fields) == ["private"]
