"""An organiser is bound to a person: one who sits or sat at a table sees nothing of it at the desk, whatever they change."""

import pytest

from pbem.domain.acts import Act
from pbem.domain.errors import Forbidden
from pbem.service.account import change_address
from pbem.service.desk import audit, organisers
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.store import organisers as rows
from tests.service.actors import add_organiser, moderate

NEW = "elsewhere@example.net"


def changes_address(server, game, player):
    server.run(change_address.change_address, player, NEW)


def is_merged(server, game, player):
    other = server.run(addresses.register, NEW, "").id
    server.run(addresses.confirm, other)
    moderate(server, Merge(other, player))


def is_replaced(server, game, player):
    moderate(server, Substitute(game.id, 0, NEW))


@pytest.mark.parametrize("change", [changes_address, is_merged, is_replaced])
def test_an_organiser_who_plays_is_shut_out_whatever_they_change(server, table, links_of, change):
    game = table("templari", 3)
    player = game.person_at(0)
    links_of(game, 0)
    name, _at, domain = server.read(addresses.read, player).address.partition("@")
    olga = add_organiser(server, name, domain)
    change(server, game, player)
    with server.store.read() as tx:
        actor = organisers.actor_of(tx, rows.read(tx, olga.id))
        with pytest.raises(Forbidden, match="You play at this table"):
            audit.must_be_allowed(tx, actor, Act.TABLE, game.id)


@pytest.fixture
def links_of(server):
    """Make the links of a seat, as its emails do."""
    from pbem.service import links

    return lambda game, seat: server.store.write(
        lambda tx: links.make_for_seat(tx, server, game.person_at(seat), game.id, game.row().turn, seat)
    )
