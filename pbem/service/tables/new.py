"""New tables: their settings, the check of all of them, and the row.

The secret of the seed is drawn here, and revealed to nobody before the game ends.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from engine import game, registry
from engine.bots import BOTS
from engine.chance import commitment
from engine.decisions import Refused
from engine.search import USUAL
from pbem.domain import conditions, hash_chain
from pbem.domain.conditions import Conditions
from pbem.domain.errors import BadInput, NotFound, Readers, quoted, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.missed_turns import FEWEST, MOST, MOST_GRACE, SECOND_CHANCES, Successor
from pbem.domain.pace import parse_pace
from pbem.domain.user_text import parse_title
from pbem.domain.week import BOUNDS, usual_bound
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

LONGEST_AHEAD: Final = timedelta(days=60)
"""How far ahead the start of a game can be set."""


@dataclass(frozen=True, slots=True)
class TableSettings:
    """The settings of a new table, as typed. `bots` names the kind of each bot, `stand_in` that of those that take over.

    With `hints`, players may ask what the Expert bot would do; with `going_back`, moves are taken back by everyone's consent;
    if it is `rated`, its result counts for their ratings. The game begins when `fewest` players are there, or all if that is 0,
    and not before `starts_at`. Of each player's week, up to `time_off` hours count; None for as many as usual at that pace.
    `conditions` are for people who join without an invitation.
    """

    kind: str
    seats: int
    options: Mapping[str, str | int] = field(default_factory=dict)
    pace: str = "1d"
    time_off: int | None = None
    title: str = ""
    bots: tuple[str, ...] = ()
    invited: tuple[str, ...] = ()
    private: bool = False
    doubles: bool = False
    missed_limit: int = 3
    grace: int = 0
    second_chance: int = 0
    going_back: bool = False
    successor: str = Successor.BOT
    stand_in: str = USUAL
    hints: bool = False
    rated: bool = False
    fewest: int = 0
    starts_at: datetime | None = None
    conditions: Conditions = conditions.NONE


@dataclass(frozen=True, slots=True)
class Created:
    """A new table: its id, its public key, and the commitment to its secret."""

    game_id: int
    key: str
    commitment: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A person's players at a table; whether they had joined before, and whether the game has begun."""

    game_id: int
    players: tuple[int, ...]
    again: bool
    begun: bool


def add_table(
    tx: Tx, server: Server, host: PersonRow, settings: TableSettings, status: str, expires_at: datetime, key: str = ""
) -> Created:
    """Add a table with its secret and its bots. Draws a key unless one is given. Raises as `check_settings` does."""
    now = server.now()
    rules, options = check_settings(settings, now)
    secret, key = server.randomness.bytes(_SECRET_BYTES), key or server.randomness.bytes(_KEY_BYTES).hex()
    game_id = tables.add_game(
        tx,
        key=key,
        kind=rules.slug,
        rules=rules.RULES,
        seats=settings.seats,
        options=json.dumps(options, sort_keys=True),
        title=links.without_tokens(tx, server, parse_title(settings.title)) or rules.title,
        pace=str(parse_pace(settings.pace)),
        time_off=usual_bound(parse_pace(settings.pace)) if settings.time_off is None else settings.time_off,
        host_id=host.id,
        private=settings.private,
        doubles=settings.doubles,
        missed_limit=settings.missed_limit,
        grace=settings.grace,
        second_chance=settings.second_chance,
        going_back=settings.going_back,
        successor=str(settings.successor),
        stand_in=settings.stand_in,
        hints=settings.hints,
        # A guest leaves no trace.
        rated=settings.rated and not is_guest(host.address),
        status=status,
        paused=False,
        created_at=now,
        fewest=settings.fewest or settings.seats,
        starts_at=settings.starts_at,
        conditions=str(settings.conditions),
        expires_at=expires_at,
        commitment=commitment(secret),
        secret=secret,
        seq=0,
        turn=0,
        head=hash_chain.genesis(key),
        entry_head=hash_chain.genesis(key),
        state="",
        box="[]",
        seals="[]",
        orders="[]",
    )
    if settings.private:
        links.make(tx, server, LinkKey(Purpose.INVITE, host.id, game_id))
    for number, bot in enumerate(settings.bots):
        tables.add_player(tx, PlayerRow(game_id, number, None, None, bot, f"Bot {number + 1}", "", now, 0))
    return Created(game_id, key, commitment(secret))


