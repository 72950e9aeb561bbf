"""Links: the rows that tokens stand for. A token is derived from its row and never stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from pbem.clock import Randomness
from pbem.store import queries, revocations
from pbem.store.schema import LINK, OUTBOX, PLAYER, LinkRow
from pbem.store.sessions import Holder
from pbem.tokens import Purpose

# Used by every move and every link of an email, so these statements are built once.
_READ = select(LINK).where(LINK.c.id == bindparam("of_id"))
AT_SEAT = and_(PLAYER.c.game_id == LINK.c.game_id, PLAYER.c.seat == LINK.c.seat)
"""The player of a link's seat: at most one, and none for a link without a seat."""
_READ_WITH_PLAYER = (
    select(*LINK.c, PLAYER.c.person_id.label("player")).join_from(LINK, PLAYER, AT_SEAT, isouter=True)
).where(LINK.c.id == bindparam("of_id"))
_KEY_FIELDS = ("purpose", "person_id", "game_id", "turn", "seat", "outbox_id")
_ADD = insert(LINK).returning(LINK)
_OF_ANY = select(LINK).where(LINK.c.id.in_(bindparam("these", expanding=True)))


_LONGEST_REPLACED: Final = 1000
"""Characters of the revoked nonces of a link that are kept: fifty of them."""


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What a link is for: its natural key, one row each."""

    purpose: str
    person_id: int | None = None
    game_id: int | None = None
    turn: int | None = None
    seat: int | None = None
    outbox_id: int | None = None


TO_SEATS: Final = frozenset({Purpose.MOVE, Purpose.SEAT, Purpose.REPLY, Purpose.API})
"""Purposes of links that show a seat or act for it, but for replies to an email that offers one."""

_IN_ONE_TURN: Final = (Purpose.MOVE, Purpose.REPLY)
"""Purposes of links that act in their own turn only."""

LIFETIMES: Final[Mapping[str, timedelta]] = {
    Purpose.SIGN_IN: timedelta(hours=24),
    Purpose.CONFIRM: timedelta(days=14),
    Purpose.WRITTEN: timedelta(days=7),
    Purpose.YES: timedelta(hours=24),
    Purpose.DISOWN: timedelta(days=14),
}
"""How long a link works. Those of a game work as long as the game exists, which says itself what is over."""


def of_seat(person_id: int, game_id: int, turn: int, seat: int) -> dict[Purpose, LinkKey]:
    """The keys of the links of a seat in a turn: one choice, the whole table, a reply."""
    return {
        purpose: LinkKey(purpose, person_id, game_id, turn, seat)
        for purpose in (Purpose.MOVE, Purpose.SEAT, Purpose.REPLY)
    }


def read(tx: Connection, link_id: int) -> LinkRow | None:
    return queries.one(tx, LinkRow, _READ, {"of_id": link_id})


def read_with_player(tx: Connection, link_id: int) -> tuple[LinkRow, int | None] | None:
    """A link and the person who plays its seat now, in one statement; None if there is no such link."""
    row = tx.execute(_READ_WITH_PLAYER, {"of_id": link_id}).one_or_none()
    return None if row is None else (LinkRow._make(row[:-1]), row.player)


def read_all(tx: Connection, link_ids: Collection[int]) -> dict[int, LinkRow]:
    return {row.id: LinkRow._make(row) for row in tx.execute(_OF_ANY, {"these": sorted(link_ids)})}


def of_lost_seats(tx: Connection, link_ids: Collection[int]) -> set[tuple[int, int]]:
    """Those of these links whose seat another person or a bot plays now, each with the person who has lost it."""
    if not link_ids:
        return set()
    query = (
        select(LINK.c.id, LINK.c.person_id)
        .join_from(LINK, PLAYER, AT_SEAT)
        .where(
            LINK.c.id.in_(link_ids), LINK.c.purpose.in_(TO_SEATS), PLAYER.c.person_id.is_distinct_from(LINK.c.person_id)
        )
    )
    return {(row.id, row.person_id) for row in tx.execute(query)}


def find(tx: Connection, key: LinkKey) -> LinkRow | None:
    return find_all(tx, [key]).get(key)


def find_all(tx: Connection, keys: Collection[LinkKey]) -> dict[LinkKey, LinkRow]:
    shapes: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for key in keys:
        shape = tuple(name for name in _KEY_FIELDS if getattr(key, name) is not None)
        shapes.setdefault(shape, []).append(tuple(getattr(key, name) for name in shape))
    rows = (row for shape, these in shapes.items() for row in tx.execute(_finding(shape), {"these": these}))
    return {key_of(row): row for row in (LinkRow._make(row) for row in rows)}


def add_all(
    tx: Connection, randomness: Randomness, keys: Mapping[LinkKey, datetime | None], now: datetime
) -> dict[LinkKey, LinkRow]:
    """Add links, each with its expiry. The caller holds the locks of the games, or else of the people."""
    values = [
        {name: getattr(key, name) for name in _KEY_FIELDS}
        | {"nonce": _nonce(randomness), "replaced": "", "created_at": now, "expires_at": expires_at}
        for key, expires_at in keys.items()
    ]
    rows = (LinkRow._make(row) for row in (tx.execute(_ADD, values) if values else ()))
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
    new = queries.insertion(tx.dialect.name, LINK).values(
        purpose=purpose, nonce=_nonce(randomness), replaced="", created_at=now
    )
    renewed = new.on_conflict_do_update(
        index_elements=[LINK.c.purpose],
        index_where=and_(LINK.c.person_id.is_(None), LINK.c.game_id.is_(None)),
        set_=_renewed(randomness),
    )
    return LinkRow._make(tx.execute(renewed.returning(LINK)).one())


def key_of(row: LinkRow) -> LinkKey:
    return LinkKey(*(getattr(row, name) for name in _KEY_FIELDS))


def revoke(tx: Connection, randomness: Randomness, link_id: int) -> None:
    """Revoke the token of a link; the row has a new one from then on."""
    _revoke(tx, randomness, LINK.c.id == link_id)


def revoke_seat(tx: Connection, randomness: Randomness, game_id: int, seat: int) -> int:
    """Revoke every token of a seat; returns the number of links."""
    return _revoke(tx, randomness, LINK.c.game_id == game_id, LINK.c.seat == seat)


def revoke_person(tx: Connection, randomness: Randomness, person_id: int) -> int:
    """Revoke every token of a person, at all tables; returns the number of links.

    Those that say “This wasn't me” stay: all they do is revoke the others.
    """
    revocations.begin(tx, Holder(person_id=person_id))
    return _revoke(tx, randomness, LINK.c.person_id == person_id, LINK.c.purpose != Purpose.DISOWN)


def revoke_game(tx: Connection, randomness: Randomness, game_id: int) -> int:
    """Revoke every token of a game, of all seats and turns; returns the number of links.

    Those to which bounces of emails come stay: they open nothing.
    """
    about_game = select(OUTBOX.c.id).where(OUTBOX.c.game_id == game_id)
    of_emails = and_(LINK.c.purpose == Purpose.WRITTEN, LINK.c.outbox_id.in_(about_game))
    of_game = and_(LINK.c.game_id == game_id, LINK.c.purpose != Purpose.BOUNCE)
    return _revoke(tx, randomness, or_(of_game, of_emails))


def revoke_purpose(tx: Connection, randomness: Randomness, purpose: Purpose) -> int:
    """Revoke every token of a purpose, of all people; returns the number of links."""
    return _revoke(tx, randomness, LINK.c.purpose == purpose)


def any_made(tx: Connection) -> bool:
    """Whether a link was ever made."""
    return bool(tx.execute(select(exists(select(LINK.c.id)))).scalar_one())


def revoke_seat_of(tx: Connection, randomness: Randomness, person_id: int, game_id: int, seat: int) -> int:
    """Revoke every token by which a person acts at one seat; returns the number of links.

    Those of no seat at that table go too, and those that confirm a reply of the seat. Other seats keep theirs.
    """
    revocations.begin(tx, Holder(person_id=person_id))
    at_seat = and_(LINK.c.game_id == game_id, or_(LINK.c.seat == seat, LINK.c.seat.is_(None)))
    about_seat = select(OUTBOX.c.id).where(OUTBOX.c.game_id == game_id, OUTBOX.c.seat == seat)
    confirms = and_(LINK.c.purpose == Purpose.WRITTEN, LINK.c.outbox_id.in_(about_seat))
    return _revoke(tx, randomness, LINK.c.person_id == person_id, or_(at_seat, confirms))


def end_turns_after(tx: Connection, game_id: int, turn: int) -> None:
    """End the links for choices and replies of all turns after one: these numbers are given out again, with other links."""
    ended = update(LINK).where(LINK.c.game_id == game_id, LINK.c.turn > turn, LINK.c.purpose.in_(_IN_ONE_TURN))
    tx.execute(ended.values(turn=-LINK.c.id))


def is_undone(row: LinkRow) -> bool:
    """Whether the turn of a link was undone."""
    return row.turn is not None and row.turn < 0


def expire(tx: Connection, link_id: int, at: datetime | None) -> None:
    """Set or clear the expiry of a link."""
    tx.execute(update(LINK).where(LINK.c.id == link_id).values(expires_at=at))


def _revoke(tx: Connection, randomness: Randomness, *conditions: ColumnElement[bool]) -> int:
    return tx.execute(update(LINK).where(*conditions).values(_renewed(randomness))).rowcount


def replaced_nonces(row: LinkRow) -> list[int]:
    """The nonces of the tokens of a link that were revoked, newest first; of very many the last ones."""
    # The oldest may have been cut off within.
    return [int(nonce) for nonce in row.replaced.split(" ")[:-1]]


def _renewed(randomness: Randomness) -> dict[str, object]:
    """The columns of links whose tokens are revoked. Several may share a nonce: a token names its row too."""
    replaced = func.substr(cast(LINK.c.nonce, Text).concat(" ").concat(LINK.c.replaced), 1, _LONGEST_REPLACED)
    return {"nonce": _nonce(randomness), "replaced": replaced}


def _nonce(randomness: Randomness) -> int:
    """A number that no link has had before, neither here nor on a server restored from a backup."""
    return int.from_bytes(randomness.bytes(8)) >> 1


@cache
def _finding(shape: tuple[str, ...]) -> Select[tuple[object, ...]]:
    """The links in whose key exactly these fields are set. Empty ones are compared so that an index can be used."""
    keys = tuple_(*(LINK.c[name] for name in shape)).in_(bindparam("these", expanding=True))
    return select(LINK).where(keys, *(LINK.c[name].is_(None) for name in _KEY_FIELDS if name not in shape))
