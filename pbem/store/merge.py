"""What belonged to one person becomes another's, row by row: for two addresses of one and the same person.

What was written to the old address stays with it, because that is where it went. Whether the two may be one, and what else
follows, is decided elsewhere.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Column, Connection, Table, delete, select, update

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

_THEIRS: Final[tuple[Column[Any], ...]] = (
    _PLAYER.c.person_id,
    _GAME.c.host_id,
    _OFFER.c.person_id,
    _OFFER.c.taken_by,
    table_of(Ban).c.person_id,
    table_of(Call).c.person_id,
    table_of(Vacation).c.person_id,
)
"""Where a person may stand any number of times."""

_ONCE: Final[tuple[tuple[Column[Any], str], ...]] = (
    (table_of(Invitation).c.person_id, "game_id"),
    (table_of(JoinRequest).c.person_id, "game_id"),
    (table_of(Preference).c.person_id, "game_id"),
    (_BLOCK.c.person_id, "blocked_id"),
    (_BLOCK.c.blocked_id, "person_id"),
)
"""Where a person stands once beside something else: what the one who stays has is left as it is."""


def tables_of(tx: Connection, person_id: int) -> dict[int, str]:
    """The tables at which a person takes part or of which they are the host, and their states."""
    joined = select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person_id)
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id)
    wanted = select(_GAME.c.id, _GAME.c.status).where(_GAME.c.id.in_(joined.union(hosted))).order_by(_GAME.c.id)
    return {row.id: row.status for row in tx.execute(wanted)}


def move(tx: Connection, old: int, new: int) -> None:
    """Let everything of one person be another's from now on."""
    for column in _THEIRS:
        tx.execute(update(column.table).where(column == old).values({column.name: new}))
    for column, beside in _ONCE:
        _move_once(tx, column, beside, old, new)
    # Nobody blocks themselves.
    tx.execute(delete(_BLOCK).where(_BLOCK.c.person_id == new, _BLOCK.c.blocked_id == new))
    tx.execute(delete(table_of(Volunteer)).where(table_of(Volunteer).c.person_id == old))


def waiting(tx: Connection, person_id: int) -> list[int]:
    """The mails about tables that have not left for a person."""
    mine = (
        _OUTBOX.c.person_id == person_id,
        _OUTBOX.c.status.in_(("queued", "digest")),
        _OUTBOX.c.game_id.is_not(None),
    )
    return list(tx.execute(select(_OUTBOX.c.id).where(*mine).order_by(_OUTBOX.c.id)).scalars())


def _move_once(tx: Connection, column: Column[Any], beside: str, old: int, new: int) -> None:
    table: Table = column.table
    other = table.c[beside]
    has: Iterable[int] = tx.execute(select(other).where(column == new)).scalars().all()
    tx.execute(delete(table).where(column == old, other.in_(has)))
    tx.execute(update(table).where(column == old).values({column.name: new}))
