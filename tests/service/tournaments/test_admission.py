"""Conditions for signing up, and tournaments of a group, which nobody else can know of."""

import pytest

from pbem.domain.conditions import Conditions
from pbem.domain.errors import BadInput, Forbidden, NotFound
from pbem.domain.states import TournamentStatus
from pbem.service.tables import groups
from pbem.service.tournaments import file, reading, sign_up
from pbem.store import games, groups as group_rows
from tests.service.database import queued_emails


def test_conditions_keep_out_who_lacks_something_and_no_one_the_host_invited(tournament, person):
    cup = tournament(conditions=Conditions(finished=3, in_time=90, lowest=1500))
    with pytest.raises(Forbidden, match="This tournament asks for 3 games finished in the last year; you have 0"):
        cup.enters(person("Ann"))
    cup.server.run(sign_up.invite, cup.id, cup.host, ("ann@example.org",))
    assert cup.enters(person("Ann")).status == "in"
    assert cup.enters(cup.host).status == "in", "the host is asked nothing"
    cup.server.run(sign_up.ask, cup.key, "ben@example.org")
    with pytest.raises(Forbidden):
        cup.enters(person("Ben"))


def test_newcomers_are_not_asked_for_what_nobody_can_know(tournament, person):
    cup = tournament(conditions=Conditions(in_time=100, lowest=3000))
    assert cup.enters(person("Ann")).status == "in"


def test_a_tournament_for_friends(tournament, person):
    cup = tournament(conditions=Conditions(friends=True))
    with pytest.raises(Forbidden):
        cup.enters(person("Ann"))


def test_conditions_nobody_could_meet_are_refused(tournament):
    with pytest.raises(BadInput):
        tournament(conditions=Conditions(lowest=2000, highest=1000))


@pytest.fixture
def club(server, person):
    """A group of Host, Ann, Ben and Cleo; its key."""
    key = server.run(groups.create, person("Host"), "Friday club")
    found = server.query(group_rows.with_members, key)[0]
    for name in ("Ann", "Ben", "Cleo"):
        server.run(groups.invite, person("Host"), key, (f"{name.lower()}@example.org",))
        server.run(groups.accept, found.id, person(name), name)
    return key


def test_a_tournament_of_a_group_is_for_its_members_alone(tournament, person, club, server):
    cup = tournament(group=club)
    listed = server.read(reading.listed, TournamentStatus.OPEN, 50)
    assert listed == ()
    for who in (None, person("Zoe")):
        with pytest.raises(NotFound, match="no such tournament"):
            server.read(reading.page, cup.key, who)
    with pytest.raises(NotFound, match="no such tournament"):
        server.run(sign_up.ask, cup.key, "zoe@example.org")
    with pytest.raises(NotFound, match="no such tournament"):
        cup.enters(person("Zoe"))
    assert server.run(sign_up.invite, cup.id, cup.host, ("zoe@example.org", "ann@example.org")) == 1
    assert queued_emails(server, person("Zoe"), "sign_up") == []
    member = server.query(groups.membership, person("Ann"), club)
    assert [each.key for each in server.read(reading.of_group, member)] == [cup.key]


def test_someone_who_leaves_the_group_sees_its_tournament_while_they_play_in_it(tournament, person, club, server):
    cup = tournament(group=club, rounds=2)
    for name in ("Ann", "Ben", "Cleo"):
        cup.enters(person(name), name)
    cup.begins()
    server.run(groups.leave, person("Ann"), club)
    assert server.read(reading.page, cup.key, person("Ann")).entry_of(person("Ann"))
    server.run(sign_up.decline, cup.id, person("Ann"))
    with pytest.raises(NotFound):
        server.read(reading.page, cup.key, person("Ann"))


def test_the_tables_of_a_groups_tournament_are_the_groups(tournament, person, club, server):
    cup = tournament(group=club, rounds=1)
    for name in ("Ann", "Ben", "Cleo"):
        cup.enters(person(name), name)
    cup.begins()
    page = server.read(reading.page, cup.key, person("Ann"))
    assert len(page.rounds[0].tables) == 1
    with server.store.read() as tx:
        game = games.read(tx, cup.games()[0].id)
        assert game.private
        assert group_rows.group_of_table(tx, game.id) == group_rows.with_members(tx, club)[0].id
    assert file.check(server.read(file.of_tournament, cup.key, person("Ann"))) == []
    with pytest.raises(NotFound):
        server.read(file.of_tournament, cup.key)


def test_only_its_organiser_opens_a_tournament_of_a_group(tournament, club):
    with pytest.raises(Forbidden, match="organiser"):
        tournament(group=club, host="Ann")
    with pytest.raises(NotFound):
        tournament(group=club, host="Zoe")
