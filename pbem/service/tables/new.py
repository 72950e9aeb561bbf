"""A new table: what somebody wants, checked whole, and what the house makes of it.

Everything that is agreed before a game begins stands in a `Wanted`. The secret of the seed is drawn here, and is told
to nobody before the end.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from engine import game
from engine.bots import BOTS
from engine.chance import commitment
from engine.decisions import Refused
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, NotFound, quoted
from pbem.domain.missed_turns import FEWEST, MOST, Successor
from pbem.domain.pace import parse_pace
from pbem.domain.user_text import parse_title
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.store import tables
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.tokens import Purpose

_SECRET_BYTES: Final = 32
_KEY_BYTES: Final = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """The table that somebody wants, as it was typed. `bots` names the kind of each bot that takes a place."""

    kind: str
    seats: int
    options: Mapping[str, str | int] = field(default_factory=dict)
    pace: str = "1d"
    title: str = ""
    bots: tuple[str, ...] = ()
    invited: tuple[str, ...] = ()
    private: bool = False
    doubles: bool = False
    missed_limit: int = 3
    successor: str = Successor.BOT


@dataclass(frozen=True, slots=True)
class Created:
    """A new table: its number, its public name, and what binds the server to its secret."""

    game_id: int
    key: str
    commitment: str


@dataclass(frozen=True, slots=True)
class Joined:
    """The places that a person has at a table, whether that was so before, and whether the game has begun."""

    game_id: int
    players: tuple[int, ...]
    again: bool
    begun: bool


def add_table(
    tx: Tx, server: Server, host: PersonRow, wanted: Wanted, status: str, expires_at: datetime, key: str = ""
) -> Created:
    """Write down a table with its secret and its bots; refused if anything about it cannot be. Its key is usually drawn."""
    rules, options = settle(wanted)
    now = server.now()
    secret, key = server.randomness.bytes(_SECRET_BYTES), key or server.randomness.bytes(_KEY_BYTES).hex()
    game_id = tables.add_game(
        tx,
        key=key,
        kind=rules.slug,
        rules=rules.RULES,
        seats=wanted.seats,
        options=json.dumps(options, sort_keys=True),
        title=parse_title(wanted.title) or rules.title,
        pace=str(parse_pace(wanted.pace)),
        host_id=host.id,
        private=wanted.private,
        doubles=wanted.doubles,
        missed_limit=wanted.missed_limit,
        successor=str(wanted.successor),
        status=status,
        paused=False,
        created_at=now,
        expires_at=expires_at,
        commitment=commitment(secret),
        secret=secret,
        seq=0,
        turn=0,
        head=hash_chain.genesis(key),
        entry_head=hash_chain.genesis(key),
        state="",
        box="[]",
        orders="[]",
    )
    if wanted.private:
        links.make(tx, server, LinkKey(Purpose.INVITE, host.id, game_id))
    for number, bot in enumerate(wanted.bots):
        tables.add_player(tx, PlayerRow(game_id, number, None, None, bot, f"Bot {number + 1}", "", now, 0))
    return Created(game_id, key, commitment(secret))


def settle(wanted: Wanted) -> tuple[game.Game[Any], dict[str, str | int]]:
    """The rules of what is wanted, and all options with their values; refused if it cannot be played."""
    try:
        rules = game.load(wanted.kind)
    except Refused as refused:
        raise NotFound(speech.render(refused.text), remedy=_("Please choose one of these.")) from refused
    try:
        options = rules.settle(wanted.seats, wanted.options)
    except Refused as refused:
        raise BadInput(speech.teller(rules)(refused.text)) from refused
    if len(wanted.bots) >= wanted.seats:
        raise BadInput(
            _("A table needs a person."),
            why=_("It would have %(seats)s seats and %(many)s bots.", seats=wanted.seats, many=len(wanted.bots)),
        )
    for bot in wanted.bots:
        if bot not in BOTS:
            raise BadInput(
                _("There is no bot %(bot)s.", bot=quoted(bot)),
                why=_("There are %(list)s.", list=" and ".join(sorted(BOTS))),
            )
    if type(wanted.missed_limit) is not int or not FEWEST <= wanted.missed_limit <= MOST:
        raise BadInput(
            _("A table cannot bear %(missed_limit)s silent turns in a row.", missed_limit=wanted.missed_limit),
            why=_("It bears %(fewest)s to %(most)s.", fewest=FEWEST, most=MOST),
        )
    if wanted.successor not in set(Successor):
        raise BadInput(
            _("%(successor)s cannot take over a seat.", successor=quoted(wanted.successor)),
            why=_("A substitute or a bot can."),
        )
    return rules, options
