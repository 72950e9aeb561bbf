"""Lists of addresses that are longer than anyone may invite: refused by their number, before any of them is read or looked up."""

from dataclasses import replace

import pytest

from pbem.domain.errors import BadInput
from pbem.service.tables import groups, invitations, joining
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import sign_up
from pbem.store import tournaments
from tests.service.database import all_rows, count_calls
from tests.service.tournaments.cup import open_cup

POKER = TableSettings("sunset-poker", 3)

DOORS = {
    "a planned table": invitations.MOST_INVITED,
    "a new table": invitations.MOST_INVITED,
    "an open table": invitations.MOST_INVITED,
    "a group": invitations.MOST_AT_ONCE,
    "a tournament": invitations.MOST_AT_ONCE,
}
"""Where addresses are typed, and how many can be."""


@pytest.fixture
def typed(server, person):
    """typed(door, addresses) -> invite them there."""
    ann = person("Ann")
    table = server.run(joining.create_table, ann, POKER).game_id
    group = server.run(groups.create, ann, "Friday club")
    with server.store.read() as tx:
        cup = tournaments.by_key(tx, open_cup(server, ann)).id

    def typed(door, addresses):
        match door:
            case "a planned table":
                server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, invited=addresses))
            case "a new table":
                server.run(joining.create_table, ann, replace(POKER, invited=addresses))
            case "an open table":
                server.run(invitations.invite, table, ann, addresses)
            case "a group":
                server.run(groups.invite, ann, group, addresses)
            case "a tournament":
                server.run(sign_up.invite, cup, ann, addresses)

    return typed


@pytest.mark.parametrize(("door", "most"), DOORS.items(), ids=DOORS)
def test_a_longer_list_than_can_be_invited_costs_no_more_than_a_short_one(server, typed, door, most):
    before, made = all_rows(server.store), []
    for count in (most + 1, 5 * most):
        with count_calls(server.store) as calls, pytest.raises(BadInput, match=f"{count} addresses are too many"):
            typed(door, tuple(f"friend{number}@example.org" for number in range(count)))
        made.append(len(calls))
    assert made[0] == made[1] < most
    assert all_rows(server.store) == before


@pytest.mark.parametrize(("door", "most"), DOORS.items(), ids=DOORS)
def test_thousands_of_wrong_addresses_are_not_said_one_by_one(typed, door, most):
    with pytest.raises(BadInput, match="5000 addresses are too many") as refused:
        typed(door, tuple(f"nobody{number}" for number in range(5000)))
    assert len(str(refused.value)) < 300
