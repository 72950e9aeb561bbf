"""Games, as rows: reading, locking and advancing them.

The statements of a move are built once, when this module is loaded: building one takes longer than running it. This
module must not decide anything.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Insert, Row, Update, and_, bindparam, func, select, update

from pbem.domain.errors import NotFound
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.store import prefetch
from pbem.store.links import LinkRow
from pbem.store.log import ENDS
from pbem.store.players import PLAYER, SEAT_FIELDS, SeatRow, of_games
from pbem.store.schema import Game, Link, Person, Player, table_of

_GAME, _LINK, _PERSON, _PLAYER = table_of(Game), table_of(Link), table_of(Person), table_of(Player)

_READ = select(_GAME).where(_GAME.c.id == bindparam("game_id"))
# NO KEY UPDATE on PostgreSQL: checks of foreign keys by others need not wait for the move.
_LOCK = _READ.with_for_update(key_share=True)
_LOCK_FREE = _READ.with_for_update(key_share=True, skip_locked=True)
_ALL = select(_GAME).where(_GAME.c.id.in_(bindparam("these", expanding=True)))

_NOTHING: Final[Mapping[str, Any]] = {}


class GameRow(NamedTuple):
    """A table as stored. The texts are canonical JSON."""

    id: int
    key: str
    kind: str
    rules: int
    seats: int
    options: str
    title: str
    pace: str
    host_id: int
    private: bool
    doubles: bool
    missed_limit: int
    successor: str
    status: str
    paused: bool
    created_at: datetime
    expires_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    commitment: str
    secret: bytes
    seed: bytes | None
    seq: int
    turn: int
    head: bytes
    entry_head: bytes
    state: str
    box: str
    orders: str
    halted: str | None

    def __repr__(self) -> str:
        # The secret reveals every card of the game, so no trace or log may show it.
        return f"GameRow(id={self.id}, kind={self.kind!r}, status={self.status!r}, seq={self.seq})"


_LINK_FIELDS = tuple(_LINK.c[name] for name in LinkRow._fields)
_READ_BY_LINK = (
    select(*_LINK_FIELDS, *(_GAME.c[name].label(f"game_{name}") for name in GameRow._fields))
    .join_from(_LINK, _GAME, _LINK.c.game_id == _GAME.c.id)
    .where(_LINK.c.id == bindparam("of_id"))
)
# The player is locked too: PostgreSQL would show an unlocked row as it was before the wait for the game.
_LOCK_BY_LINK = (
    _READ_BY_LINK.add_columns(*(column.label(f"seat_{column.name}") for column in SEAT_FIELDS))
    .join(_PLAYER, and_(_PLAYER.c.game_id == _LINK.c.game_id, _PLAYER.c.seat == _LINK.c.seat))
    .join(_PERSON, PLAYER, isouter=True)
    .with_for_update(of=(_GAME, _PLAYER), key_share=True)
)


def read(tx: Connection, game_id: int) -> GameRow:
    """A game. Raises NotFound."""
    return prefetch.get_or_read(
        tx, ("game", game_id), lambda: _one(tx.execute(_READ, {"game_id": game_id}).one_or_none())
    )


def read_ahead(tx: Connection, game_ids: Collection[int]) -> None:
    """Read ahead these games, their players and the last rows of their logs."""
    for row in tx.execute(_ALL, {"these": list(game_ids)}):
        prefetch.put(tx, ("game", row.id), GameRow(**row._mapping))
    for game_id, players in of_games(tx, game_ids).items():
        prefetch.put(tx, ("players", game_id), players)
    ends: dict[int, list[Row[Any]]] = {game_id: [] for game_id in game_ids}
    for end in tx.execute(ENDS, {"these": list(game_ids)}):
        ends[end.game_id].append(end)
    for game_id, rows in ends.items():
        prefetch.put(tx, ("end", game_id), rows)


def lock(tx: Connection, game_id: int) -> GameRow:
    """Lock a game. Raises NotFound."""
    return _one(tx.execute(_LOCK, {"game_id": game_id}).one_or_none())


def read_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """These games, unlocked, by id."""
    query = select(_GAME).where(_GAME.c.id.in_(game_ids))
    return {row.id: GameRow(**row._mapping) for row in tx.execute(query)}


def read_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, GameRow] | None:
    """A link and its game, in one statement; None if there is no such link, or it has no game."""
    row = tx.execute(_READ_BY_LINK, {"of_id": link_id}).one_or_none()
    return None if row is None else _linked(row)


def lock_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """Lock these games in the order of their ids, so that two transactions cannot wait for each other."""
    query = select(_GAME).where(_GAME.c.id.in_(game_ids)).order_by(_GAME.c.id).with_for_update(key_share=True)
    return {row.id: GameRow(**row._mapping) for row in tx.execute(query)} if game_ids else {}


def lock_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, GameRow, SeatRow] | None:
    """A link with its game, locked, and its seat, in one statement; None also for a link without a seat."""
    row = tx.execute(_LOCK_BY_LINK, {"of_id": link_id}).one_or_none()
    if row is None:
        return None
    link, game = _linked(row[: -len(SEAT_FIELDS)])
    return link, game, SeatRow._make(row[-len(SEAT_FIELDS) :])


def lock_if_free(tx: Connection, game_id: int) -> GameRow | None:
    """Lock a game, or return None if another transaction has locked it."""
    row = tx.execute(_LOCK_FREE, {"game_id": game_id}).one_or_none()
    return None if row is None else GameRow(**row._mapping)


def advance(
    tx: Connection,
    game: GameRow,
    new: Mapping[str, Any],
    along: tuple[Insert | Update, ...] = (),
    values: Mapping[str, Any] = _NOTHING,
) -> None:
    """Update the snapshot after rows were added to the log, and run the statements `along` with it.

    On PostgreSQL this is one statement, because a round trip takes longer than the work.
    """
    changes = {f"new_{name}": value for name, value in new.items()}
    if tx.dialect.name != "postgresql":
        for statement in along:
            tx.execute(statement, values)
        along, values = (), _NOTHING
    result = tx.execute(_advancing(tuple(new), along), {"of_id": game.id, "old_seq": game.seq, **changes, **values})
    assert result.rowcount == 1, "the game moved on under its lock"


def count(tx: Connection) -> int:
    """The number of games."""
    return tx.execute(select(func.count()).select_from(_GAME)).scalar_one()


def rows(tx: Connection) -> int:
    """The number of rows in all logs, by the games' own counts."""
    return int(tx.execute(select(func.coalesce(func.sum(_GAME.c.seq), 0))).scalar_one())


def ids_with_status(tx: Connection, status: str) -> list[int]:
    """The ids of games with this status, oldest first."""
    return list(tx.execute(select(_GAME.c.id).where(_GAME.c.status == status).order_by(_GAME.c.id)).scalars())


def halted(tx: Connection) -> list[int]:
    """The ids of games the server has stopped, oldest first."""
    query = select(_GAME.c.id).where(_GAME.c.status == TableStatus.FROZEN, _GAME.c.halted.is_not(None))
    return list(tx.execute(query.order_by(_GAME.c.id)).scalars())


def running_without(tx: Connection, kinds: Collection[str]) -> list[int]:
    """The ids of running games of other kinds than these."""
    query = select(_GAME.c.id).where(_GAME.c.status == TableStatus.PLAYING, _GAME.c.kind.not_in(kinds))
    return list(tx.execute(query.order_by(_GAME.c.id)).scalars())


def halted_with(tx: Connection, cause: str, kinds: Collection[str]) -> list[int]:
    """The ids of games of these kinds that the server stopped for this cause."""
    query = select(_GAME.c.id).where(
        _GAME.c.status == TableStatus.FROZEN, _GAME.c.halted == cause, _GAME.c.kind.in_(kinds)
    )
    return list(tx.execute(query.order_by(_GAME.c.id)).scalars())


def ids(tx: Connection) -> list[int]:
    """The ids of all games, oldest first."""
    return list(tx.execute(select(_GAME.c.id).order_by(_GAME.c.id)).scalars())


@cache
def _advancing(names: tuple[str, ...], along: tuple[Insert | Update, ...]) -> Update:
    # There are only a handful, and building a statement takes longer than running it.
    changed = {name: bindparam(f"new_{name}", type_=_GAME.c[name].type) for name in names}
    at = (_GAME.c.id == bindparam("of_id"), _GAME.c.seq == bindparam("old_seq"))
    others = (statement.cte(f"also_{number}") for number, statement in enumerate(along))
    return update(_GAME).where(*at).values(changed).add_cte(*others)


def _linked(row: Sequence[Any]) -> tuple[LinkRow, GameRow]:
    return LinkRow._make(row[: len(_LINK_FIELDS)]), GameRow._make(row[len(_LINK_FIELDS) :])


def _one(row: Row[Any] | None) -> GameRow:
    if row is None:
        raise NotFound(_("There is no such game here."))
    return GameRow(**row._mapping)
