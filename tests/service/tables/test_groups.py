"""Groups: who joins them and how, what their members see, and that they exist for nobody else."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.service.account import delete, my_page
from pbem.service.desk.acts.people import Merge
from pbem.service.people import blocks
from pbem.service.tables import by_link, group_page, groups, joining, listing
from pbem.service.tables.new import TableSettings
from pbem.store import groups as rows, people, personal_data
from tests.service.actors import moderate
from tests.service.archive.test_ratings import added, finish
from tests.service.database import all_rows, email_kinds, queued_emails
from tests.service.people.test_blocks import token
from tests.service.running_game import RunningGame

BID = TableSettings("bid", 3, options={"max_auctions": 1}, rated=True)


@pytest.fixture
def ann(person):
    return person("Ann")


@pytest.fixture
def ben(person):
    return person("Ben")


@pytest.fixture
def key(server, ann):
    """The key of a group of Ann's."""
    return server.run(groups.create, ann, "Friday club")


def id_of(server, key):
    with server.store.read() as tx:
        return rows.with_members(tx, key)[0].id


def joins(server, ann, key, *others):
    """Have people invited who say yes at once."""
    for other in others:
        with server.store.read() as tx:
            address = people.read(tx, other).address
        server.run(groups.invite, ann, key, (address,))
        server.run(groups.accept, id_of(server, key), other)


def names(server, person_id, key):
    return [row.name for row in server.read(group_page.group_page, person_id, key).membership.members]


def test_people_join_by_saying_yes_and_are_known_by_name_only(server, ann, ben, key):
    server.run(groups.invite, ann, key, ("ben@example.org", "stranger@example.org", "ben@example.org"))
    page = server.read(group_page.group_page, ann, key)
    assert names(server, ann, key) == ["Ann"]
    assert "@" not in repr(page)
    (email,) = queued_emails(server, ben, "group_invitation")
    assert "@" not in email.facts
    assert server.run(groups.accept, id_of(server, key), ben) == "Friday club"
    assert server.run(groups.accept, id_of(server, key), ben) == "Friday club"
    assert names(server, ben, key) == ["Ann", "Ben"]
    with server.store.read() as tx:
        stranger = people.by_mailbox(tx, "stranger@example.org").id
    server.run(groups.accept, id_of(server, key), stranger, "Ben")
    assert names(server, ben, key) == ["Ann", "Ben", "Ben 2"]
    with server.store.read() as tx:
        assert people.read(tx, stranger).confirmed_at is not None


def test_a_group_exists_for_its_members_alone(server, ann, ben, person, key):
    server.run(groups.invite, ann, key, ("ben@example.org",))
    table = server.run(group_page.open_table, ann, key, BID)
    refused = set[str]()
    for outsider in (ben, person("Zoe")):
        for address in (key, "0" * 32):
            with pytest.raises(NotFound) as raised:
                server.read(group_page.group_page, outsider, address)
            refused.add(str(raised.value))
            with pytest.raises(NotFound) as raised:
                server.run(groups.invite, outsider, address, ("x@example.org",))
            refused.add(str(raised.value))
    assert len(refused) == 1
    assert table
    assert server.read(listing.open_tables) == []
    assert server.read(groups.of_person, ben) == []


def test_an_invitation_tells_neither_who_is_known_nor_who_is_in_nor_who_blocks(server, ann, ben, key, table):
    game = table()
    seat_of = {game.person_at(seat): seat for seat in range(3)}
    server.run(blocks.block, token(game, seat_of[ben]), seat_of[ann])
    for _ in range(2):
        assert server.run(groups.invite, ann, key, ("ben@example.org", "ann@example.org", "new@example.org")) is None
    assert "group_invitation" not in email_kinds(server, ben)


def test_an_invitation_can_be_declined_and_withdrawn(server, ann, ben, person, key):
    cleo = person("Cleo")
    server.run(groups.invite, ann, key, ("ben@example.org", "cleo@example.org"))
    for _ in range(2):
        assert server.run(groups.decline, id_of(server, key), ben) == "Friday club"
    server.run(groups.withdraw_invitations, ann, key)
    for each in (ben, cleo):
        with pytest.raises(Gone):
            server.run(groups.accept, id_of(server, key), each)
    assert names(server, ann, key) == ["Ann"]


def test_only_the_organiser_invites_removes_and_hands_over(server, ann, ben, person, key):
    cleo = person("Cleo")
    joins(server, ann, key, ben, cleo)
    acts = [
        (groups.invite, ("x@example.org",)),
        (groups.remove, cleo),
        (groups.hand_over, cleo),
        (groups.withdraw_invitations,),
    ]
    before = all_rows(server.store)
    for act, *given in acts:
        with pytest.raises(Forbidden):
            server.run(act, ben, key, *given)
    assert all_rows(server.store) == before
    server.run(groups.hand_over, ann, key, ben)
    server.run(groups.remove, ben, key, cleo)
    with pytest.raises(NotFound):
        server.run(groups.remove, ben, key, cleo)
    assert names(server, ben, key) == ["Ann", "Ben"]
    with pytest.raises(NotFound):
        server.read(group_page.group_page, cleo, key)


