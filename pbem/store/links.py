"""What the tokens of links stand for, as rows. A token is derived from its row and never stored."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from pbem.store.schema import Link, table_of

_LINK = table_of(Link)
# Statements of a move, and of every link of a mail, so they are built once.
_READ = select(_LINK).where(_LINK.c.id == bindparam("of_id"))
_MEANING = ("purpose", "person_id", "game_id", "window", "seat", "outbox_id")
_FIND = select(_LINK).where(*(_LINK.c[name].is_not_distinct_from(bindparam(f"of_{name}")) for name in _MEANING))
_ADD = insert(_LINK).returning(_LINK.c.id)
_GENERATIONS = select(_LINK.c.id, _LINK.c.generation).where(
    _LINK.c.id.in_(bindparam("these", expanding=True)), _LINK.c.person_id == bindparam("of_person")
)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What one token is for. Which of the fields are set is a matter of its purpose."""

    id: int
    purpose: str
    generation: int
    person_id: int | None
    game_id: int | None
    window: int | None
    seat: int | None
    outbox_id: int | None
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Meant:
    """What a link is meant for: the same meaning is the same row."""

    purpose: str
    person_id: int | None = None
    game_id: int | None = None
    window: int | None = None
    seat: int | None = None
    outbox_id: int | None = None


def read(tx: Connection, link_id: int) -> LinkRow | None:
    """The row of a token."""
    row = tx.execute(_READ, {"of_id": link_id}).one_or_none()
    return None if row is None else LinkRow(**row._mapping)


def find(tx: Connection, meant: Meant) -> LinkRow | None:
    """The row with this meaning."""
    row = tx.execute(_FIND, {f"of_{name}": getattr(meant, name) for name in _MEANING}).one_or_none()
    return None if row is None else LinkRow(**row._mapping)


def add(tx: Connection, meant: Meant, now: datetime, expires_at: datetime | None) -> int:
    """A new row; its number. Whoever adds holds the lock of the game, or else of the person."""
    values = {
        "purpose": meant.purpose,
        "generation": 0,
        "person_id": meant.person_id,
        "game_id": meant.game_id,
        "window": meant.window,
        "seat": meant.seat,
        "outbox_id": meant.outbox_id,
        "created_at": now,
        "expires_at": expires_at,
    }
    return int(tx.execute(_ADD, values).scalar_one())


def generations(tx: Connection, link_ids: frozenset[int], person_id: int) -> dict[int, int]:
    """The generation of each of these links that is this person's."""
    found = tx.execute(_GENERATIONS, {"these": sorted(link_ids), "of_person": person_id})
    return {row.id: row.generation for row in found}


def raise_one(tx: Connection, link_id: int) -> None:
    """Make the token of a link worthless; the row has a new one by that."""
    tx.execute(update(_LINK).where(_LINK.c.id == link_id).values(generation=_LINK.c.generation + 1))


def raise_seat(tx: Connection, game_id: int, seat: int) -> int:
    """Make every token of a seat worthless; how many rows that were."""
    of_seat = (_LINK.c.game_id == game_id, _LINK.c.seat == seat)
    return tx.execute(update(_LINK).where(*of_seat).values(generation=_LINK.c.generation + 1)).rowcount


def raise_person(tx: Connection, person_id: int) -> int:
    """Make every token of a person worthless, at all tables; how many rows that were."""
    raised = update(_LINK).where(_LINK.c.person_id == person_id).values(generation=_LINK.c.generation + 1)
    return tx.execute(raised).rowcount
