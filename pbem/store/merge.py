"""Moving one person's rows to another, when two addresses belong to the same person.

Emails already queued to the old address stay with it. Whether the two may be merged is decided elsewhere.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Column, Connection, Table, delete, select, update

from pbem.domain.states import EmailStatus
from pbem.store.schema import (
    Ban,
    Block,
    Call,
    Game,
    Invitation,
    JoinRequest,
    Offer,
    Outbox,
    Player,
    Preference,
    Vacation,
    Volunteer,
    table_of,
)

_BLOCK, _GAME, _OFFER, _OUTBOX = table_of(Block), table_of(Game), table_of(Offer), table_of(Outbox)
_PLAYER = table_of(Player)

_ANY_NUMBER: Final[tuple[Column[Any], ...]] = (
    _PLAYER.c.person_id,
    _GAME.c.host_id,
    _OFFER.c.person_id,
    _OFFER.c.taken_by,
    table_of(Ban).c.person_id,
    table_of(Call).c.person_id,
    table_of(Vacation).c.person_id,
)
"""Columns in which a person may occur any number of times."""

_ONCE: Final[tuple[tuple[Column[Any], str], ...]] = (
    (table_of(Invitation).c.person_id, "game_id"),
    (table_of(JoinRequest).c.person_id, "game_id"),
    (table_of(Preference).c.person_id, "game_id"),
    (_BLOCK.c.person_id, "blocked_id"),
    (_BLOCK.c.blocked_id, "person_id"),
)
"""Columns in which a person may occur once beside another value: rows the remaining person has stay as they are."""


def tables_of(tx: Connection, person_id: int) -> dict[int, str]:
    """The tables a person plays at or hosts, with their status."""
    joined = select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person_id)
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id)
    query = select(_GAME.c.id, _GAME.c.status).where(_GAME.c.id.in_(joined.union(hosted))).order_by(_GAME.c.id)
    return {row.id: row.status for row in tx.execute(query)}


def move_rows(tx: Connection, old: int, new: int) -> None:
    """Move all rows of person `old` to person `new`."""
    for column in _ANY_NUMBER:
        tx.execute(update(column.table).where(column == old).values({column.name: new}))
    for column, beside in _ONCE:
        _move_once(tx, column, beside, old, new)
    # Nobody blocks themselves.
    tx.execute(delete(_BLOCK).where(_BLOCK.c.person_id == new, _BLOCK.c.blocked_id == new))
    tx.execute(delete(table_of(Volunteer)).where(table_of(Volunteer).c.person_id == old))


def unsent_emails(tx: Connection, person_id: int) -> list[int]:
    """The ids of unsent emails about tables to a person."""
    unsent = (
        _OUTBOX.c.person_id == person_id,
        _OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST)),
        _OUTBOX.c.game_id.is_not(None),
    )
    return list(tx.execute(select(_OUTBOX.c.id).where(*unsent).order_by(_OUTBOX.c.id)).scalars())


def _move_once(tx: Connection, column: Column[Any], beside: str, old: int, new: int) -> None:
    table: Table = column.table
    other = table.c[beside]
    existing: Iterable[int] = tx.execute(select(other).where(column == new)).scalars().all()
    tx.execute(delete(table).where(column == old, other.in_(existing)))
    tx.execute(update(table).where(column == old).values({column.name: new}))