def check_settings(settings: TableSettings, now: datetime) -> tuple[game.Game[Any], dict[str, str | int]]:
    """The rules and the value of every option. Raises NotFound or BadInput if the table cannot be played."""
    try:
        rules = registry.load(settings.kind)
    except Refused as refused:
        raise NotFound(speech.render(refused.text), remedy=_("Choose one of these.")) from refused
    readers: Readers[object] = {
        "seats": lambda: _settle(rules, settings.seats, {}),
        "bots": lambda: _check_bots(settings),
        "pace": lambda: parse_pace(settings.pace),
        "time_off": lambda: _check_time_off(settings.time_off),
        **{
            f"option_{name}": partial(_settle, rules, rules.seats[0], {name: settings.options[name]})
            for name in settings.options
        },
        "title": lambda: parse_title(settings.title),
        "missed_limit": lambda: _check_missed_limit(settings.missed_limit),
        "grace": lambda: _check_grace(settings.grace),
        "second_chance": lambda: _check_second_chance(settings.second_chance),
        "successor": lambda: _check_successor(settings.successor),
        "rated": lambda: _check_rated(settings),
        "fewest": lambda: _check_fewest(rules, settings),
        "starts_at": lambda: _check_start(settings.starts_at, now),
        "private": lambda: _check_private(settings),
        **conditions.readers(settings.conditions),
    }
    read_fields(readers)
    return rules, _settle(rules, settings.seats, settings.options)


def _settle(rules: game.Game[Any], seats: int, options: Mapping[str, str | int]) -> dict[str, str | int]:
    try:
        return rules.settle(seats, options)
    except Refused as refused:
        raise BadInput(speech.teller(rules)(refused.text)) from refused


def _check_bots(settings: TableSettings) -> None:
    if type(settings.seats) is int and len(settings.bots) >= settings.seats:
        raise BadInput(
            _("A table needs at least one person."),
            why=_("It would have %(seats)s seats and %(many)s bots.", seats=settings.seats, many=len(settings.bots)),
        )
    for bot in (*settings.bots, settings.stand_in):
        if bot not in BOTS:
            raise BadInput(
                _("There is no bot %(bot)s.", bot=quoted(bot)),
                why=_("There are %(list)s.", list=" and ".join(sorted(BOTS))),
            )


def _check_time_off(hours: int | None) -> None:
    if hours is not None and (type(hours) is not int or hours not in BOUNDS):
        raise BadInput(
            _("%(hours)s hours of time off a week can't be chosen.", hours=hours),
            why=_("There are %(list)s.", list=", ".join(map(str, BOUNDS))),
        )


def _check_missed_limit(limit: int) -> None:
    if type(limit) is not int or not FEWEST <= limit <= MOST:
        raise BadInput(
            _("%(missed_limit)s missed turns won't work.", missed_limit=limit),
            why=_("Choose between %(fewest)s and %(most)s.", fewest=FEWEST, most=MOST),
        )


def _check_grace(grace: int) -> None:
    if type(grace) is not int or not 0 <= grace <= MOST_GRACE:
        raise BadInput(
            _("%(grace)s missed turns can't be free.", grace=grace), why=_("Choose up to %(most)s.", most=MOST_GRACE)
        )


def _check_second_chance(hours: int) -> None:
    if type(hours) is not int or hours not in SECOND_CHANCES:
        raise BadInput(
            _("Missed turns can't be taken back for %(hours)s hours.", hours=hours),
            why=_("There are %(list)s.", list=", ".join(map(str, SECOND_CHANCES))),
        )


def _check_successor(successor: str) -> None:
    if successor not in set(Successor):
        raise BadInput(
            _("%(successor)s can't take over a seat.", successor=quoted(successor)),
            why=_("Choose a substitute or a bot."),
        )


def _check_fewest(rules: game.Game[Any], settings: TableSettings) -> None:
    low = max(rules.seats[0], len(settings.bots) + 1)
    if settings.fewest and not low <= settings.fewest <= settings.seats:
        raise BadInput(
            _("The game can't start with %(fewest)s players.", fewest=settings.fewest),
            why=_("Choose from %(low)s to %(seats)s.", low=low, seats=settings.seats),
        )


def _check_start(starts_at: datetime | None, now: datetime) -> None:
    if starts_at is not None and not now < starts_at <= now + LONGEST_AHEAD:
        raise BadInput(
            _("The game can't start at that time."),
            why=_("It must be within the next %(days)s days.", days=LONGEST_AHEAD.days),
        )


def _check_private(settings: TableSettings) -> None:
    if settings.private and settings.conditions != conditions.NONE:
        raise BadInput(
            _("A private table has no conditions for joining."),
            why=_("You choose who joins it."),
            remedy=_("Leave the conditions out, or let anyone join."),
        )


def _check_rated(settings: TableSettings) -> None:
    if settings.rated and settings.doubles:
        raise BadInput(
            _("A rated table has one seat for each player."),
            why=_("Nobody can be compared with themselves."),
            remedy=_("Allow two seats at a friendly table."),
        )
    if settings.rated and settings.hints:
        raise BadInput(
            _("A rated table has no hints."),
            why=_("A rating tells how well people play by themselves."),
            remedy=_("Allow hints at a friendly table."),
        )
