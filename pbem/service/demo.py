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
from pbem.domain.speech import gettext as _
from pbem.domain.speech import marked
from pbem.links import Purpose
from pbem.service import bots, links, lobby
from pbem.service import people as persons
from pbem.service.house import House
from pbem.service.looks import seat_of
from pbem.service.tables import Wanted
from pbem.store import games, guests, people
from pbem.store import links as link_rows
from pbem.store.database import Tx

GUESTS_AN_HOUR: Final = 60
"""So many guests are let in within an hour: nobody is told from anybody else here, so this is for all together."""

KEPT: Final = timedelta(days=1)

PACE: Final = "7d"
"""Longer than a demo is kept, so that no clock ever runs out."""

_TITLE: Final = marked("Demo")
_NAME: Final = marked("Guest")
_BATCH: Final = 100

_log = structlog.get_logger(__name__)


def begin(house: House) -> str:
    """Begin a demo for somebody new; the token of their seat."""
    guest = house.write(lambda tx: _let_in(tx, house))
    game_id = lobby.create_table(house, guest, _table()).game_id
    lobby.join(house, game_id, guest)
    bots.answer_at(house, game_id)
    return house.write(lambda tx: _seat_token(tx, house, guest, game_id))


def go_on(house: House, token: str) -> bool:
    """Let the bots answer what the holder of a seat's link has just done; False if that is no demo."""
    with house.store.read() as tx:
        game_id, _, person_id = seat_of(links.open_in(tx, house, token, Purpose.SEAT))
        if not is_guest(people.read(tx, person_id).address):
            return False
    bots.answer_at(house, game_id)
    return True


def tidy(house: House) -> int:
    """Forget the demos that are over their time, each for itself; how many that were."""
    until, after, gone = house.now() - KEPT, 0, 0
    while batch := _before(house, until, after):
        gone += sum(_forgotten(house, guest) for guest in batch)
        after = batch[-1]
    return gone


def _table() -> Wanted:
    """A table of the first game that has a demo."""
    rules = next(each for each in map(rulebooks.load, rulebooks.names()) if each.demo is not None)
    assert rules.demo is not None
    bots = ("greedy",) * (rules.demo - 1)
    return Wanted(rules.slug, rules.demo, dict(rules.short), PACE, title=_(_TITLE), bots=bots, private=True)


def _let_in(tx: Tx, house: House) -> int:
    # Two who come at the same moment may both be the last one, which does no harm.
    if guests.count_since(tx, house.now() - timedelta(hours=1)) >= GUESTS_AN_HOUR:
        raise TooMany(
            _("The demo is very much in demand just now."),
            why=_("We let %(guests_an_hour)s guests in within an hour.", guests_an_hour=GUESTS_AN_HOUR),
            remedy=_("Please try again in a while, or join a table with your address."),
        )
    return persons.guest_in(tx, house, _(_NAME)).id


def _seat_token(tx: Tx, house: House, guest: int, game_id: int) -> str:
    game = games.lock(tx, game_id)
    seat = next(place.seat for place in games.places(tx, game_id) if place.person_id == guest)
    assert seat is not None, "its game has begun"
    row = link_rows.read(tx, links.of_seat_in(tx, house, guest, game_id, game.window, seat).seat)
    assert row is not None
    return links.token(house, row)


def _before(house: House, moment: datetime, after: int) -> list[int]:
    with house.store.read() as tx:
        return guests.before(tx, moment, after, _BATCH)


def _forgotten(house: House, guest: int) -> bool:
    try:
        house.write(lambda tx: guests.forget(tx, guest))
    except Exception:  # noqa: BLE001 - whatever hangs on one guest, the others are forgotten
        _log.exception("guest_not_forgotten", person=guest)
        return False
    return True
