"""Tables whose log failed its last check, and the next tables to check."""

from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select

from pbem.store import queries
from pbem.store.schema import FLAW, GAME, FlawRow


def next_tables(tx: Connection, game_id: int, limit: int) -> list[int]:
    query = select(GAME.c.id).where(GAME.c.id > game_id, GAME.c.started_at.is_not(None))
    return list(tx.execute(query.order_by(GAME.c.id).limit(limit)).scalars())


def replace(tx: Connection, game_id: int, flaw: FlawRow | None) -> bool:
    """Replace the result of the last check. Returns whether a table is newly flawed."""
    earlier = tx.execute(delete(FLAW).where(FLAW.c.game_id == game_id)).rowcount
    if flaw is not None:
        tx.execute(insert(FLAW), asdict(flaw))
    return flaw is not None and not earlier


def ids(tx: Connection) -> list[int]:
    """The tables whose log failed its last check."""
    return list(tx.execute(select(FLAW.c.game_id).order_by(FLAW.c.game_id)).scalars())


def of_game(tx: Connection, game_id: int) -> FlawRow | None:
    return queries.one(tx, FlawRow, select(FLAW).where(FLAW.c.game_id == game_id))
