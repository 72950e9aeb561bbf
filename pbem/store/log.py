"""The log of a game: appended to, and read forwards or backwards. Statements are built once, and nothing is decided."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from functools import cache
from itertools import chain as _chained
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, and_, bindparam, insert, or_, select

from pbem.domain.hash_chain import Row as ChainRow
from pbem.store import prefetch, queries
from pbem.store.schema import GAME, LOG

_APPEND = insert(LOG)
# A chain row begins with the game's key, which is not a column of the log.
_NAMES = tuple(field.name for field in fields(ChainRow)[1:])
_ROW = tuple(LOG.c[name] for name in _NAMES)
_CHAIN = (
    select(*_ROW)
    .where(LOG.c.game_id == bindparam("of_game"), LOG.c.seq > bindparam("beyond"), LOG.c.seq <= bindparam("until"))
    .order_by(LOG.c.seq)
    .limit(bindparam("most", type_=Integer))
)
_CHAIN_BACK = (
    select(*_ROW)
    .where(LOG.c.game_id == bindparam("of_game"), LOG.c.seq < bindparam("beyond"))
    .order_by(LOG.c.seq.desc())
    .limit(bindparam("most", type_=Integer))
)
_END: Final = 20
"""Rows read first from the end of a log; usually enough."""
_MIDDLE: Final = 220
"""Rows read first from the middle of a log: as many as the longest auction that is shown, so one statement is enough."""
# The rows of a log are numbered without a gap.
ENDS = (
    select(LOG.c.game_id, *_ROW)
    .join(GAME, and_(LOG.c.game_id == GAME.c.id, LOG.c.seq > GAME.c.seq - _END))
    .where(GAME.c.id.in_(bindparam("these", expanding=True)))
    .order_by(LOG.c.game_id, LOG.c.seq)
)
_AFTER_ALL: Final = 2**62
"""Above the number of any row."""
_MOST_AT_ONCE: Final = 500
"""The most rows read with one statement."""


def append(tx: Connection, game_id: int, rows: Iterable[ChainRow]) -> None:
    tx.execute(_APPEND, [{"game_id": game_id} | {name: getattr(row, name) for name in _NAMES} for row in rows])


def chain(tx: Connection, game_id: int, key: str, after: int = 0, until: int | None = None) -> Iterator[ChainRow]:
    """The log after row `after`, to its end or up to row `until`, one row at a time."""
    upto = _AFTER_ALL if until is None else until
    end = prefetch.get(tx, ("end", game_id))
    if end and end[0].seq <= after + 1:
        return (ChainRow(key, *row[1:]) for row in end if after < row.seq <= upto)
    return _chain(tx, _CHAIN, game_id, key, after, at_once=_MOST_AT_ONCE, until=upto)


def chain_back(
    tx: Connection, game_id: int, key: str, kinds: Collection[str] = (), upto: int | None = None
) -> Iterator[ChainRow]:
    """The log from its last row, or row `upto`, backwards, one row at a time; only rows of these kinds, if any are given."""
    statement = _back(tuple(kinds))
    if upto is not None:
        return _chain(tx, statement, game_id, key, upto + 1, at_once=_MIDDLE)
    end = prefetch.get(tx, ("end", game_id))
    if not end:
        return _chain(tx, statement, game_id, key, _AFTER_ALL, at_once=_END)
    last_rows = (ChainRow(key, *row[1:]) for row in reversed(end) if not kinds or row.kind in kinds)
    return _chained(last_rows, _chain(tx, statement, game_id, key, end[0].seq, at_once=_END) if end[0].seq > 1 else ())


def has(tx: Connection, game_id: int, kinds: Collection[str], body_hash: bytes) -> bool:
    """Whether a log has a row of one of these kinds whose body has this hash."""
    return queries.count(tx, LOG, LOG.c.game_id == game_id, LOG.c.kind.in_(kinds), LOG.c.body_hash == body_hash) > 0


@cache
def _back(kinds: tuple[str, ...]) -> Select[Any]:
    """The log backwards, only rows of these kinds. Cached, because every page of a seat asks for it."""
    return _CHAIN_BACK.where(or_(*(LOG.c.kind == kind for kind in kinds))) if kinds else _CHAIN_BACK


def _chain(
    tx: Connection, statement: Select[Any], game_id: int, key: str, beyond: int, at_once: int, **bounds: int
) -> Iterator[ChainRow]:
    # Pages instead of a database cursor: a reader may drop this generator at any time, even after the transaction, when
    # its connection is in other hands. A reader who needs more than the first page probably needs many more rows, so
    # pages grow.
    while True:
        page = tx.execute(statement, {"of_game": game_id, "beyond": beyond, "most": at_once} | bounds).all()
        yield from (ChainRow(key, *row) for row in page)
        if len(page) < at_once:
            return
        beyond, at_once = page[-1].seq, min(10 * at_once, _MOST_AT_ONCE)
