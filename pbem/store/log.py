"""The log of a game: its rows, appended, and read forwards or from the end back.

The statements are built once, when this module is loaded. This module must never decide anything.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from functools import cache
from itertools import chain as _chained
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    insert,
    or_,
    select,
)

from pbem.domain.hash_chain import Row as ChainRow
from pbem.store import prefetch
from pbem.store.schema import Game, Log, table_of

_GAME, _LOG = table_of(Game), table_of(Log)

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
# The rows of a log are numbered without a gap.
ENDS = (
    select(_LOG.c.game_id, *_ROW)
    .join(_GAME, and_(_LOG.c.game_id == _GAME.c.id, _LOG.c.seq > _GAME.c.seq - _END))
    .where(_GAME.c.id.in_(bindparam("these", expanding=True)))
    .order_by(_LOG.c.game_id, _LOG.c.seq)
)
_AFTER_ALL: Final = 2**62
"""No row of a log has this number."""
_MOST_AT_ONCE: Final = 500
"""Rows of a log that are read with one statement."""


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


def chain(tx: Connection, game_id: int, key: str, after: int = 0, until: int | None = None) -> Iterator[ChainRow]:
    """The log after a row, to its end or up to another row, one row at a time."""
    upto = _AFTER_ALL if until is None else until
    end = prefetch.get(tx, ("end", game_id))
    if end and end[0].seq <= after + 1:
        return (ChainRow(key, *row[1:]) for row in end if after < row.seq <= upto)
    return _chain(tx, _CHAIN, game_id, key, after, at_once=_MOST_AT_ONCE, until=upto)


def chain_back(tx: Connection, game_id: int, key: str, kinds: Collection[str] = ()) -> Iterator[ChainRow]:
    """The log from its last row back, one row at a time: for whoever needs only what happened lately.

    Where kinds are named, it is read as if there were no rows of others.
    """
    statement = _back(tuple(kinds))
    end = prefetch.get(tx, ("end", game_id))
    if not end:
        return _chain(tx, statement, game_id, key, _AFTER_ALL, at_once=_END)
    lately = (ChainRow(key, *row[1:]) for row in reversed(end) if not kinds or row.kind in kinds)
    return _chained(lately, _chain(tx, statement, game_id, key, end[0].seq, at_once=_END) if end[0].seq > 1 else ())


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
