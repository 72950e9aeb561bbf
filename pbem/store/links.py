"""What the tokens of links stand for, as rows. A token is derived from its row and never stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, insert, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Link, table_of
from pbem.tokens import Purpose

_LINK = table_of(Link)
# Statements of a move, and of every link of a mail, so they are built once.
_READ = select(_LINK).where(_LINK.c.id == bindparam("of_id"))
_MEANING = ("purpose", "person_id", "game_id", "turn", "seat", "outbox_id")
_ADD = insert(_LINK).returning(_LINK)
_OF_ANY = select(_LINK).where(_LINK.c.id.in_(bindparam("these", expanding=True)))


class LinkRow(NamedTuple):
    """What one token is for. Which of the fields are set is a matter of its purpose."""

    id: int
    purpose: str
    generation: int
    person_id: int | None
    game_id: int | None
    turn: int | None
    seat: int | None
    outbox_id: int | None
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What a link is meant for: the same meaning is the same row."""

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
"""The usual lifetime of a link. Others last as long as their game, which knows itself what is over."""


def of_seat(person_id: int, game_id: int, turn: int, seat: int) -> dict[Purpose, LinkKey]:
    """The meanings of the links of a seat in a turn: one choice, the whole table, a reply."""
    return {
        purpose: LinkKey(purpose, person_id, game_id, turn, seat)
        for purpose in (Purpose.MOVE, Purpose.SEAT, Purpose.REPLY)
    }


def read(tx: Connection, link_id: int) -> LinkRow | None:
    """The row of a token."""
    row = tx.execute(_READ, {"of_id": link_id}).one_or_none()
    return None if row is None else LinkRow(**row._mapping)


def read_all(tx: Connection, link_ids: Collection[int]) -> dict[int, LinkRow]:
    """The rows of these tokens."""
    return {row.id: LinkRow(**row._mapping) for row in tx.execute(_OF_ANY, {"these": sorted(link_ids)})}


def find(tx: Connection, meant: LinkKey) -> LinkRow | None:
    """The row with this meaning."""
    return find_all(tx, [meant]).get(meant)


def find_all(tx: Connection, meanings: Collection[LinkKey]) -> dict[LinkKey, LinkRow]:
    """The rows with these meanings, as far as they are there."""
    shapes: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for meant in meanings:
        shape = tuple(name for name in _MEANING if getattr(meant, name) is not None)
        shapes.setdefault(shape, []).append(tuple(getattr(meant, name) for name in shape))
    rows = (row for shape, these in shapes.items() for row in tx.execute(_finding(shape), {"these": these}))
    return {meaning(row): row for row in (LinkRow(**row._mapping) for row in rows)}


def add_all(tx: Connection, meanings: Mapping[LinkKey, datetime | None], now: datetime) -> dict[LinkKey, LinkRow]:
    """New rows, each with the moment at which it expires. Whoever adds holds the locks of the games, or else of the people."""
    values = [
        {name: getattr(meant, name) for name in _MEANING}
        | {"generation": 0, "created_at": now, "expires_at": expires_at}
        for meant, expires_at in meanings.items()
    ]
    rows = (LinkRow(**row._mapping) for row in (tx.execute(_ADD, values) if values else ()))
    return {meaning(row): row for row in rows}


def make_all(tx: Connection, meanings: Mapping[LinkKey, datetime | None], now: datetime) -> dict[LinkKey, int]:
    """The ids of the links with these meanings, made if they are not there; each with its expiry, if not the usual one.

    The transaction holds the locks of the games, or of the people where there is no game, so nobody else makes them.
    """
    known = find_all(tx, meanings)
    new = {
        meant: expires_at or (now + LIFETIMES[meant.purpose] if meant.purpose in LIFETIMES else None)
        for meant, expires_at in meanings.items()
        if meant not in known
    }
    return {meant: row.id for meant, row in (known | add_all(tx, new, now)).items()}


def renew_of_nobody(tx: Connection, purpose: str, now: datetime) -> LinkRow:
    """The only link of a purpose that is nobody's and no table's, with a token of its own from now on.

    One statement, because there is nothing to lock: whoever comes at the same moment renews the same row.
    """
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    new = dialect.insert(_LINK).values(purpose=purpose, generation=0, created_at=now)
    renewed = new.on_conflict_do_update(
        index_elements=[_LINK.c.purpose],
        index_where=and_(_LINK.c.person_id.is_(None), _LINK.c.game_id.is_(None)),
        set_={"generation": _LINK.c.generation + 1},
    )
    return LinkRow(**tx.execute(renewed.returning(_LINK)).one()._mapping)


def meaning(row: LinkRow) -> LinkKey:
    """What a link is meant for."""
    return LinkKey(*(getattr(row, name) for name in _MEANING))


def raise_one(tx: Connection, link_id: int) -> None:
    """Make the token of a link worthless; the row has a new one by that."""
    tx.execute(update(_LINK).where(_LINK.c.id == link_id).values(generation=_LINK.c.generation + 1))


def expire(tx: Connection, link_id: int, at: datetime | None) -> None:
    """Let a link work until then; without a moment, for as long as what it leads to is there."""
    tx.execute(update(_LINK).where(_LINK.c.id == link_id).values(expires_at=at))


def raise_seat(tx: Connection, game_id: int, seat: int) -> int:
    """Make every token of a seat worthless; how many rows that were."""
    of_seat = (_LINK.c.game_id == game_id, _LINK.c.seat == seat)
    return tx.execute(update(_LINK).where(*of_seat).values(generation=_LINK.c.generation + 1)).rowcount


def raise_person(tx: Connection, person_id: int) -> int:
    """Make every token of a person worthless, at all tables; how many rows that were."""
    raised = update(_LINK).where(_LINK.c.person_id == person_id).values(generation=_LINK.c.generation + 1)
    return tx.execute(raised).rowcount


@cache
def _finding(shape: tuple[str, ...]) -> Select[tuple[object, ...]]:
    """The links in whose meaning these fields are set, and no others: what is left empty is asked for in a way that an
    index can answer."""
    these = tuple_(*(_LINK.c[name] for name in shape)).in_(bindparam("these", expanding=True))
    return select(_LINK).where(these, *(_LINK.c[name].is_(None) for name in _MEANING if name not in shape))
