"""Links: the rows that tokens stand for. A token is derived from its row and never stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, insert, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.clock import Randomness
from pbem.store.schema import Link, table_of
from pbem.tokens import Purpose

_LINK = table_of(Link)
# Used by every move and every link of an email, so these statements are built once.
_READ = select(_LINK).where(_LINK.c.id == bindparam("of_id"))
_KEY_FIELDS = ("purpose", "person_id", "game_id", "turn", "seat", "outbox_id")
_ADD = insert(_LINK).returning(_LINK)
_OF_ANY = select(_LINK).where(_LINK.c.id.in_(bindparam("these", expanding=True)))


class LinkRow(NamedTuple):
    """A link as stored. Its purpose decides which fields are set."""

    id: int
    purpose: str
    nonce: int
    replaced: int | None
    person_id: int | None
    game_id: int | None
    turn: int | None
    seat: int | None
    outbox_id: int | None
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What a link is for: its natural key, one row each."""

    purpose: str
    person_id: int | None = None
    game_id: int | None = None
    turn: int | None = None
    seat: int | None = None
    outbox_id: int | None = None


LIFETIMES: Final[Mapping[str, timedelta]] = {
    Purpose.SIGN_IN: timedelta(hours=24),
    Purpose.CONFIRM: timedelta(days=14),
    Purpose.WRITTEN: timedelta(days=7),
    Purpose.YES: timedelta(hours=24),
}
"""How long a link works. Those of a game work as long as the game exists, which says itself what is over."""


def of_seat(person_id: int, game_id: int, turn: int, seat: int) -> dict[Purpose, LinkKey]:
    """The keys of the links of a seat in a turn: one choice, the whole table, a reply."""
    return {
        purpose: LinkKey(purpose, person_id, game_id, turn, seat)
        for purpose in (Purpose.MOVE, Purpose.SEAT, Purpose.REPLY)
    }


def read(tx: Connection, link_id: int) -> LinkRow | None:
    """A link, or None."""
    row = tx.execute(_READ, {"of_id": link_id}).one_or_none()
    return None if row is None else LinkRow(**row._mapping)


def read_all(tx: Connection, link_ids: Collection[int]) -> dict[int, LinkRow]:
    """Links by id."""
    return {row.id: LinkRow(**row._mapping) for row in tx.execute(_OF_ANY, {"these": sorted(link_ids)})}


def find(tx: Connection, key: LinkKey) -> LinkRow | None:
    """The link with this key, or None."""
    return find_all(tx, [key]).get(key)


def find_all(tx: Connection, keys: Collection[LinkKey]) -> dict[LinkKey, LinkRow]:
    """The existing links with these keys."""
    shapes: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for key in keys:
        shape = tuple(name for name in _KEY_FIELDS if getattr(key, name) is not None)
        shapes.setdefault(shape, []).append(tuple(getattr(key, name) for name in shape))
    rows = (row for shape, these in shapes.items() for row in tx.execute(_finding(shape), {"these": these}))
    return {key_of(row): row for row in (LinkRow(**row._mapping) for row in rows)}


def add_all(
    tx: Connection, randomness: Randomness, keys: Mapping[LinkKey, datetime | None], now: datetime
) -> dict[LinkKey, LinkRow]:
    """Add links, each with its expiry. The caller holds the locks of the games, or else of the people."""
    values = [
        {name: getattr(key, name) for name in _KEY_FIELDS}
        | {"nonce": _nonce(randomness), "created_at": now, "expires_at": expires_at}
        for key, expires_at in keys.items()
    ]
    rows = (LinkRow(**row._mapping) for row in (tx.execute(_ADD, values) if values else ()))
    return {key_of(row): row for row in rows}


def make_all(
    tx: Connection, randomness: Randomness, keys: Mapping[LinkKey, datetime | None], now: datetime
) -> dict[LinkKey, int]:
    """The ids of the links with these keys, added if missing; each with its expiry, if that is not the usual one.

    The caller holds the locks of the games, or else of the people.
    """
    existing = find_all(tx, keys)
    new = {
        key: expires_at or (now + LIFETIMES[key.purpose] if key.purpose in LIFETIMES else None)
        for key, expires_at in keys.items()
        if key not in existing
    }
    return {key: row.id for key, row in (existing | add_all(tx, randomness, new, now)).items()}


def renew_of_nobody(tx: Connection, randomness: Randomness, purpose: str, now: datetime) -> LinkRow:
    """The single link of a purpose without a person or table, with a new token.

    One statement, because there is nothing to lock: two calls at once renew the same row.
    """
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    new = dialect.insert(_LINK).values(purpose=purpose, nonce=_nonce(randomness), created_at=now)
    renewed = new.on_conflict_do_update(
        index_elements=[_LINK.c.purpose],
        index_where=and_(_LINK.c.person_id.is_(None), _LINK.c.game_id.is_(None)),
        set_=_renewed(randomness),
    )
    return LinkRow(**tx.execute(renewed.returning(_LINK)).one()._mapping)


def key_of(row: LinkRow) -> LinkKey:
    """The key of a link."""
    return LinkKey(*(getattr(row, name) for name in _KEY_FIELDS))


def revoke(tx: Connection, randomness: Randomness, link_id: int) -> None:
    """Revoke the token of a link; the row has a new one from then on."""
    tx.execute(update(_LINK).where(_LINK.c.id == link_id).values(_renewed(randomness)))


def expire(tx: Connection, link_id: int, at: datetime | None) -> None:
    """Set or clear the expiry of a link."""
    tx.execute(update(_LINK).where(_LINK.c.id == link_id).values(expires_at=at))


def revoke_seat(tx: Connection, randomness: Randomness, game_id: int, seat: int) -> int:
    """Revoke every token of a seat; returns the number of links."""
    of_seat = (_LINK.c.game_id == game_id, _LINK.c.seat == seat)
    return tx.execute(update(_LINK).where(*of_seat).values(_renewed(randomness))).rowcount


def revoke_person(tx: Connection, randomness: Randomness, person_id: int) -> int:
    """Revoke every token of a person, at all tables; returns the number of links."""
    return tx.execute(update(_LINK).where(_LINK.c.person_id == person_id).values(_renewed(randomness))).rowcount


def _renewed(randomness: Randomness) -> dict[str, object]:
    """The columns of links whose tokens are revoked. Several may share a nonce: a token names its row too."""
    return {"nonce": _nonce(randomness), "replaced": _LINK.c.nonce}


def _nonce(randomness: Randomness) -> int:
    """A number that no link has had before, neither here nor on a server restored from a backup."""
    return int.from_bytes(randomness.bytes(8)) >> 1


@cache
def _finding(shape: tuple[str, ...]) -> Select[tuple[object, ...]]:
    """The links in whose key exactly these fields are set. Empty ones are compared so that an index can be used."""
    keys = tuple_(*(_LINK.c[name] for name in shape)).in_(bindparam("these", expanding=True))
    return select(_LINK).where(keys, *(_LINK.c[name].is_(None) for name in _KEY_FIELDS if name not in shape))
