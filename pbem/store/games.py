"""The rows of a game: its snapshot, its log and who sits where.

The statements of the move are built once, when this module is loaded: building them for every call costs more than the
disk does. This module must never decide anything.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from itertools import chain as _chained
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Connection,
    Insert,
    Integer,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)

from pbem.domain.chain import Row as ChainRow
from pbem.domain.errors import NotFound
from pbem.domain.speech import gettext as _
from pbem.store import ahead
from pbem.store.links import LinkRow
from pbem.store.schema import Game, Link, Log, Person, Place, table_of

_GAME, _LINK, _LOG = table_of(Game), table_of(Link), table_of(Log)
_PERSON, _PLACE = table_of(Person), table_of(Place)

_READ = select(_GAME).where(_GAME.c.id == bindparam("game_id"))
# NO KEY UPDATE on PostgreSQL: checks of foreign keys by others need not wait for the move.
_LOCK = _READ.with_for_update(key_share=True)
_LOCK_FREE = _READ.with_for_update(key_share=True, skip_locked=True)
_APPEND = insert(_LOG)
# A row of a chain has the game's name first, which is not in the log.
_ROW = tuple(_LOG.c[field.name] for field in fields(ChainRow)[1:])
_CHAIN = (
    select(*_ROW)
    .where(
        _LOG.c.game_id == bindparam("of_game"),
        _LOG.c.seq > bindparam("beyond"),
        _LOG.c.seq <= bindparam("until"),
    )
    .order_by(_LOG.c.seq)
    .limit(bindparam("most", type_=Integer))
)
_CHAIN_BACK = (
    select(*_ROW)
    .where(_LOG.c.game_id == bindparam("of_game"), _LOG.c.seq < bindparam("beyond"))
    .order_by(_LOG.c.seq.desc())
    .limit(bindparam("most", type_=Integer))
)
_END: Final = 20
"""Rows at the end of a log that are read first, because they are probably enough."""
_ALL = select(_GAME).where(_GAME.c.id.in_(bindparam("these", expanding=True)))
# The rows of a log are numbered without a gap.
_ENDS = (
    select(_LOG.c.game_id, *_ROW)
    .join(_GAME, and_(_LOG.c.game_id == _GAME.c.id, _LOG.c.seq > _GAME.c.seq - _END))
    .where(_GAME.c.id.in_(bindparam("these", expanding=True)))
    .order_by(_LOG.c.game_id, _LOG.c.seq)
)
_AFTER_ALL: Final = 2**62
"""No row of a log has this number."""
_MOST_AT_ONCE: Final = 500
"""Rows of a log that are read with one statement."""

_NOTHING: Final[Mapping[str, Any]] = {}
_SILENT = (
    update(_PLACE)
    .where(_PLACE.c.game_id == bindparam("of_game"), _PLACE.c.seat == bindparam("of_seat"))
    .values(silent=bindparam("times"))
)


class GameRow(NamedTuple):
    """One table as it is stored. The texts are canonical JSON."""

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
    silent_limit: int
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
    window: int
    head: bytes
    entry_head: bytes
    state: str
    box: str
    orders: str

    def __repr__(self) -> str:
        # The secret makes every card of the game known, and a trace or a log must never show it.
        return f"GameRow(id={self.id}, kind={self.kind!r}, status={self.status!r}, seq={self.seq})"


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """Who takes part, in the order of joining."""

    game_id: int
    place: int
    seat: int | None
    person_id: int | None
    bot: str | None
    name: str
    word: str
    joined_at: datetime
    silent: int


class SeatRow(NamedTuple):
    """What a move has to know of its seat: who plays it, and how many turns in a row they have let pass.

    `sealed` says whether whoever plays it is told that a sealed choice is in; of a bot there is nothing to say.
    """

    seat: int
    person_id: int | None
    bot: str | None
    silent: int
    sealed: bool | None


_LINK_FIELDS = tuple(_LINK.c[name] for name in LinkRow._fields)
_PLACES = (
    select(*(_PLACE.c[field.name] for field in fields(PlaceRow)))
    .where(_PLACE.c.game_id == bindparam("of_game"))
    .order_by(_PLACE.c.place)
)
_SEAT_FIELDS = (_PLACE.c.seat, _PLACE.c.person_id, _PLACE.c.bot, _PLACE.c.silent, _PERSON.c.sealed)
_PLAYER = _PERSON.c.id == _PLACE.c.person_id
_SEAT = (
    select(*_SEAT_FIELDS)
    .join_from(_PLACE, _PERSON, _PLAYER, isouter=True)
    .where(_PLACE.c.game_id == bindparam("of_game"), _PLACE.c.seat == bindparam("of_seat"))
)
_READ_BY_LINK = (
    select(*_LINK_FIELDS, *(_GAME.c[name].label(f"game_{name}") for name in GameRow._fields))
    .join_from(_LINK, _GAME, _LINK.c.game_id == _GAME.c.id)
    .where(_LINK.c.id == bindparam("of_id"))
)
# The place is locked as well: of a row that is not, PostgreSQL would show what was there before it waited for the game.
_LOCK_BY_LINK = (
    _READ_BY_LINK.add_columns(*(column.label(f"seat_{column.name}") for column in _SEAT_FIELDS))
    .join(_PLACE, and_(_PLACE.c.game_id == _LINK.c.game_id, _PLACE.c.seat == _LINK.c.seat))
    .join(_PERSON, _PLAYER, isouter=True)
    .with_for_update(of=(_GAME, _PLACE), key_share=True)
)


def read(tx: Connection, game_id: int) -> GameRow:
    """The game; not found if there is none."""
    return ahead.one(tx, ("game", game_id), lambda: _one(tx.execute(_READ, {"game_id": game_id}).one_or_none()))


def read_ahead(tx: Connection, game_ids: Collection[int]) -> None:
    """Read ahead these games, who takes part, and the last rows of their logs."""
    for row in tx.execute(_ALL, {"these": list(game_ids)}):
        ahead.put(tx, ("game", row.id), GameRow(**row._mapping))
    for game_id, found in places_of(tx, game_ids).items():
        ahead.put(tx, ("places", game_id), found)
    ends: dict[int, list[Row[Any]]] = {game_id: [] for game_id in game_ids}
    for end in tx.execute(_ENDS, {"these": list(game_ids)}):
        ends[end.game_id].append(end)
    for game_id, rows in ends.items():
        ahead.put(tx, ("end", game_id), rows)


def lock(tx: Connection, game_id: int) -> GameRow:
    """The game, which nobody else can change until this transaction ends."""
    return _one(tx.execute(_LOCK, {"game_id": game_id}).one_or_none())


def read_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """These games, not locked, by their numbers."""
    wanted = select(_GAME).where(_GAME.c.id.in_(game_ids))
    return {row.id: GameRow(**row._mapping) for row in tx.execute(wanted)}


def read_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, GameRow] | None:
    """A link and the game that it is about, in one statement; None where there is no such link, or no game."""
    row = tx.execute(_READ_BY_LINK, {"of_id": link_id}).one_or_none()
    return None if row is None else _linked(row)


def lock_all(tx: Connection, game_ids: Collection[int]) -> dict[int, GameRow]:
    """These games, locked in the order of their numbers, so that no two who lock several wait for each other."""
    wanted = select(_GAME).where(_GAME.c.id.in_(game_ids)).order_by(_GAME.c.id).with_for_update(key_share=True)
    return {row.id: GameRow(**row._mapping) for row in tx.execute(wanted)} if game_ids else {}


def lock_by_link(tx: Connection, link_id: int) -> tuple[LinkRow, GameRow, SeatRow] | None:
    """The same, with the game locked, and the seat that the link is for; None also where it is for no seat."""
    row = tx.execute(_LOCK_BY_LINK, {"of_id": link_id}).one_or_none()
    if row is None:
        return None
    link, game = _linked(row[: -len(_SEAT_FIELDS)])
    return link, game, SeatRow._make(row[-len(_SEAT_FIELDS) :])


def lock_if_free(tx: Connection, game_id: int) -> GameRow | None:
    """The game, or None if somebody else is at it just now."""
    row = tx.execute(_LOCK_FREE, {"game_id": game_id}).one_or_none()
    return None if row is None else GameRow(**row._mapping)


def places(tx: Connection, game_id: int) -> list[PlaceRow]:
    """Who takes part, in the order of joining."""
    return ahead.one(
        tx, ("places", game_id), lambda: [PlaceRow(*row) for row in tx.execute(_PLACES, {"of_game": game_id})]
    )


def seat(tx: Connection, game_id: int, seat: int) -> SeatRow | None:
    """Who plays a seat: as much of it as a move needs."""
    row = tx.execute(_SEAT, {"of_game": game_id, "of_seat": seat}).one_or_none()
    return None if row is None else SeatRow._make(row)


def places_of(tx: Connection, game_ids: Collection[int]) -> dict[int, list[PlaceRow]]:
    """Who takes part in each of these games, in the order of joining."""
    wanted = select(_PLACE).where(_PLACE.c.game_id.in_(game_ids)).order_by(_PLACE.c.game_id, _PLACE.c.place)
    found: dict[int, list[PlaceRow]] = {game_id: [] for game_id in game_ids}
    for row in tx.execute(wanted):
        found[row.game_id].append(PlaceRow(**row._mapping))
    return found


def append(tx: Connection, game_id: int, rows: Iterable[ChainRow]) -> None:
    """Add rows to the log."""
    tx.execute(
        _APPEND,
        [
            {
                "game_id": game_id,
                "seq": row.seq,
                "kind": row.kind,
                "seat": row.seat,
                "by": row.by,
                "at": row.at,
                "rules": row.rules,
                "body": row.body,
                "nonce": row.nonce,
                "body_hash": row.body_hash,
                "hash": row.hash,
            }
            for row in rows
        ],
    )


def advance(
    tx: Connection,
    game: GameRow,
    new: Mapping[str, Any],
    along: tuple[Insert | Update, ...] = (),
    values: Mapping[str, Any] = _NOTHING,
) -> None:
    """Write what the rows just added have changed in the snapshot, and what else is to be written along with that.

    PostgreSQL does all of it in one statement: each is a message to another process and its answer, which takes longer
    than what is done.
    """
    changed = {f"new_{name}": value for name, value in new.items()}
    if tx.dialect.name != "postgresql":
        for statement in along:
            tx.execute(statement, values)
        along, values = (), _NOTHING
    done = tx.execute(_advancing(tuple(new), along), {"of_id": game.id, "old_seq": game.seq, **changed, **values})
    assert done.rowcount == 1, "the game moved on under its lock"


def chain(tx: Connection, game_id: int, key: str, after: int = 0, until: int | None = None) -> Iterator[ChainRow]:
    """The log after a row, to its end or up to another row, one row at a time."""
    upto = _AFTER_ALL if until is None else until
    end = ahead.get(tx, ("end", game_id))
    if end and end[0].seq <= after + 1:
        return (ChainRow(key, *row[1:]) for row in end if after < row.seq <= upto)
    return _chain(tx, _CHAIN, game_id, key, after, at_once=_MOST_AT_ONCE, until=upto)


def chain_back(tx: Connection, game_id: int, key: str, kinds: Collection[str] = ()) -> Iterator[ChainRow]:
    """The log from its last row back, one row at a time: for whoever needs only what happened lately.

    Where kinds are named, it is read as if there were no rows of others.
    """
    statement = _back(tuple(kinds))
    end = ahead.get(tx, ("end", game_id))
    if not end:
        return _chain(tx, statement, game_id, key, _AFTER_ALL, at_once=_END)
    lately = (ChainRow(key, *row[1:]) for row in reversed(end) if not kinds or row.kind in kinds)
    return _chained(lately, _chain(tx, statement, game_id, key, end[0].seq, at_once=_END) if end[0].seq > 1 else ())


def set_silent(tx: Connection, game_id: int, seat: int, times: int) -> None:
    """Note how many turns in a row this seat has let pass."""
    tx.execute(_SILENT, {"of_game": game_id, "of_seat": seat, "times": times})


def count(tx: Connection) -> int:
    """How many games there are."""
    return tx.execute(select(func.count()).select_from(_GAME)).scalar_one()


def rows(tx: Connection) -> int:
    """How many rows all logs have together, as far as the games know."""
    return int(tx.execute(select(func.coalesce(func.sum(_GAME.c.seq), 0))).scalar_one())


def ids_with_status(tx: Connection, status: str) -> list[int]:
    """The games in this state, oldest first."""
    return list(tx.execute(select(_GAME.c.id).where(_GAME.c.status == status).order_by(_GAME.c.id)).scalars())


def ids(tx: Connection) -> list[int]:
    """All games, oldest first."""
    return list(tx.execute(select(_GAME.c.id).order_by(_GAME.c.id)).scalars())


@cache
def _advancing(names: tuple[str, ...], along: tuple[Insert | Update, ...]) -> Update:
    # There are a handful of these, and building a statement takes longer than running it.
    changed = {name: bindparam(f"new_{name}", type_=_GAME.c[name].type) for name in names}
    at = (_GAME.c.id == bindparam("of_id"), _GAME.c.seq == bindparam("old_seq"))
    others = (statement.cte(f"also_{number}") for number, statement in enumerate(along))
    return update(_GAME).where(*at).values(changed).add_cte(*others)


@cache
def _back(kinds: tuple[str, ...]) -> Select[Any]:
    """The log backwards, as if there were no rows of other kinds. Every page of a seat asks for it, so it is built once."""
    return _CHAIN_BACK.where(or_(*(_LOG.c.kind == kind for kind in kinds))) if kinds else _CHAIN_BACK


def _chain(
    tx: Connection, statement: Select[Any], game_id: int, key: str, beyond: int, at_once: int, **bounds: int
) -> Iterator[ChainRow]:
    # Page by page, and no cursor of the database: whoever has read enough drops this generator at any time, also when
    # the transaction is over and its connection serves somebody else. Whoever wants more than a first page of a few
    # rows probably wants many more, and is spared a statement for every few of them.
    while True:
        page = tx.execute(statement, {"of_game": game_id, "beyond": beyond, "most": at_once} | bounds).all()
        yield from (ChainRow(key, *row) for row in page)
        if len(page) < at_once:
            return
        beyond, at_once = page[-1].seq, min(10 * at_once, _MOST_AT_ONCE)


def _linked(row: Sequence[Any]) -> tuple[LinkRow, GameRow]:
    return LinkRow._make(row[: len(_LINK_FIELDS)]), GameRow._make(row[len(_LINK_FIELDS) :])


def _one(row: Row[Any] | None) -> GameRow:
    if row is None:
        raise NotFound(_("There is no such game here."))
    return GameRow(**row._mapping)
