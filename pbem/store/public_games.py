"""Finished public games, as rows: the newest first for lists, the earliest first for the dump."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, literal, select, tuple_

from pbem.i18n.speech import mark
from pbem.store import queries
from pbem.store.games import GameRow
from pbem.store.schema import GAME, IS_PUBLIC_RESULT, ROUND_TABLE, TOURNAMENT

Position = tuple[datetime, str]
"""Where a game is among all finished public ones: when it ended, and its key."""

START: Final[Position] = (datetime(1, 1, 1, tzinfo=UTC), "")
END: Final[Position] = (datetime(9999, 12, 31, tzinfo=UTC), "")
"""Before and after all games. Without a bound, databases would not say that they only read a part of an index."""

_ORDER = (GAME.c.ended_at, GAME.c.key)


def newest(tx: Connection, kind: str, below: Position, limit: int) -> list[GameRow]:
    """The games of a kind, or of all kinds if that is empty, that ended before a position; the newest first."""
    query = select(GAME).where(IS_PUBLIC_RESULT, tuple_(*_ORDER) < tuple_(*map(literal, below)))
    if kind:
        query = query.where(GAME.c.kind == kind)
    return queries.many(tx, GameRow, query.order_by(*(each.desc() for each in _ORDER)).limit(limit))


def earliest(tx: Connection, above: Position, until: datetime, limit: int) -> list[GameRow]:
    """The games that ended after a position, up to a moment; the earliest first."""
    query = select(GAME).where(
        IS_PUBLIC_RESULT, tuple_(*_ORDER) > tuple_(*map(literal, above)), GAME.c.ended_at <= until
    )
    return queries.many(tx, GameRow, query.order_by(*_ORDER).limit(limit))


def position(tx: Connection, key: str) -> Position:
    """The position of a game. Raises NotFound where there is none, and where it isn't public or over."""
    query = select(*_ORDER).where(GAME.c.key == key, IS_PUBLIC_RESULT)
    missing = mark("There's no such place in this list.")
    return queries.only(tx, lambda ended_at, name: (ended_at, name), query, missing)


def in_tournaments(tx: Connection, game_ids: Collection[int]) -> dict[int, tuple[str, int, int]]:
    """The tournaments that these games belong to: the key of each, the round and the table, by the game's id."""
    query = select(ROUND_TABLE.c.game_id, TOURNAMENT.c.key, ROUND_TABLE.c.round, ROUND_TABLE.c.number)
    of_games = query.join(TOURNAMENT, TOURNAMENT.c.id == ROUND_TABLE.c.tournament_id)
    rows = tx.execute(of_games.where(ROUND_TABLE.c.game_id.in_(list(game_ids))))
    return {game_id: (key, number, table) for game_id, key, number, table in rows}
