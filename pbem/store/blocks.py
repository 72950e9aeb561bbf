"""Blocked players and bans, as rows. `service.people.blocks` decides what a block does."""

from dataclasses import asdict
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, insert, or_, select, update

from pbem.store import queries
from pbem.store.schema import BAN, BLOCK, PLAYER, BanRow, BlockRow

_READER, _OTHER = PLAYER.alias("reader"), PLAYER.alias("other")

BLOCKED_SEATS: Final = (
    select(_OTHER.c.seat)
    .join(_READER, and_(_READER.c.game_id == _OTHER.c.game_id, _READER.c.seat == bindparam("of_seat")))
    .join(BLOCK, and_(BLOCK.c.person_id == _READER.c.person_id, BLOCK.c.blocked_id == _OTHER.c.person_id))
    .where(_OTHER.c.game_id == bindparam("of_game"))
)
"""The seats of a table whose players are blocked by the player of one seat."""


def add(tx: Connection, row: BlockRow) -> None:
    """Block a player. The person must be locked, and must not have blocked them already."""
    tx.execute(insert(BLOCK), asdict(row))


def drop(tx: Connection, person_id: int, blocked_id: int) -> None:
    tx.execute(delete(BLOCK).where(BLOCK.c.person_id == person_id, BLOCK.c.blocked_id == blocked_id))


def blocked_by(tx: Connection, person_id: int) -> list[BlockRow]:
    """The players a person has blocked, oldest first."""
    query = select(BLOCK).where(BLOCK.c.person_id == person_id).order_by(BLOCK.c.since, BLOCK.c.blocked_id)
    return queries.many(tx, BlockRow, query)


def is_blocked(tx: Connection, person_id: int, other_id: int) -> bool:
    query = select(BLOCK.c.since).where(BLOCK.c.person_id == person_id, BLOCK.c.blocked_id == other_id)
    return tx.execute(query).one_or_none() is not None


def blockers_of(tx: Connection, person_id: int) -> frozenset[int]:
    """The people who have blocked a person."""
    return frozenset(tx.execute(select(BLOCK.c.person_id).where(BLOCK.c.blocked_id == person_id)).scalars())


def blocked_seats(tx: Connection, game_id: int, seat: int) -> frozenset[int]:
    """The seats of a table whose players are blocked by the player of this seat."""
    return frozenset(tx.execute(BLOCKED_SEATS, {"of_game": game_id, "of_seat": seat}).scalars())


def blocked_people(tx: Connection, game_id: int, seat: int) -> frozenset[int]:
    """The people blocked by the player of a seat."""
    of_seat = and_(PLAYER.c.person_id == BLOCK.c.person_id, PLAYER.c.game_id == game_id, PLAYER.c.seat == seat)
    return frozenset(tx.execute(select(BLOCK.c.blocked_id).join(PLAYER, of_seat)).scalars())


def ban(tx: Connection, person_id: int, at: datetime, until: datetime | None, reason: str) -> None:
    """Ban a person, who must be locked."""
    tx.execute(insert(BAN), {"person_id": person_id, "at": at, "until": until, "reason": reason})


def current_ban(tx: Connection, person_id: int, now: datetime) -> BanRow | None:
    """The person's ban at this moment, the longest if there are several."""
    in_force = (BAN.c.person_id == person_id, BAN.c.lifted_at.is_(None), or_(BAN.c.until.is_(None), BAN.c.until > now))
    longest = select(BAN).where(*in_force).order_by(BAN.c.until.desc(), BAN.c.id.desc()).limit(1)
    return queries.one(tx, BanRow, longest)


def lift_ban(tx: Connection, person_id: int, now: datetime) -> None:
    tx.execute(update(BAN).where(BAN.c.person_id == person_id, BAN.c.lifted_at.is_(None)).values(lifted_at=now))


def bans_of(tx: Connection, person_id: int) -> list[BanRow]:
    """All bans of a person, newest first."""
    query = select(BAN).where(BAN.c.person_id == person_id).order_by(BAN.c.id.desc())
    return queries.many(tx, BanRow, query)
