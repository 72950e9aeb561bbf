"""Votes to end a game without a result, one a seat."""

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pbem.store.schema import Vote, table_of

_VOTE = table_of(Vote)


def add(tx: Connection, game_id: int, seat: int, at: datetime) -> None:
    """A seat agrees. The game is locked, and the seat has not voted yet."""
    tx.execute(insert(_VOTE), {"game_id": game_id, "seat": seat, "at": at})


def drop(tx: Connection, game_id: int, seat: int) -> bool:
    """A seat agrees no longer; False if it did not before."""
    return tx.execute(delete(_VOTE).where(_VOTE.c.game_id == game_id, _VOTE.c.seat == seat)).rowcount == 1


def seats(tx: Connection, game_id: int) -> set[int]:
    """The seats that agree."""
    return set(tx.execute(select(_VOTE.c.seat).where(_VOTE.c.game_id == game_id)).scalars())
