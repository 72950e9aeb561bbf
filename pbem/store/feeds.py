"""What feeds are made of: the turns of a person and what happened at their tables, lately, in one statement each.

A feed is asked for many times a day by programs that nobody watches, so it reads the end of each table and never all of it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from pbem.domain.hash_chain import Row
from pbem.store.schema import Deadline, Game, Log, Place, table_of

_DEADLINE, _GAME, _LOG, _PLACE = table_of(Deadline), table_of(Game), table_of(Log), table_of(Place)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What a person is or was asked at a table, and until when."""

    key: str
    title: str
    turn: int
    seat: int
    status: str
    asked_at: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table of a person's that is played, or was lately, with the names on its seats in their order."""

    id: int
    key: str
    kind: str
    title: str
    seat: int
    names: tuple[str, ...]


def turns(tx: Connection, person_id: int, since: datetime, turns: int) -> list[TurnRow]:
    """A person's turns in the last turns of each table that are due after a moment, by when they are."""
    mine = and_(_PLACE.c.game_id == _DEADLINE.c.game_id, _PLACE.c.seat == _DEADLINE.c.seat)
    wanted = (
        select(
            _GAME.c.key,
            _GAME.c.title,
            _DEADLINE.c.turn,
            _DEADLINE.c.seat,
            _DEADLINE.c.status,
            _DEADLINE.c.asked_at,
            _DEADLINE.c.due_at,
        )
        .join_from(_PLACE, _GAME, _GAME.c.id == _PLACE.c.game_id)
        .join(_DEADLINE, mine)
        .where(
            _PLACE.c.person_id == person_id,
            _lately(since),
            _DEADLINE.c.turn > _GAME.c.turn - turns,
            _DEADLINE.c.due_at > since,
        )
        .order_by(_DEADLINE.c.due_at, _GAME.c.key, _DEADLINE.c.turn, _DEADLINE.c.seat)
    )
    return [TurnRow(*row) for row in tx.execute(wanted)]


def tables(tx: Connection, person_id: int, since: datetime) -> list[TableRow]:
    """The tables of a person's that are played, or have ended after a moment."""
    at = select(_PLACE.c.game_id).where(_PLACE.c.person_id == person_id)
    wanted = (
        select(_GAME.c.id, _GAME.c.key, _GAME.c.kind, _GAME.c.title, _PLACE.c.person_id, _PLACE.c.seat, _PLACE.c.name)
        .join(_PLACE, _PLACE.c.game_id == _GAME.c.id)
        .where(_GAME.c.id.in_(at), _lately(since))
        .order_by(_GAME.c.id, _PLACE.c.seat)
    )
    found = []
    for _, rows in groupby(tx.execute(wanted), key=lambda row: row.id):
        seats = list(rows)
        table, mine = seats[0], next(row.seat for row in seats if row.person_id == person_id)
        names = tuple(row.name for row in seats)
        found.append(TableRow(table.id, table.key, table.kind, table.title, mine, names))
    return found


def ends(
    tx: Connection, keys: dict[int, str], kinds: Collection[str], rows: int, before: datetime
) -> dict[int, list[Row]]:
    """The rows of some kinds among the last of each game's log that were written before a moment, the first first."""
    wanted = (
        select(_LOG)
        .join(_GAME, _GAME.c.id == _LOG.c.game_id)
        .where(_LOG.c.game_id.in_(keys), _LOG.c.seq > _GAME.c.seq - rows, _LOG.c.kind.in_(kinds), _LOG.c.at <= before)
        .order_by(_LOG.c.game_id, _LOG.c.seq)
    )
    found: dict[int, list[Row]] = {game_id: [] for game_id in keys}
    for row in tx.execute(wanted):
        fields = dict(row._mapping)
        game_id = fields.pop("game_id")
        found[game_id].append(Row(game=keys[game_id], **fields))
    return found


def _lately(since: datetime) -> ColumnElement[bool]:
    return or_(_GAME.c.status == "playing", _GAME.c.ended_at > since)
