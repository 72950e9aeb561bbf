"""Summaries of tables for the lobby and for lists: what is agreed, who has joined, how many seats are free.

They are public, so they hold the commitment to a table's secret, never the secret. What a seat sees of a running game
comes from `play.views`.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.conditions import Conditions
from pbem.domain.errors import NotFound
from pbem.domain.missed_turns import second_chance
from pbem.domain.pace import read_pace
from pbem.domain.ratings import Rating
from pbem.domain.reliability import PERIOD, Reliability, reliability
from pbem.domain.results import bot_player
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import games, people, players as player_rows, ratings, reliability as counting, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow

MOST_SHOWN: Final = 100
"""Tables on one page of the lobby, the newest."""

MOST_WATCHED: Final = 6
"""Running tables on the front page, the newest."""


@dataclass(frozen=True, slots=True)
class TableSummary:
    """One table. `people`, `levels`, `reliability` and `ratings` are parallel to `players`, by joining: a bot has a level, and a
    person reliability, unless a list leaves it out. There are ratings at rated tables, of bots and of people who show theirs. `free`
    seats are open to anyone."""

    game_id: int
    key: str
    kind: str
    title: str
    seats: int
    options: dict[str, str | int]
    pace: str
    time_off: int
    private: bool
    doubles: bool
    missed_limit: int
    grace: int
    second_chance: timedelta
    going_back: bool
    successor: str
    stand_in: str
    hints: bool
    rated: bool
    status: str
    host_id: int
    host: str
    players: tuple[str, ...]
    people: tuple[int | None, ...]
    levels: tuple[str | None, ...]
    reliability: tuple[Reliability | None, ...]
    ratings: tuple[Rating | None, ...]
    bots: int
    free: int
    commitment: str
    created_at: datetime
    fewest: int
    starts_at: datetime | None
    conditions: Conditions
    expires_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def open_tables(tx: Tx, server: Server) -> list[TableSummary]:
    """Tables anyone can join, newest first."""
    return summaries(tx, server, tables.public_games(tx, TableStatus.OPEN, limit=MOST_SHOWN))


def public_tables(tx: Tx, server: Server) -> list[TableSummary]:
    """Tables anyone can join, and the latest of those that anyone can watch, newest first."""
    rows = tables.public_games(tx, TableStatus.OPEN, limit=MOST_SHOWN) + tables.public_games(
        tx, TableStatus.PLAYING, limit=MOST_WATCHED
    )
    return summaries(tx, server, rows)


def by_key(tx: Tx, server: Server, key: str) -> TableSummary:
    """The table with this public key. Raises NotFound."""
    row = tables.by_key(tx, key)
    if row is None:
        raise NotFound(_("There's no such table."))
    return of_row(tx, server, row)


def of_row(tx: Tx, server: Server, row: GameRow) -> TableSummary:
    return summaries(tx, server, [row], whole=True)[0]


def by_id(tx: Tx, server: Server, game_id: int) -> TableSummary:
    """The table with this id. Raises NotFound."""
    return of_row(tx, server, games.read(tx, game_id))


def summaries(tx: Tx, server: Server, rows: list[GameRow], *, whole: bool = False) -> list[TableSummary]:
    """Summaries of these tables, in their order and in a fixed number of statements.

    Lists say of tables that wait for players how reliable and how strong these are; of others only the `whole` summary does.
    """
    players = player_rows.of_games(tx, [row.id for row in rows])
    hosts = people.read_all(tx, {row.host_id for row in rows})
    described = [row for row in rows if whole or row.status == TableStatus.OPEN]
    seated = {player.person_id for row in described for player in players[row.id] if player.person_id is not None}
    counts = counting.counts(tx, seated, server.now() - PERIOD)
    records = {person: reliability(count) for person, count in counts.items()}
    rated = _ratings(tx, {row.id: row.kind for row in described if row.rated}, players)
    return [_summary(row, players[row.id], hosts[row.host_id], records, rated) for row in rows]


def _ratings(tx: Tx, kinds: dict[int, str], players: dict[int, list[PlayerRow]]) -> dict[tuple[int, int], Rating]:
    """The ratings that others may see of the players of these tables, by table and number."""
    seated = {(game_id, player.number): player for game_id in kinds for player in players[game_id]}
    shown = people.keys_of_shown(tx, {player.person_id for player in seated.values() if player.person_id is not None})
    keys = {
        at: bot_player(player.bot) if player.bot is not None else shown.get(player.person_id or 0)
        for at, player in seated.items()
    }
    found = ratings.current(tx, {(key, kinds[game_id]) for (game_id, _), key in keys.items() if key is not None})
    return {
        (game_id, number): found[key, kinds[game_id]]
        for (game_id, number), key in keys.items()
        if key is not None and (key, kinds[game_id]) in found
    }


def _summary(
    row: GameRow,
    players: list[PlayerRow],
    host: PersonRow,
    records: dict[int, Reliability],
    rated: dict[tuple[int, int], Rating],
) -> TableSummary:
    host_name = next((player.name for player in players if player.person_id == host.id), host.name)
    seat_for_host = host.confirmed_at is None or all(player.person_id != host.id for player in players)
    return TableSummary(
        game_id=row.id,
        key=row.key,
        kind=row.kind,
        title=row.title,
        seats=row.seats,
        options=json.loads(row.options),
        pace=row.pace,
        time_off=row.time_off,
        private=row.private,
        doubles=row.doubles,
        missed_limit=row.missed_limit,
        grace=row.grace,
        second_chance=second_chance(row.second_chance, read_pace(row.pace)),
        going_back=row.going_back,
        successor=row.successor,
        stand_in=row.stand_in,
        hints=row.hints,
        rated=row.rated,
        status=row.status,
        host_id=host.id,
        host=host_name,
        players=tuple(player.name for player in players),
        people=tuple(player.person_id for player in players),
        levels=tuple(player.bot for player in players),
        reliability=tuple(records.get(player.person_id or 0) for player in players),
        ratings=tuple(rated.get((row.id, player.number)) for player in players),
        bots=sum(player.bot is not None for player in players),
        free=max(row.seats - len(players) - seat_for_host, 0) if row.status == TableStatus.OPEN else 0,
        commitment=row.commitment,
        created_at=row.created_at,
        fewest=row.fewest,
        starts_at=row.starts_at,
        conditions=Conditions.of(row.conditions),
        expires_at=row.expires_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )
