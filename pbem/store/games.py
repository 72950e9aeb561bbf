"""Games, as rows: reading, locking and advancing them.

Statements of a move are built once, at import: building one takes longer than running it. Nothing is decided here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    false,
    func,
    or_,
    select,
    true,
    union_all,
    update,
)

from pbem.domain.states import TableStatus
from pbem.i18n.speech import mark
from pbem.store import prefetch, queries
from pbem.store.links import AT_SEAT, LinkRow
from pbem.store.log import ENDS
from pbem.store.players import OF_PLAYER, SEAT_FIELDS, SeatRow, of_games
from pbem.store.schema import GAME, LINK, PERSON, PLAYER, VIEW, GameRow, ViewRow
from pbem.store.views import LAST_TURN_OF_LINK

_READ = select(GAME).where(GAME.c.id == bindparam("game_id"))
# NO KEY UPDATE on PostgreSQL: checks of foreign keys by others need not wait for the move.
_LOCK = _READ.with_for_update(key_share=True)
_LOCK_FREE = _READ.with_for_update(key_share=True, skip_locked=True)
_ALL = select(GAME).where(GAME.c.id.in_(bindparam("these", expanding=True)))

_NOTHING: Final[Mapping[str, Any]] = {}


_LINK_FIELDS = tuple(LINK.c[name] for name in LinkRow._fields)
_OF_LINK = (
    select(*_LINK_FIELDS, *(GAME.c[name].label(f"game_{name}") for name in GameRow._fields))
    .join_from(LINK, GAME, LINK.c.game_id == GAME.c.id)
    .where(LINK.c.id == bindparam("of_id"))
)
_READ_BY_LINK = _OF_LINK.add_columns(PLAYER.c.person_id.label("player")).join(PLAYER, AT_SEAT, isouter=True)
_VIEW_FIELDS = tuple(VIEW.c[field.name].label(f"view_{field.name}") for field in fields(ViewRow))
_READ_WITH_VIEW = _READ_BY_LINK.add_columns(*_VIEW_FIELDS).join(
    VIEW,
    and_(VIEW.c.game_id == LINK.c.game_id, VIEW.c.seat == LINK.c.seat, VIEW.c.turn == LAST_TURN_OF_LINK),
    isouter=True,
)
# The player and the link are locked too, after the game: PostgreSQL would show an unlocked row as it was before the wait
# for the game, and a link could be revoked in that time.
_LOCK_BY_LINK = (
    _OF_LINK.add_columns(*(column.label(f"seat_{column.name}") for column in SEAT_FIELDS))
    .join(PLAYER, AT_SEAT)
    .join(PERSON, OF_PLAYER, isouter=True)
    .with_for_update(of=(GAME, PLAYER, LINK), key_share=True)
)


def read(tx: Connection, game_id: int) -> GameRow:
    """A game. Raises NotFound."""
    return prefetch.get_or_read(tx, ("game", game_id), lambda: _one(tx, _READ, game_id))


def read_ahead(tx: Connection, game_ids: Collection[int]) -> None:
    """Read ahead these games, their players and the last rows of their logs."""
    for row in tx.execute(_ALL, {"these": list(game_ids)}):
        prefetch.put(tx, ("game", row.id), GameRow(*row))
    for game_id, players in of_games(tx, game_ids).items():
        prefetch.put(tx, ("players", game_id), players)
    ends: dict[int, list[Row[Any]]] = {game_id: [] for game_id in game_ids}
    for end in tx.execute(ENDS, {"these": list(game_ids)}):
        ends[end.game_id].append(end)
    for game_id, rows in ends.items():
        prefetch.put(tx, ("end", game_id), rows)


def lock(tx: Connection, game_id: int) -> GameRow:
    """Lock a game. Raises NotFound."""
    return _one(tx, _LOCK, game_id)


def read_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """These games, unlocked, by id."""
    return queries.by_id(tx, GameRow, GAME, game_ids)


def read_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, int | None, GameRow] | None:
    """A link, who plays its seat now, and its game, in one statement; None if there is no such link, or it has no game."""
    row = tx.execute(_READ_BY_LINK, {"of_id": link_id}).one_or_none()
    if row is None:
        return None
    link, game = _linked(row[:-1])
    return link, row.player, game


def read_with_view(tx: Connection, link_id: int) -> tuple[LinkRow, int | None, GameRow, ViewRow | None] | None:
    """The same with the last stored view of the link's seat, if there is any."""
    row = tx.execute(_READ_WITH_VIEW, {"of_id": link_id}).one_or_none()
    if row is None:
        return None
    upto = len(row) - len(_VIEW_FIELDS)
    link, game = _linked(row[: upto - 1])
    return link, row.player, game, None if row.view_seq is None else ViewRow(*row[upto:])


def lock_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """Lock these games in the order of their ids, so that two transactions cannot wait for each other."""
    query = select(GAME).where(GAME.c.id.in_(game_ids)).order_by(GAME.c.id).with_for_update(key_share=True)
    return {row.id: GameRow(*row) for row in tx.execute(query)} if game_ids else {}


def lock_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, int | None, GameRow, SeatRow] | None:
    """A link, who plays its seat now, its game and its seat, all locked by one statement; None also without a seat."""
    row = tx.execute(_LOCK_BY_LINK, {"of_id": link_id}).one_or_none()
    if row is None:
        return None
    link, game = _linked(row[: -len(SEAT_FIELDS)])
    player = SeatRow._make(row[-len(SEAT_FIELDS) :])
    return link, player.person_id, game, player


def lock_if_free(tx: Connection, game_id: int) -> GameRow | None:
    """Lock a game, or return None if another transaction has locked it."""
    return queries.one(tx, GameRow, _LOCK_FREE, {"game_id": game_id})


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
    return queries.count(tx, GAME)


def rows(tx: Connection) -> int:
    """The number of rows in all logs, by the games' own counts."""
    return int(tx.execute(select(func.coalesce(func.sum(GAME.c.seq), 0))).scalar_one())


def ids_with_status(tx: Connection, status: str) -> list[int]:
    """The ids of games with this status, oldest first."""
    return _ids(tx, GAME.c.status == status)


def paces(tx: Connection) -> set[str]:
    """The paces of tables that wait or are played."""
    current = (TableStatus.PLANNED, TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN)
    return set(tx.execute(select(GAME.c.pace).where(GAME.c.status.in_(current)).distinct()).scalars())


def halted(tx: Connection) -> list[int]:
    """The ids of games the server has stopped, oldest first."""
    return _ids(tx, GAME.c.status == TableStatus.FROZEN, GAME.c.halted.is_not(None))


Versions = Mapping[str, tuple[int, int]]
"""The oldest and the newest version of the rules that can be played, by kind of game."""


def running_without(tx: Connection, playable: Versions) -> list[int]:
    """The ids of running games by other rules than these."""
    # Each part is a range of an index, which has no rows unless rules are missing.
    parts = (select(GAME.c.id).where(GAME.c.status == TableStatus.PLAYING, part) for part in _outside(playable))
    return sorted(tx.execute(union_all(*parts)).scalars())


def halted_with(tx: Connection, cause: str, playable: Versions) -> list[int]:
    """The ids of games by these rules that the server stopped for this cause."""
    return _ids(tx, GAME.c.status == TableStatus.FROZEN, GAME.c.halted == cause, _played_by(playable))


def _played_by(playable: Versions) -> ColumnElement[bool]:
    of_kinds = (
        and_(GAME.c.kind == kind, GAME.c.rules.between(oldest, newest)) for kind, (oldest, newest) in playable.items()
    )
    return or_(false(), *of_kinds)


def _outside(playable: Versions) -> Iterator[ColumnElement[bool]]:
    """The ranges of kinds and rules that lie between these, and before and after them."""
    kind, kinds = GAME.c.kind, sorted(playable)
    for name in kinds:
        oldest, newest = playable[name]
        yield and_(kind == name, GAME.c.rules < oldest)
        yield and_(kind == name, GAME.c.rules > newest)
    for before, after in pairwise((None, *kinds, None)):
        ends = [kind > before] if before is not None else []
        ends += [kind < after] if after is not None else []
        yield and_(true(), *ends)


def ids(tx: Connection) -> list[int]:
    """The ids of all games, oldest first."""
    return _ids(tx)


def _ids(tx: Connection, *conditions: ColumnElement[bool]) -> list[int]:
    return list(tx.execute(select(GAME.c.id).where(*conditions).order_by(GAME.c.id)).scalars())


@cache
def _advancing(names: tuple[str, ...], along: tuple[Insert | Update, ...]) -> Update:
    # There are only a handful, and building a statement takes longer than running it.
    changed = {name: bindparam(f"new_{name}", type_=GAME.c[name].type) for name in names}
    at = (GAME.c.id == bindparam("of_id"), GAME.c.seq == bindparam("old_seq"))
    others = (statement.cte(f"also_{number}") for number, statement in enumerate(along))
    return update(GAME).where(*at).values(changed).add_cte(*others)


def _linked(row: Sequence[Any]) -> tuple[LinkRow, GameRow]:
    return LinkRow._make(row[: len(_LINK_FIELDS)]), GameRow._make(row[len(_LINK_FIELDS) :])


def _one(tx: Connection, query: Select[Any], game_id: int) -> GameRow:
    return queries.only(tx, GameRow, query, mark("There is no such game here."), {"game_id": game_id})
