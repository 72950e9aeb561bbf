"""Mails that came in, as rows: kept before anything is done about them, claimed, and let go of.

An attempt is counted in the claim, before the work, so that a mail that breaks whoever reads it ends parked and visible. A
mail that has been dealt with keeps its row for a while without its text: the same mail handed in again is known by it.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Integer, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Arrival, Link, Outbox, Received, table_of
from pbem.store.types import Moment

_ARRIVAL, _LINK, _OUTBOX, _RECEIVED = table_of(Arrival), table_of(Link), table_of(Outbox), table_of(Received)
_FREE = (
    select(_RECEIVED.c.id)
    .where(
        _RECEIVED.c.status == "waiting",
        _RECEIVED.c.due_at <= bindparam("now", type_=Moment),
        or_(_RECEIVED.c.claimed_until.is_(None), _RECEIVED.c.claimed_until <= bindparam("now", type_=Moment)),
    )
    .order_by(_RECEIVED.c.id)
    .limit(bindparam("most", type_=Integer))
    .with_for_update(skip_locked=True)
    .cte("free")
)
# A worker asks every few seconds whether there is anything to read, so it is built once.
_CLAIM = (
    update(_RECEIVED)
    .where(_RECEIVED.c.id.in_(select(_FREE.c.id)))
    .values(claimed_until=bindparam("until"), attempts=_RECEIVED.c.attempts + 1)
    .returning(_RECEIVED)
)


@dataclass(frozen=True, slots=True)
class ReceivedRow:
    """One mail that came in. `acts` is what each line of a reply has led to, as JSON."""

    id: int
    fingerprint: bytes
    link_id: int
    message_id: str
    raw: bytes | None = field(repr=False)
    received_at: datetime
    status: str
    outcome: str
    acts: str
    attempts: int
    due_at: datetime
    claimed_until: datetime | None


@dataclass(frozen=True, slots=True)
class UnreadRow:
    """A mail that came in and was given up: nothing of what it says."""

    id: int
    received_at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class CameRow:
    """A mail that came in, nothing of what it says: to what of ours, and what became of it."""

    id: int
    received_at: datetime
    status: str
    outcome: str
    purpose: str
    game_id: int | None
    person_id: int | None


@dataclass(frozen=True, slots=True)
class Answered:
    """A mail that we wrote because one came in: about which turn, and with which facts."""

    game_id: int | None
    turn: int | None
    queued_at: datetime
    facts: str


def keep(tx: Connection, *, fingerprint: bytes, link_id: int, message_id: str, raw: bytes, now: datetime) -> int | None:
    """Keep a mail; its number, or None if it is here already."""
    known = select(_RECEIVED.c.id).where(_RECEIVED.c.fingerprint == fingerprint)
    if tx.execute(known).first() is not None:
        return None
    values = {
        "fingerprint": fingerprint,
        "link_id": link_id,
        "message_id": message_id,
        "raw": raw,
        "received_at": now,
        "status": "waiting",
        "outcome": "",
        "acts": "[]",
        "attempts": 0,
        "due_at": now,
    }
    # Handed in twice at one moment, the second waits here, fails, and is run again to find the first.
    return int(tx.execute(insert(_RECEIVED).returning(_RECEIVED.c.id), values).scalar_one())


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[ReceivedRow]:
    """Lease mails that nobody else reads, the oldest first; each claim counts as an attempt."""
    claimed = tx.execute(_CLAIM, {"now": now, "until": until, "most": limit})
    return sorted((ReceivedRow(**row._mapping) for row in claimed), key=lambda row: row.id)


def read(tx: Connection, received_id: int) -> ReceivedRow | None:
    """One mail."""
    row = tx.execute(select(_RECEIVED).where(_RECEIVED.c.id == received_id)).one_or_none()
    return None if row is None else ReceivedRow(**row._mapping)


def lock(tx: Connection, received_id: int) -> ReceivedRow | None:
    """One mail, of which nobody else does a line until this transaction ends."""
    row = tx.execute(select(_RECEIVED).where(_RECEIVED.c.id == received_id).with_for_update()).one_or_none()
    return None if row is None else ReceivedRow(**row._mapping)


def unread(tx: Connection, limit: int) -> list[UnreadRow]:
    """The mails that came in and were given up, those first that were due last."""
    wanted = select(*(_RECEIVED.c[field.name] for field in fields(UnreadRow))).where(_RECEIVED.c.status == "parked")
    latest = wanted.order_by(_RECEIVED.c.due_at.desc(), _RECEIVED.c.id.desc()).limit(limit)
    return [UnreadRow(**row._mapping) for row in tx.execute(latest)]


def newest(tx: Connection, most: int) -> list[CameRow]:
    """The mails with the last so many numbers, the newest first."""
    last = select(func.max(_RECEIVED.c.id)).scalar_subquery()
    columns = [
        (_RECEIVED if name in _RECEIVED.c else _LINK).c[name] for name in (field.name for field in fields(CameRow))
    ]
    wanted = select(*columns).join(_LINK, _LINK.c.id == _RECEIVED.c.link_id).where(_RECEIVED.c.id > last - most)
    return [CameRow(**row._mapping) for row in tx.execute(wanted.order_by(_RECEIVED.c.id.desc()))]


def of_link(tx: Connection, link_id: int, limit: int) -> list[ReceivedRow]:
    """The mails to one address of ours, the newest first."""
    mine = select(_RECEIVED).where(_RECEIVED.c.link_id == link_id).order_by(_RECEIVED.c.id.desc()).limit(limit)
    return [ReceivedRow(**row._mapping) for row in tx.execute(mine)]


def change(tx: Connection, received_id: int, **values: Any) -> None:
    """Write what has become of a mail."""
    tx.execute(update(_RECEIVED).where(_RECEIVED.c.id == received_id).values(**values))


def count_since(tx: Connection, link_id: int, since: datetime) -> int:
    """How many mails came to one address since then."""
    mine = (_RECEIVED.c.link_id == link_id, _RECEIVED.c.received_at > since)
    return int(tx.execute(select(func.count()).select_from(_RECEIVED).where(*mine)).scalar_one())


def with_status(tx: Connection, status: str) -> int:
    """How many mails are in this state."""
    wanted = select(func.count()).select_from(_RECEIVED).where(_RECEIVED.c.status == status)
    return int(tx.execute(wanted).scalar_one())


def unpark(tx: Connection, now: datetime) -> int:
    """Let the mails that were given up wait again, with all their tries before them; how many those are."""
    parked = update(_RECEIVED).where(_RECEIVED.c.status == "parked")
    return tx.execute(parked.values(status="waiting", outcome="", attempts=0, due_at=now)).rowcount


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop mails that came in long ago, whatever became of them, and the numbers of those days."""
    tx.execute(delete(_RECEIVED).where(_RECEIVED.c.received_at < moment))
    tx.execute(delete(_ARRIVAL).where(_ARRIVAL.c.day < moment.date()))