@pytest.mark.parametrize("how", ["leaves", "is deleted"])
def test_the_oldest_member_follows_an_organiser_who_goes(server, ann, ben, person, key, how):
    joins(server, ann, key, ben, person("Cleo"))
    if how == "leaves":
        server.run(groups.leave, ann, key)
    else:
        server.run(delete.delete_by_consent, ann)
    assert server.read(group_page.group_page, ben, key).membership.organises
    assert names(server, ben, key) == ["Ben", "Cleo"]


@pytest.mark.parametrize("how", ["leave", "delete"])
def test_nobody_joins_a_group_that_everyone_has_left(server, ann, ben, key, how):
    server.run(groups.invite, ann, key, ("ben@example.org",))
    group_id = id_of(server, key)
    server.run(*(groups.leave, ann, key) if how == "leave" else (delete.delete_person, ann))
    with pytest.raises(Gone, match="no longer open"):
        server.run(groups.accept, group_id, ben)
    assert server.read(groups.of_person, ben) == []


def test_two_people_who_are_one_have_one_place_in_a_group_and_keep_the_better(server, ann, ben, person, key):
    joins(server, ann, key, ben)
    other = server.run(groups.create, ben, "Saturday club")
    moderate(server, Merge(ben, ann))
    assert names(server, ben, key) == ["Ann"]
    assert server.read(group_page.group_page, ben, key).membership.organises
    assert names(server, ben, other) == ["Ben"]


def test_the_export_names_ones_groups(server, ann, key):
    with server.store.read() as tx:
        (group,) = personal_data.about(tx, ann)["groups"]
    assert (group["group"], group["role"]) == ("Friday club", "organiser")


def test_members_join_a_table_of_the_group_and_others_do_not_find_it(server, ann, ben, person, key):
    cleo, zoe = person("Cleo"), person("Zoe")
    joins(server, ann, key, ben, cleo)
    server.run(group_page.open_table, ann, key, BID)
    (shown,) = server.read(group_page.group_page, ben, key).waiting
    game_id = shown.summary.game_id
    server.run(joining.join, game_id, ann)
    with pytest.raises(NotFound):
        server.run(joining.join, game_id, zoe)
    with pytest.raises(NotFound):
        server.run(group_page.table_token, zoe, key, game_id)
    for each in (ben, cleo):
        assert server.run(group_page.table_token, each, key, game_id)
        server.run(joining.join, game_id, each)
    game = RunningGame(server, game_id)
    assert [each.summary.game_id for each in server.read(group_page.group_page, cleo, key).playing] == [game_id]
    finish(game)
    added(game)
    page = server.read(group_page.group_page, ben, key)
    assert page.over[0].winners
    assert {row.name: rating.games for row, rating in page.ratings} == {"Ann": 1, "Ben": 1, "Cleo": 1}
    server.run(groups.leave, cleo, key)
    assert {row.name for row, _rating in server.read(group_page.group_page, ben, key).ratings} == {"Ann", "Ben"}


def test_groups_have_limits(server, ann, ben, key, monkeypatch):
    with pytest.raises(BadInput):
        server.run(groups.create, ann, "")
    monkeypatch.setattr(groups, "MOST_GROUPS", 1)
    with pytest.raises(TooMany):
        server.run(groups.create, ann, "Another")
    monkeypatch.setattr(groups, "MOST_AT_ONCE", 1)
    with pytest.raises(BadInput, match="2 addresses are too many"):
        server.run(groups.invite, ann, key, ("a@example.org", "b@example.org"))
    monkeypatch.setattr(groups, "MOST_MEMBERS", 1)
    with pytest.raises(BadInput, match="too large"):
        server.run(groups.invite, ann, key, ("a@example.org",))
    with server.store.read() as tx:
        assert people.by_mailbox(tx, "a@example.org") is None


def test_the_way_to_a_table_stays_open_as_long_as_it_waits(server, clock, ann, ben, key):
    """Tables whose start is planned wait longer than other links work."""
    joins(server, ann, key, ben)
    planned = replace(BID, starts_at=server.now() + timedelta(days=40))
    opened = server.run(group_page.open_table, ann, key, planned)
    (shown,) = server.read(group_page.group_page, ben, key).waiting
    game_id = shown.summary.game_id
    server.run(group_page.table_token, ben, key, game_id)
    clock.advance(timedelta(days=30))
    for door in (
        opened,
        server.run(group_page.table_token, ben, key, game_id),
        server.run(my_page.table_token, ann, game_id),
    ):
        assert server.read(by_link.table_page, door).table.game_id == game_id


def test_conditions_and_being_private_are_no_choice_at_a_table_of_a_group(server, ann, key):
    server.run(group_page.open_table, ann, key, replace(BID, private=False))
    (shown,) = server.read(group_page.group_page, ann, key).waiting
    assert shown.summary.private
