"""Blocked players and bans, as rows. `service.people.blocks` decides what a block does."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, insert, or_, select, update

from pbem.store.schema import Ban, Block, Player, table_of

_BAN, _BLOCK, _PLAYER = table_of(Ban), table_of(Block), table_of(Player)
_READER, _OTHER = _PLAYER.alias("reader"), _PLAYER.alias("other")

BLOCKED_SEATS: Final = (
    select(_OTHER.c.seat)
    .join(_READER, and_(_READER.c.game_id == _OTHER.c.game_id, _READER.c.seat == bindparam("of_seat")))
    .join(_BLOCK, and_(_BLOCK.c.person_id == _READER.c.person_id, _BLOCK.c.blocked_id == _OTHER.c.person_id))
    .where(_OTHER.c.game_id == bindparam("of_game"))
)
"""The seats of a table whose players are blocked by the player of one seat."""


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A blocked player, with the name they had at the table where they were blocked."""

    person_id: int
    blocked_id: int
    name: str
    since: datetime


def add(tx: Connection, row: BlockRow) -> None:
    """Block a player. The person must be locked, and must not have blocked them already."""
    values = {"person_id": row.person_id, "blocked_id": row.blocked_id, "name": row.name, "since": row.since}
    tx.execute(insert(_BLOCK), values)


def drop(tx: Connection, person_id: int, blocked_id: int) -> None:
    """Unblock a player."""
    tx.execute(delete(_BLOCK).where(_BLOCK.c.person_id == person_id, _BLOCK.c.blocked_id == blocked_id))


def blocked_by(tx: Connection, person_id: int) -> list[BlockRow]:
    """The players a person has blocked, oldest first."""
    query = select(_BLOCK).where(_BLOCK.c.person_id == person_id).order_by(_BLOCK.c.since, _BLOCK.c.blocked_id)
    return [BlockRow(**row._mapping) for row in tx.execute(query)]


def is_blocked(tx: Connection, person_id: int, other_id: int) -> bool:
    """Whether a person has blocked another."""
    query = select(_BLOCK.c.since).where(_BLOCK.c.person_id == person_id, _BLOCK.c.blocked_id == other_id)
    return tx.execute(query).one_or_none() is not None


def blockers_of(tx: Connection, person_id: int) -> frozenset[int]:
    """The people who have blocked a person."""
    return frozenset(tx.execute(select(_BLOCK.c.person_id).where(_BLOCK.c.blocked_id == person_id)).scalars())


def blocked_seats(tx: Connection, game_id: int, seat: int) -> frozenset[int]:
    """The seats of a table whose players are blocked by the player of this seat."""
    return frozenset(tx.execute(BLOCKED_SEATS, {"of_game": game_id, "of_seat": seat}).scalars())


@dataclass(frozen=True, slots=True)
class BanRow:
    """A ban. `until` is None if it has no end; `lifted_at` is when it was ended early."""

    id: int
    person_id: int
    at: datetime
    until: datetime | None
    reason: str
    lifted_at: datetime | None


def ban(tx: Connection, person_id: int, at: datetime, until: datetime | None, reason: str) -> None:
    """Ban a person, who must be locked."""
    tx.execute(insert(_BAN), {"person_id": person_id, "at": at, "until": until, "reason": reason})


def current_ban(tx: Connection, person_id: int, now: datetime) -> BanRow | None:
    """The person's ban at this moment, the longest if there are several."""
    in_force = (
        _BAN.c.person_id == person_id,
        _BAN.c.lifted_at.is_(None),
        or_(_BAN.c.until.is_(None), _BAN.c.until > now),
    )
    row = tx.execute(select(_BAN).where(*in_force).order_by(_BAN.c.until.desc(), _BAN.c.id.desc())).first()
    return None if row is None else BanRow(**row._mapping)


def lift_ban(tx: Connection, person_id: int, now: datetime) -> None:
    """Lift all bans of a person."""
    tx.execute(update(_BAN).where(_BAN.c.person_id == person_id, _BAN.c.lifted_at.is_(None)).values(lifted_at=now))


def bans_of(tx: Connection, person_id: int) -> list[BanRow]:
    """All bans of a person, newest first."""
    query = select(_BAN).where(_BAN.c.person_id == person_id).order_by(_BAN.c.id.desc())
    return [BanRow(**row._mapping) for row in tx.execute(query)]