def count(tx: Connection, day: date, what: str) -> None:
    """One more mail of a kind. The last thing of a transaction: all who count the same wait for each other."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_ARRIVAL).values(day=day, what=what, count=1)
    again = {"count": _ARRIVAL.c["count"] + 1}
    tx.execute(insertion.on_conflict_do_update(index_elements=["day", "what"], set_=again))


def counted(tx: Connection, since: date) -> dict[str, int]:
    """How many mails of each kind came in from a day on."""
    sums = select(_ARRIVAL.c.what, func.sum(_ARRIVAL.c["count"])).where(_ARRIVAL.c.day >= since)
    return {what: int(number) for what, number in tx.execute(sums.group_by(_ARRIVAL.c.what))}


def answers(
    tx: Connection, person_id: int, kinds: Collection[str], since: datetime, game_id: int | None, turn: int | None
) -> list[Answered]:
    """The answers that a person got since then, and those about one turn whenever that was."""
    this_turn = (_OUTBOX.c.game_id == game_id) & (_OUTBOX.c.turn == turn)
    wanted = select(_OUTBOX.c.game_id, _OUTBOX.c.turn, _OUTBOX.c.queued_at, _OUTBOX.c.facts).where(
        _OUTBOX.c.person_id == person_id, _OUTBOX.c.kind.in_(kinds), or_(_OUTBOX.c.queued_at > since, this_turn)
    )
    return [Answered(*row) for row in tx.execute(wanted)]
