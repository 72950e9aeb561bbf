"""Whom people do not want to hear, as rows. What that means is `service.blocks`' business."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, delete, insert, select

from pbem.store.schema import Block, Place, table_of

_BLOCK, _PLACE = table_of(Block), table_of(Place)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """Somebody who is not heard, under the name at the table where that was wished."""

    person_id: int
    blocked_id: int
    name: str
    since: datetime


def add(tx: Connection, row: BlockRow) -> None:
    """Hear somebody no longer. The person is locked, and has not wished that before."""
    values = {"person_id": row.person_id, "blocked_id": row.blocked_id, "name": row.name, "since": row.since}
    tx.execute(insert(_BLOCK), values)


def drop(tx: Connection, person_id: int, blocked_id: int) -> None:
    """Hear somebody again."""
    tx.execute(delete(_BLOCK).where(_BLOCK.c.person_id == person_id, _BLOCK.c.blocked_id == blocked_id))


def of_person(tx: Connection, person_id: int) -> list[BlockRow]:
    """Whom a person does not hear, the longest first."""
    wanted = select(_BLOCK).where(_BLOCK.c.person_id == person_id).order_by(_BLOCK.c.since, _BLOCK.c.blocked_id)
    return [BlockRow(**row._mapping) for row in tx.execute(wanted)]


def is_blocked(tx: Connection, person_id: int, other_id: int) -> bool:
    """Whether a person does not want to hear another."""
    wanted = select(_BLOCK.c.since).where(_BLOCK.c.person_id == person_id, _BLOCK.c.blocked_id == other_id)
    return tx.execute(wanted).one_or_none() is not None


def seats(tx: Connection, game_id: int, seat: int) -> frozenset[int]:
    """The seats at a table whose players that of one seat does not hear."""
    reader, other = _PLACE.alias("reader"), _PLACE.alias("other")
    wanted = (
        select(other.c.seat)
        .join(reader, and_(reader.c.game_id == other.c.game_id, reader.c.seat == seat))
        .join(_BLOCK, and_(_BLOCK.c.person_id == reader.c.person_id, _BLOCK.c.blocked_id == other.c.person_id))
        .where(other.c.game_id == game_id)
    )
    return frozenset(tx.execute(wanted).scalars())
