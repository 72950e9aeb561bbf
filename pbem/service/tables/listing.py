"""Tables as anybody may see them before they begin, and as a list of one's own: what is agreed, who is there, what is free.

What is shown here is public, so nothing of a table's secret but the commitment passes. What a seat of a running game
sees comes from `views`.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.errors import NotFound
from pbem.domain.reliability import PERIOD, Reliability, reliability
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import games, people, tables
from pbem.store import players as player_rows
from pbem.store import reliability as counting
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow

MOST_SHOWN: Final = 100
"""Tables on one page of the lobby; the newest are of most use."""

_LIVE: Final = ("open", "playing")


@dataclass(frozen=True, slots=True)
class Announced:
    """One table. `players` are the names at it in the order of joining; `people`, who that is, and `reliability` go with them.

    `free` are the places that anybody can have.
    """

    game_id: int
    key: str
    kind: str
    title: str
    seats: int
    options: dict[str, str | int]
    pace: str
    private: bool
    doubles: bool
    missed_limit: int
    successor: str
    status: str
    host_id: int
    host: str
    players: tuple[str, ...]
    people: tuple[int | None, ...]
    reliability: tuple[Reliability | None, ...]
    bots: int
    free: int
    commitment: str
    created_at: datetime
    expires_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def waiting(tx: Tx, server: Server) -> list[Announced]:
    """The tables that anybody can join, the newest first."""
    return _announced(tx, server, tables.open_games(tx, limit=MOST_SHOWN))


def by_key(tx: Tx, server: Server, key: str) -> Announced:
    """The table of that public name."""
    row = tables.by_key(tx, key)
    if row is None:
        raise NotFound(_("There is no such table here."))
    return _announced(tx, server, [row])[0]


def of_row(tx: Tx, server: Server, row: GameRow) -> Announced:
    """The table of a row that was read already."""
    return _announced(tx, server, [row])[0]


def by_id(tx: Tx, server: Server, game_id: int) -> Announced:
    """The table of that number."""
    return of_row(tx, server, games.read(tx, game_id))


def of_person(tx: Tx, server: Server, person_id: int) -> list[Announced]:
    """The tables that a person has opened or plays at, the oldest first."""
    rows = {row.id: row for found in (tables.of_person, tables.hosted_by) for row in found(tx, person_id, _LIVE)}
    return _announced(tx, server, [rows[game_id] for game_id in sorted(rows)])


def _announced(tx: Tx, server: Server, rows: list[GameRow]) -> list[Announced]:
    """All of them by a few statements, however many they are."""
    players = player_rows.of_games(tx, [row.id for row in rows])
    hosts = people.read_all(tx, {row.host_id for row in rows})
    seated = {player.person_id for each in players.values() for player in each if player.person_id is not None}
    counts = counting.counts(tx, seated, server.now() - PERIOD)
    told = {person: reliability(found) for person, found in counts.items()}
    return [_one(row, players[row.id], hosts[row.host_id], told) for row in rows]


def _one(row: GameRow, players: list[PlayerRow], host: PersonRow, told: dict[int, Reliability]) -> Announced:
    at_table = next((player.name for player in players if player.person_id == host.id), host.name)
    kept = host.confirmed_at is None or all(player.person_id != host.id for player in players)
    return Announced(
        game_id=row.id,
        key=row.key,
        kind=row.kind,
        title=row.title,
        seats=row.seats,
        options=json.loads(row.options),
        pace=row.pace,
        private=row.private,
        doubles=row.doubles,
        missed_limit=row.missed_limit,
        successor=row.successor,
        status=row.status,
        host_id=host.id,
        host=at_table,
        players=tuple(player.name for player in players),
        people=tuple(player.person_id for player in players),
        reliability=tuple(None if player.person_id is None else told[player.person_id] for player in players),
        bots=sum(player.bot is not None for player in players),
        free=max(row.seats - len(players) - kept, 0) if row.status == "open" else 0,
        commitment=row.commitment,
        created_at=row.created_at,
        expires_at=row.expires_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )
