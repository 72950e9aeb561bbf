"""The demo: a game against bots for a guest who gives no address.

Each guest gets a private table whose game begins at once. Its bots answer within the request, so no page needs reloading.
Nothing is emailed, no list shows the table, and it is deleted after a day.
"""

from datetime import timedelta
from typing import Any, Final

import structlog

from engine import registry
from engine.game import Game
from pbem.domain.errors import NotFound, TooMany
from pbem.domain.guests import is_guest
from pbem.i18n.speech import gettext as _, mark
from pbem.service import links
from pbem.service.absence import bots
from pbem.service.clocks import outages
from pbem.service.people import addresses as persons, quota
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, guests, limits, people, players as player_rows
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage

GUESTS_AN_HOUR: Final = 60
"""Guests in an hour, all together. One network gets the server's `demos`, so that it cannot take them all."""

LIFETIME: Final = timedelta(days=1)

_HOUR: Final = timedelta(hours=1)

PACE: Final = "7d"
"""Longer than a demo lives, so that no clock runs out."""

LEVEL: Final = "beginner"
"""How the bots of a demo play: newcomers like to win, and never wait."""

_TITLE: Final = mark("Demo")
_NAME: Final = mark("Guest")
_BATCH: Final = 100

_log = structlog.get_logger(__name__)


def games_with_demo() -> list[Game[Any]]:
    """The games that have a demo."""
    return [rules for rules in map(registry.load, sorted(registry.own_names())) if rules.demo is not None]


def begin(server: Server, kind: str, network: str = "") -> str:
    """Start a demo for a new guest from this network. Returns the token of their seat. Raises NotFound or TooMany."""
    settings = _settings(kind)
    guest = server.run(_add_guest, network)
    game_id = server.run(joining.create_table, guest, settings).game_id
    server.run(joining.join, game_id, guest)
    bots.play_bots_of(server, game_id)
    return server.run(_seat_token, guest, game_id)


def go_on(server: Server, token: str) -> bool:
    """Let the bots answer a guest's move. Returns False if the seat is not in a demo."""
    with server.store.read() as tx:
        link = links.follow_seat(tx, server, token)
        if not is_guest(people.read(tx, link.person_id).address):
            return False
    bots.play_bots_of(server, link.game_id)
    return True


def tidy(server: Server) -> int:
    """Delete expired demos, each in its own transaction. Returns how many."""
    until, after, deleted = server.read(outages.ago, LIFETIME), 0, 0
    while batch := server.query(guests.ids_before, until, after, _BATCH):
        deleted += sum(_delete(server, guest) for guest in batch)
        after = batch[-1]
    return deleted


def _settings(kind: str) -> TableSettings:
    rules = next((each for each in games_with_demo() if each.slug == kind), None)
    if rules is None or rules.demo is None:
        raise NotFound(_("That game has no demo."), remedy=_("Choose one of the games on the front page."))
    options = rules.short if rules.demo_options is None else rules.demo_options
    bots = (LEVEL,) * (rules.demo - 1)
    return TableSettings(kind, rules.demo, dict(options), PACE, title=_(_TITLE), bots=bots, private=True, hints=True)


def _add_guest(tx: Tx, server: Server, network: str) -> int:
    of_network = quota.quota_of(server, "demo", network, server.demos, _HOUR)
    # Two guests arriving at once may both be counted as the last, which does no harm.
    if guests.count_in(tx, limits.last(_HOUR, server.now())) >= GUESTS_AN_HOUR:
        raise _too_many(_("We start at most %(guests_an_hour)s demos an hour.", guests_an_hour=GUESTS_AN_HOUR))
    if quota.take(tx, server, [of_network]) is not None:
        raise _too_many(_("We start at most %(most)s demos an hour for one network.", most=server.demos))
    return persons.add_guest(tx, server, _(_NAME)).id


def _too_many(why: str) -> TooMany:
    return TooMany(
        _("All demo tables are taken right now."),
        why=why,
        remedy=_("Try again in a while, or start a table with your email address."),
    )


def _seat_token(tx: Tx, server: Server, guest: int, game_id: int) -> str:
    game = games.lock(tx, game_id)
    seat = next(player.seat for player in player_rows.of_game(tx, game_id) if player.person_id == guest)
    assert seat is not None, "its game has begun"
    return links.make_seat_token(tx, server, guest, game, seat)


def _delete(server: Server, guest: int) -> bool:
    try:
        server.store.write(lambda tx: guests.forget(tx, guest))
    except Exception as error:
        if is_outage(error):
            raise
        # One guest that cannot be deleted must not keep the others.
        _log.exception("guest_not_forgotten", person=guest)
        return False
    return True
