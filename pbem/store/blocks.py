"""Whom people do not want to hear, as rows. What that means is `service.blocks`' business."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, insert, or_, select, update

from pbem.store.schema import Ban, Block, Place, table_of

_BAN, _BLOCK, _PLACE = table_of(Ban), table_of(Block), table_of(Place)
_READER, _OTHER = _PLACE.alias("reader"), _PLACE.alias("other")

SEATS: Final = (
    select(_OTHER.c.seat)
    .join(_READER, and_(_READER.c.game_id == _OTHER.c.game_id, _READER.c.seat == bindparam("of_seat")))
    .join(_BLOCK, and_(_BLOCK.c.person_id == _READER.c.person_id, _BLOCK.c.blocked_id == _OTHER.c.person_id))
    .where(_OTHER.c.game_id == bindparam("of_game"))
)
"""The seats at a table whose players that of one seat does not hear."""


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


def who_block(tx: Connection, person_id: int) -> frozenset[int]:
    """Those who do not want to hear a person."""
    return frozenset(tx.execute(select(_BLOCK.c.person_id).where(_BLOCK.c.blocked_id == person_id)).scalars())


def seats(tx: Connection, game_id: int, seat: int) -> frozenset[int]:
    """The seats at a table whose players that of one seat does not hear."""
    return frozenset(tx.execute(SEATS, {"of_game": game_id, "of_seat": seat}).scalars())


@dataclass(frozen=True, slots=True)
class BanRow:
    """One ban. `until` is empty where it has no end; `lifted_at` is when somebody ended it before."""

    id: int
    person_id: int
    at: datetime
    until: datetime | None
    reason: str
    lifted_at: datetime | None


def ban(tx: Connection, person_id: int, at: datetime, until: datetime | None, reason: str) -> None:
    """Somebody is banned. The person is locked."""
    tx.execute(insert(_BAN), {"person_id": person_id, "at": at, "until": until, "reason": reason})


def ban_in_force(tx: Connection, person_id: int, now: datetime) -> BanRow | None:
    """The ban of a person that holds at this moment, the longest where there are several."""
    holds = (_BAN.c.person_id == person_id, _BAN.c.lifted_at.is_(None), or_(_BAN.c.until.is_(None), _BAN.c.until > now))
    row = tx.execute(select(_BAN).where(*holds).order_by(_BAN.c.until.desc(), _BAN.c.id.desc())).first()
    return None if row is None else BanRow(**row._mapping)


def lift_ban(tx: Connection, person_id: int, now: datetime) -> None:
    """No ban of a person holds any more."""
    tx.execute(update(_BAN).where(_BAN.c.person_id == person_id, _BAN.c.lifted_at.is_(None)).values(lifted_at=now))


def bans_of(tx: Connection, person_id: int) -> list[BanRow]:
    """All bans of a person, the newest first."""
    wanted = select(_BAN).where(_BAN.c.person_id == person_id).order_by(_BAN.c.id.desc())
    return [BanRow(**row._mapping) for row in tx.execute(wanted)]
