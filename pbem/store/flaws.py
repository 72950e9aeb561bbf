"""Tables whose log failed its last check, and the next tables to check."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pbem.store.schema import Flaw, Game, table_of

_FLAW, _GAME = table_of(Flaw), table_of(Game)


@dataclass(frozen=True, slots=True)
class FlawRow:
    """What is wrong with a table's log, and in which row."""

    game_id: int
    found_at: datetime
    seq: int
    says: str


def next_tables(tx: Connection, game_id: int, limit: int) -> list[int]:
    """The next started tables after this one, by id."""
    query = select(_GAME.c.id).where(_GAME.c.id > game_id, _GAME.c.started_at.is_not(None))
    return list(tx.execute(query.order_by(_GAME.c.id).limit(limit)).scalars())


def replace(tx: Connection, game_id: int, flaw: FlawRow | None) -> bool:
    """Replace the result of the last check. Returns whether a table is newly flawed."""
    known = tx.execute(delete(_FLAW).where(_FLAW.c.game_id == game_id)).rowcount
    if flaw is not None:
        values = {"game_id": game_id, "found_at": flaw.found_at, "seq": flaw.seq, "says": flaw.says}
        tx.execute(insert(_FLAW), values)
    return flaw is not None and not known


def of_game(tx: Connection, game_id: int) -> FlawRow | None:
    """The flaw of a table, if it has one."""
    row = tx.execute(select(_FLAW).where(_FLAW.c.game_id == game_id)).one_or_none()
    return None if row is None else FlawRow(**row._mapping)
