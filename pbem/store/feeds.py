"""Rows for feeds, each in one statement: programs poll them many times a day, so only the end of a game is read."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from pbem.domain.hash_chain import Row
from pbem.domain.states import TableStatus
from pbem.store import queries
from pbem.store.schema import DEADLINE, FORMER_PLAYER, GAME, LOG, PLAYER


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
    """A person's turns due after this moment, among the last `turns` of each table, by deadline.

    Those of a seat's former players are not among them: they would tell how long these had.
    """
    at_seat = and_(PLAYER.c.game_id == DEADLINE.c.game_id, PLAYER.c.seat == DEADLINE.c.seat)
    left = select(FORMER_PLAYER.c.turn).where(
        FORMER_PLAYER.c.game_id == DEADLINE.c.game_id,
        FORMER_PLAYER.c.seat == DEADLINE.c.seat,
        FORMER_PLAYER.c.turn > DEADLINE.c.turn,
    )
    query = (
        select(
            GAME.c.key, GAME.c.title, *(DEADLINE.c[name] for name in ("turn", "seat", "status", "asked_at", "due_at"))
        )
        .join_from(PLAYER, GAME, GAME.c.id == PLAYER.c.game_id)
        .join(DEADLINE, at_seat)
        .where(
            PLAYER.c.person_id == person_id,
            _is_recent(since),
            DEADLINE.c.turn > GAME.c.turn - turns,
            DEADLINE.c.due_at > since,
            ~left.exists(),
        )
        .order_by(DEADLINE.c.due_at, GAME.c.key, DEADLINE.c.turn, DEADLINE.c.seat)
    )
    return queries.many(tx, TurnRow, query)


def tables(tx: Connection, person_id: int, since: datetime) -> list[TableRow]:
    """A person's tables that are running or ended after this moment."""
    at = select(PLAYER.c.game_id).where(PLAYER.c.person_id == person_id)
    query = (
        select(GAME.c.id, GAME.c.key, GAME.c.kind, GAME.c.title, PLAYER.c.person_id, PLAYER.c.seat, PLAYER.c.name)
        .join(PLAYER, PLAYER.c.game_id == GAME.c.id)
        .where(GAME.c.id.in_(at), _is_recent(since))
        .order_by(GAME.c.id, PLAYER.c.seat)
    )
    tables = []
    for _, rows in groupby(tx.execute(query), key=lambda row: row.id):
        seats = list(rows)
        table, own_seat = seats[0], next(row.seat for row in seats if row.person_id == person_id)
        names = tuple(row.name for row in seats)
        tables.append(TableRow(table.id, table.key, table.kind, table.title, own_seat, names))
    return tables


def ends(
    tx: Connection, keys: dict[int, str], kinds: Collection[str], rows: int, before: datetime
) -> dict[int, list[Row]]:
    """The last rows of these kinds in each game's log, at most `rows`, written up to this moment, oldest first.

    Rows of other kinds are not counted, or what the feed leaves out would tell how many there are.
    """
    own = LOG.alias()
    seq, kind, at = (own.c[name] for name in ("seq", "kind", "at"))
    last = select(seq).where(own.c.game_id == GAME.c.id, kind.in_(kinds), at <= before).order_by(seq.desc())
    first = func.coalesce(last.offset(rows - 1).limit(1).scalar_subquery(), 0)
    query = (
        select(LOG)
        .join(GAME, GAME.c.id == LOG.c.game_id)
        .where(LOG.c.game_id.in_(keys), LOG.c.seq >= first, LOG.c.kind.in_(kinds), LOG.c.at <= before)
        .order_by(LOG.c.game_id, LOG.c.seq)
    )
    ends: dict[int, list[Row]] = {game_id: [] for game_id in keys}
    for row in tx.execute(query):
        fields = dict(row._mapping)
        game_id = fields.pop("game_id")
        ends[game_id].append(Row(game=keys[game_id], **fields))
    return ends


def _is_recent(since: datetime) -> ColumnElement[bool]:
    return or_(GAME.c.status == TableStatus.PLAYING, GAME.c.ended_at > since)
