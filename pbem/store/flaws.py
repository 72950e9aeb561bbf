"""Tables whose record did not check when it was looked at last, and which tables are to be looked at next."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pbem.store.schema import Flaw, Game, table_of

_FLAW, _GAME = table_of(Flaw), table_of(Game)


@dataclass(frozen=True, slots=True)
class FlawRow:
    """What is wrong with the record of a table: in which row of its log it shows, and how."""

    game_id: int
    found_at: datetime
    seq: int
    says: str


def following(tx: Connection, game_id: int, limit: int) -> list[int]:
    """The next tables after this one whose games have begun, in the order of their numbers."""
    wanted = select(_GAME.c.id).where(_GAME.c.id > game_id, _GAME.c.started_at.is_not(None))
    return list(tx.execute(wanted.order_by(_GAME.c.id).limit(limit)).scalars())


def replace(tx: Connection, game_id: int, flaw: FlawRow | None) -> bool:
    """What was found now in place of what was found before; whether something is wrong that was not known."""
    known = tx.execute(delete(_FLAW).where(_FLAW.c.game_id == game_id)).rowcount
    if flaw is not None:
        values = {"game_id": game_id, "found_at": flaw.found_at, "seq": flaw.seq, "says": flaw.says}
        tx.execute(insert(_FLAW), values)
    return flaw is not None and not known


def of_game(tx: Connection, game_id: int) -> FlawRow | None:
    """What is known to be wrong with the record of a table."""
    row = tx.execute(select(_FLAW).where(_FLAW.c.game_id == game_id)).one_or_none()
    return None if row is None else FlawRow(**row._mapping)
