"""The demo: one short round against bots for whoever has two minutes and gives no address.

A guest gets a private table of their own that begins at once; its bots answer within the request that asks them, so that a
page has never to be loaded anew. Nothing is mailed, no list shows the table, and a day later no row of it is left.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog

from engine import game as rulebooks
from pbem.domain.errors import TooMany
from pbem.domain.guests import is_guest
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import mark
from pbem.service import links
from pbem.service.absence import bots
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import Wanted
from pbem.store import games, guests, people
from pbem.store import players as player_rows
from pbem.store.database import Tx

GUESTS_AN_HOUR: Final = 60
"""So many guests are let in within an hour: nobody is told from anybody else here, so this is for all together."""

KEPT: Final = timedelta(days=1)

PACE: Final = "7d"
"""Longer than a demo is kept, so that no clock ever runs out."""

_TITLE: Final = mark("Demo")
_NAME: Final = mark("Guest")
_BATCH: Final = 100

_log = structlog.get_logger(__name__)


def begin(server: Server) -> str:
    """Begin a demo for somebody new; the token of their seat."""
    guest = server.run(_add_guest)
    game_id = server.run(joining.create_table, guest, _table()).game_id
    server.run(joining.join, game_id, guest)
    bots.answer_at(server, game_id)
    return server.run(_seat_token, guest, game_id)


def go_on(server: Server, token: str) -> bool:
    """Let the bots answer what the holder of a seat's link has just done; False if that is no demo."""
    with server.store.read() as tx:
        link = links.follow_seat(tx, server, token)
        if not is_guest(people.read(tx, link.person_id).address):
            return False
    bots.answer_at(server, link.game_id)
    return True


def tidy(server: Server) -> int:
    """Forget the demos that are over their time, each for itself; how many that were."""
    until, after, gone = server.now() - KEPT, 0, 0
    while batch := _before(server, until, after):
        gone += sum(_forgotten(server, guest) for guest in batch)
        after = batch[-1]
    return gone


def _table() -> Wanted:
    """A table of the first game that has a demo."""
    rules = next(each for each in map(rulebooks.load, sorted(rulebooks.own_names())) if each.demo is not None)
    assert rules.demo is not None
    bots = ("greedy",) * (rules.demo - 1)
    return Wanted(rules.slug, rules.demo, dict(rules.short), PACE, title=_(_TITLE), bots=bots, private=True)


def _add_guest(tx: Tx, server: Server) -> int:
    # Two who come at the same moment may both be the last one, which does no harm.
    if guests.count_since(tx, server.now() - timedelta(hours=1)) >= GUESTS_AN_HOUR:
        raise TooMany(
            _("The demo is very much in demand just now."),
            why=_("We let %(guests_an_hour)s guests in within an hour.", guests_an_hour=GUESTS_AN_HOUR),
            remedy=_("Please try again in a while, or join a table with your address."),
        )
    return persons.add_guest(tx, server, _(_NAME)).id


def _seat_token(tx: Tx, server: Server, guest: int, game_id: int) -> str:
    game = games.lock(tx, game_id)
    seat = next(player.seat for player in player_rows.of_game(tx, game_id) if player.person_id == guest)
    assert seat is not None, "its game has begun"
    made = links.make_for_seat(tx, server, guest, game_id, game.turn, seat)
    return links.token(server, links.read(tx, made.seat))


def _before(server: Server, moment: datetime, after: int) -> list[int]:
    with server.store.read() as tx:
        return guests.before(tx, moment, after, _BATCH)


def _forgotten(server: Server, guest: int) -> bool:
    try:
        server.store.write(lambda tx: guests.forget(tx, guest))
    except Exception:  # noqa: BLE001 - whatever hangs on one guest, the others are forgotten
        _log.exception("guest_not_forgotten", person=guest)
        return False
    return True
