"""Rows for feeds: a person's turns and recent events at their tables, each in one statement.

Programs poll feeds many times a day, so only the end of each game is read.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from pbem.domain.hash_chain import Row
from pbem.domain.states import TableStatus
from pbem.store.schema import Deadline, Game, Log, Player, table_of

_DEADLINE, _GAME, _LOG, _PLAYER = table_of(Deadline), table_of(Game), table_of(Log), table_of(Player)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A past or present turn of a person at a table, and its deadline."""

    key: str
    title: str
    turn: int
    seat: int
    status: str
    asked_at: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True)
class TableRow:
    """A running or recent table of a person, with the names on its seats in order."""

    id: int
    key: str
    kind: str
    title: str
    seat: int
    names: tuple[str, ...]


def turns(tx: Connection, person_id: int, since: datetime, turns: int) -> list[TurnRow]:
    """A person's turns due after this moment, among the last `turns` of each table, by deadline."""
    mine = and_(_PLAYER.c.game_id == _DEADLINE.c.game_id, _PLAYER.c.seat == _DEADLINE.c.seat)
    query = (
        select(
            _GAME.c.key,
            _GAME.c.title,
            _DEADLINE.c.turn,
            _DEADLINE.c.seat,
            _DEADLINE.c.status,
            _DEADLINE.c.asked_at,
            _DEADLINE.c.due_at,
        )
        .join_from(_PLAYER, _GAME, _GAME.c.id == _PLAYER.c.game_id)
        .join(_DEADLINE, mine)
        .where(
            _PLAYER.c.person_id == person_id,
            _is_recent(since),
            _DEADLINE.c.turn > _GAME.c.turn - turns,
            _DEADLINE.c.due_at > since,
        )
        .order_by(_DEADLINE.c.due_at, _GAME.c.key, _DEADLINE.c.turn, _DEADLINE.c.seat)
    )
    return [TurnRow(*row) for row in tx.execute(query)]


def tables(tx: Connection, person_id: int, since: datetime) -> list[TableRow]:
    """A person's tables that are running or ended after this moment."""
    at = select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person_id)
    query = (
        select(
            _GAME.c.id, _GAME.c.key, _GAME.c.kind, _GAME.c.title, _PLAYER.c.person_id, _PLAYER.c.seat, _PLAYER.c.name
        )
        .join(_PLAYER, _PLAYER.c.game_id == _GAME.c.id)
        .where(_GAME.c.id.in_(at), _is_recent(since))
        .order_by(_GAME.c.id, _PLAYER.c.seat)
    )
    found = []
    for _, rows in groupby(tx.execute(query), key=lambda row: row.id):
        seats = list(rows)
        table, mine = seats[0], next(row.seat for row in seats if row.person_id == person_id)
        names = tuple(row.name for row in seats)
        found.append(TableRow(table.id, table.key, table.kind, table.title, mine, names))
    return found


def ends(
    tx: Connection, keys: dict[int, str], kinds: Collection[str], rows: int, before: datetime
) -> dict[int, list[Row]]:
    """Rows of these kinds among the last `rows` of each game's log, written up to this moment, oldest first."""
    query = (
        select(_LOG)
        .join(_GAME, _GAME.c.id == _LOG.c.game_id)
        .where(_LOG.c.game_id.in_(keys), _LOG.c.seq > _GAME.c.seq - rows, _LOG.c.kind.in_(kinds), _LOG.c.at <= before)
        .order_by(_LOG.c.game_id, _LOG.c.seq)
    )
    found: dict[int, list[Row]] = {game_id: [] for game_id in keys}
    for row in tx.execute(query):
        fields = dict(row._mapping)
        game_id = fields.pop("game_id")
        found[game_id].append(Row(game=keys[game_id], **fields))
    return found


def _is_recent(since: datetime) -> ColumnElement[bool]:
    return or_(_GAME.c.status == TableStatus.PLAYING, _GAME.c.ended_at > since)
