"""Nobody learns another's address: a person changes theirs in every way, and everything the others get is searched."""

from dataclasses import replace

import pytest

from pbem.domain.errors import TooMany
from pbem.domain.strangers import StrangerLimits
from pbem.service.account import change_address, delete, personal_data
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.service.tables import by_link, groups, invitations, joining, leaving, rematch
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import sign_up
from pbem.store import outbox, people, tables, tournaments
from tests.service.actors import moderate
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import drain, post_to
from tests.service.tables.test_rematch import seat_token
from tests.service.tournaments.cup import open_cup

OLD, NEW = "carla.first@example.org", "carla.second@example.net"


@pytest.fixture
def carla(server):
    person = server.run(addresses.register, OLD, "Carla").id
    server.run(addresses.confirm, person)
    return person


def by_consent(server, carla):
    server.run(change_address.change_address, carla, NEW)
    return carla


def by_organiser(server, carla):
    server.run(change_address.change_address, carla, NEW, "They wrote from the new one.")
    return carla


def by_merge(server, carla):
    other = server.run(addresses.register, NEW, "").id
    server.run(addresses.confirm, other)
    moderate(server, Merge(other, carla))
    return other


WAYS = [by_consent, by_organiser, by_merge]


def all_that_they_get(server, clock, sink, *people):
    """Every email to these people, with what it was written from, and the file of each."""
    drain(server, clock, post_to(sink))
    with server.store.read() as tx:
        emails = [email for person in people for email in outbox.of_person(tx, person, 100)]
    files = ("".join(personal_data.export_person(server, person)) for person in people)
    return "".join([*((email.body or b"").decode(errors="replace") + email.facts for email in emails), *files])


@pytest.mark.parametrize("way", WAYS)
def test_declining_tells_the_host_no_address_but_the_one_they_typed(server, clock, sink, person, carla, way):
    ann = person("Ann")
    created = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3, invited=(OLD,)))
    now = way(server, carla)
    server.run(invitations.decline, created.game_id, now)
    got = all_that_they_get(server, clock, sink, ann)
    assert OLD in got
    assert NEW not in got


def test_a_later_host_learns_no_address(server, clock, sink, person, carla):
    created = server.run(joining.create_table, person("Ann"), TableSettings("sunset-poker", 3, invited=(OLD,)))
    server.store.write(lambda tx: tables.forget_typed(tx, created.game_id))
    server.run(invitations.decline, created.game_id, carla)
    got = all_that_they_get(server, clock, sink, person("Ann"))
    assert "Carla declined" in got
    assert OLD not in got


def test_declining_a_rematch_tells_no_address(server, table):
    game = table("templari", 3)
    players = [game.person_at(seat) for seat in range(3)]
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, players[seat])
    again = server.read(by_link.table_page, server.run(rematch.rematch, seat_token(server, game, 0))).table
    server.run(invitations.decline, again.game_id, players[1])
    assert "@" not in "".join(email.facts for email in queued_emails(server, players[0], "declined"))


@pytest.fixture
def ended(server, table):
    """A game that ended without a result: the token of a player, and another person there."""
    game = table("templari", 3)
    players = [game.person_at(seat) for seat in range(3)]
    for player in players:
        server.run(leaving.agree_to_end, game.id, player)
    return seat_token(server, game, 0), players[1]


def test_a_rematch_with_a_player_who_is_invited_too_often_names_no_address(server, person, ended):
    token, other = ended
    settings = TableSettings("sunset-poker", 3, invited=(server.read(addresses.read, other).address,))
    without_budgets = replace(server, strangers=StrangerLimits(mailbox=0))
    for _ in range(invitations.INVITATIONS_A_DAY):
        without_budgets.run(joining.create_table, person("Zoe"), settings)
    with pytest.raises(TooMany) as refused:
        server.run(rematch.rematch, token)
    assert "@" not in str(refused.value)


def asks_to_a_table(server, host):
    server.run(joining.create_table, host, TableSettings("sunset-poker", 3, invited=(OLD,)))


def asks_to_a_tournament(server, host):
    key = open_cup(server, host)
    with server.store.read() as tx:
        cup = tournaments.by_key(tx, key).id
    server.run(sign_up.invite, cup, host, (OLD,))


def asks_into_a_group(server, host):
    server.run(groups.invite, host, server.run(groups.create, host, "Friday"), (OLD,))


@pytest.mark.parametrize("limits", [StrangerLimits(mailbox=1), StrangerLimits(domain=1)], ids=["mailbox", "domain"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("asks", [asks_to_a_table, asks_to_a_tournament, asks_into_a_group])
def test_an_invitation_over_a_budget_names_only_what_the_host_typed(server, person, carla, limits, way, asks):
    ann = person("Ann")
    way(server, carla)
    server = replace(server, strangers=limits)
    asks(server, ann)
    with pytest.raises(TooMany) as refused:
        asks(server, ann)
    assert "example.org" in str(refused.value)
    assert "example.net" not in str(refused.value)


def test_a_rematch_looks_at_no_address(server, ended):
    """Not even at one that could not be typed any more, because the rules for addresses became stricter."""
    token, other = ended
    server.store.write(lambda tx: people.change(tx, other, address="ben@localhost", mailbox="ben@localhost"))
    server.run(rematch.rematch, token)
    assert queued_emails(server, other, "invitation")


@pytest.mark.parametrize("way", [by_consent, by_organiser])
def test_the_next_owner_of_the_old_mailbox_finds_nothing_of_the_new_address(server, clock, sink, person, carla, way):
    server.run(joining.create_table, person("Ann"), TableSettings("sunset-poker", 3, invited=(NEW,)))
    server.run(change_address.ask, carla, NEW)
    drain(server, clock, post_to(sink))
    way(server, carla)
    drain(server, clock, post_to(sink))
    heir = server.run(addresses.register, OLD, "Heir").id
    assert NEW not in "".join(personal_data.export_person(server, heir))
    drain(server, clock, post_to(sink))
    assert NEW not in "".join(str(email.message) for email in sink.to(OLD))


@pytest.mark.parametrize("way", [*WAYS, "replaced", "deleted"])
def test_companions_see_no_address_whatever_becomes_of_a_player(server, clock, sink, table, way):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    player, others = game.person_at(seat), [game.person_at(each) for each in range(3) if each != seat]
    with server.store.read() as tx:
        old = addresses.read(tx, server, player).address
    if way == "replaced":
        moderate(server, Substitute(game.id, seat, NEW))
    elif way == "deleted":
        server.run(delete.delete_person, player)
    else:
        way(server, player)
    got = all_that_they_get(server, clock, sink, *others)
    assert got
    assert old not in got
    assert NEW not in got
