"""Rematches: a new table with the same settings and people as a finished one.

The first player to ask is its host, and the others who played to the end are invited. The key of the new table is derived
from the old one, so a second press or a second player finds the same table.
"""

import hashlib
import json
from collections.abc import Sequence
from itertools import count

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, Stale, TooMany
from pbem.domain.guests import is_guest
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tables import invitations, joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, people, players as player_rows, tables as lobby_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.tokens import Purpose

_LIVE = (TableStatus.OPEN, TableStatus.PLAYING)


def rematch(tx: Tx, server: Server, token: str) -> str:
    """Open the rematch, or find the open one. Returns the token of the link by which the player joins it.

    Raises Forbidden for a guest, Stale while the game goes on, and TooMany.
    """
    # What is made here ends with the other links of the player.
    links.follow_seat(tx, server, token)
    # The lock of the old game lets one request at a time through.
    link, before, _player = links.open_to_act(tx, server, token, Purpose.SEAT)
    person_id = link.person_id
    if is_guest(people.read(tx, person_id).address):
        raise Forbidden(_("A demo has no rematch."), remedy=_("Start another demo on the front page."))
    if before.status not in (TableStatus.OVER, TableStatus.VOID):
        raise Stale(_("This game isn't over yet."), remedy=_("Finish it first."))
    for number in count(1):
        key = _key(before.key, number)
        row = lobby_rows.by_key(tx, key)
        if row is None:
            game_id = _create(tx, server, person_id, before, key)
        elif row.status in _LIVE:
            game_id = row.id
        else:
            # That rematch was played, or was closed.
            continue
        return links.make_token_to_join(tx, server, person_id, games.lock(tx, game_id))
    raise AssertionError("numbers do not end")


def _create(tx: Tx, server: Server, person_id: int, before: GameRow, key: str) -> int:
    """Open the table, and invite the others who played; their host learns none of their addresses."""
    players = player_rows.of_game(tx, before.id)
    game_id = joining.create_table(tx, server, person_id, _settings(before, players), key).game_id
    others = people.read_all(tx, {player.person_id for player in players if player.person_id is not None} - {person_id})
    name = next(player.name for player in players if player.person_id == person_id)
    remaining = [other for other, person in sorted(others.items()) if not is_former(person.address)]
    try:
        invitations.invite_people(tx, server, games.read(tx, game_id), people.read(tx, person_id), remaining, name)
    except TooMany as refused:
        raise TooMany(
            _("Someone at this table was invited to many tables today."), remedy=_("Try again tomorrow.")
        ) from refused
    return game_id


def _settings(before: GameRow, players: Sequence[PlayerRow]) -> TableSettings:
    return TableSettings(
        kind=before.kind,
        seats=before.seats,
        options=json.loads(before.options),
        pace=before.pace,
        time_off=before.time_off,
        title=before.title,
        bots=tuple(player.bot for player in players if player.bot is not None),
        private=True,
        doubles=before.doubles,
        missed_limit=before.missed_limit,
        grace=before.grace,
        second_chance=before.second_chance,
        going_back=before.going_back,
        successor=before.successor,
        stand_in=before.stand_in,
        hints=before.hints,
        rated=before.rated,
    )


def _key(before: str, number: int) -> str:
    """A key as long as that of any table."""
    return hashlib.sha256(f"rematch {number} of {before}".encode()).hexdigest()[: len(before)]
