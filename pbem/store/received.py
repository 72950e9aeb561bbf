"""Emails that arrived, as rows: stored before anything is done about them, claimed, and done.

An attempt is counted by the claim, before the work, so that an email that crashes its reader ends up parked. A finished
email keeps its row without its text for a while: a second copy of it is recognised by that.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Integer, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.domain.states import ReceivedStatus
from pbem.store.schema import Link, Outbox, Received, ReceivedCount, table_of
from pbem.store.types import Moment

_RECEIVED_COUNT, _LINK, _OUTBOX, _RECEIVED = (
    table_of(ReceivedCount),
    table_of(Link),
    table_of(Outbox),
    table_of(Received),
)
_FREE = (
    select(_RECEIVED.c.id)
    .where(
        _RECEIVED.c.status == ReceivedStatus.WAITING,
        _RECEIVED.c.due_at <= bindparam("now", type_=Moment),
        or_(_RECEIVED.c.claimed_until.is_(None), _RECEIVED.c.claimed_until <= bindparam("now", type_=Moment)),
    )
    .order_by(_RECEIVED.c.id)
    .limit(bindparam("most", type_=Integer))
    .with_for_update(skip_locked=True)
    .cte("free")
)
# Workers run this every few seconds, so it is built once.
_CLAIM = (
    update(_RECEIVED)
    .where(_RECEIVED.c.id.in_(select(_FREE.c.id)))
    .values(claimed_until=bindparam("until"), attempts=_RECEIVED.c.attempts + 1)
    .returning(_RECEIVED)
)


@dataclass(frozen=True, slots=True)
class ReceivedRow:
    """An email that arrived. `acts` is what each line of a reply led to, as JSON."""

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
class ParkedRow:
    """A parked email, without its content."""

    id: int
    received_at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """An email that arrived, without its content: the link it was sent to, and its outcome."""

    id: int
    received_at: datetime
    status: str
    outcome: str
    purpose: str
    game_id: int | None
    person_id: int | None


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An email sent in answer to one that arrived."""

    game_id: int | None
    turn: int | None
    queued_at: datetime
    facts: str


def add(tx: Connection, *, fingerprint: bytes, link_id: int, message_id: str, raw: bytes, now: datetime) -> int | None:
    """Store an email and return its id; None if it is stored already."""
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
    # If the same email is delivered twice at once, the second waits here, fails, and finds the first when it is rerun.
    return int(tx.execute(insert(_RECEIVED).returning(_RECEIVED.c.id), values).scalar_one())


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[ReceivedRow]:
    """Lease waiting emails, oldest first; each claim counts as an attempt."""
    claimed = tx.execute(_CLAIM, {"now": now, "until": until, "most": limit})
    return sorted((ReceivedRow(**row._mapping) for row in claimed), key=lambda row: row.id)


def read(tx: Connection, received_id: int) -> ReceivedRow | None:
    """An email, if there is one."""
    row = tx.execute(select(_RECEIVED).where(_RECEIVED.c.id == received_id)).one_or_none()
    return None if row is None else ReceivedRow(**row._mapping)


def lock(tx: Connection, received_id: int) -> ReceivedRow | None:
    """Lock one received email, if there is one."""
    row = tx.execute(select(_RECEIVED).where(_RECEIVED.c.id == received_id).with_for_update()).one_or_none()
    return None if row is None else ReceivedRow(**row._mapping)


def parked(tx: Connection, limit: int) -> list[ParkedRow]:
    """The parked emails, last due first."""
    query = select(*(_RECEIVED.c[field.name] for field in fields(ParkedRow))).where(
        _RECEIVED.c.status == ReceivedStatus.PARKED
    )
    latest = query.order_by(_RECEIVED.c.due_at.desc(), _RECEIVED.c.id.desc()).limit(limit)
    return [ParkedRow(**row._mapping) for row in tx.execute(latest)]


def newest(tx: Connection, most: int) -> list[SummaryRow]:
    """The emails with the highest `most` ids, newest first."""
    last = select(func.max(_RECEIVED.c.id)).scalar_subquery()
    columns = [
        (_RECEIVED if name in _RECEIVED.c else _LINK).c[name] for name in (field.name for field in fields(SummaryRow))
    ]
    query = select(*columns).join(_LINK, _LINK.c.id == _RECEIVED.c.link_id).where(_RECEIVED.c.id > last - most)
    return [SummaryRow(**row._mapping) for row in tx.execute(query.order_by(_RECEIVED.c.id.desc()))]


def of_link(tx: Connection, link_id: int, limit: int) -> list[ReceivedRow]:
    """The emails sent to one link's address, newest first."""
    query = select(_RECEIVED).where(_RECEIVED.c.link_id == link_id).order_by(_RECEIVED.c.id.desc()).limit(limit)
    return [ReceivedRow(**row._mapping) for row in tx.execute(query)]


def change(tx: Connection, received_id: int, **values: Any) -> None:
    """Change columns of an email."""
    tx.execute(update(_RECEIVED).where(_RECEIVED.c.id == received_id).values(**values))


def count_since(tx: Connection, link_id: int, since: datetime) -> int:
    """The number of emails sent to a link's address since this moment."""
    recent = (_RECEIVED.c.link_id == link_id, _RECEIVED.c.received_at > since)
    return int(tx.execute(select(func.count()).select_from(_RECEIVED).where(*recent)).scalar_one())


def count_with_status(tx: Connection, status: str) -> int:
    """The number of emails with this status."""
    query = select(func.count()).select_from(_RECEIVED).where(_RECEIVED.c.status == status)
    return int(tx.execute(query).scalar_one())


def unpark(tx: Connection, now: datetime) -> int:
    """Let parked emails wait again, with no attempts counted; returns how many."""
    parked = update(_RECEIVED).where(_RECEIVED.c.status == ReceivedStatus.PARKED)
    return tx.execute(parked.values(status="waiting", outcome="", attempts=0, due_at=now)).rowcount


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop emails and daily counts from before this moment."""
    tx.execute(delete(_RECEIVED).where(_RECEIVED.c.received_at < moment))
    tx.execute(delete(_RECEIVED_COUNT).where(_RECEIVED_COUNT.c.day < moment.date()))


def count(tx: Connection, day: date, what: str) -> None:
    """Count one more email of a kind. Must come last in a transaction, because it locks a row everyone counts in."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_RECEIVED_COUNT).values(day=day, what=what, count=1)
    one_more = {"count": _RECEIVED_COUNT.c["count"] + 1}
    tx.execute(insertion.on_conflict_do_update(index_elements=["day", "what"], set_=one_more))


def counts_since(tx: Connection, since: date) -> dict[str, int]:
    """The number of emails of each kind since this day."""
    sums = select(_RECEIVED_COUNT.c.what, func.sum(_RECEIVED_COUNT.c["count"])).where(_RECEIVED_COUNT.c.day >= since)
    return {what: int(number) for what, number in tx.execute(sums.group_by(_RECEIVED_COUNT.c.what))}


def answers(
    tx: Connection, person_id: int, kinds: Collection[str], since: datetime, game_id: int | None, turn: int | None
) -> list[AnswerRow]:
    """The answers emailed to a person since this moment, and all answers about one turn."""
    this_turn = (_OUTBOX.c.game_id == game_id) & (_OUTBOX.c.turn == turn)
    query = select(_OUTBOX.c.game_id, _OUTBOX.c.turn, _OUTBOX.c.queued_at, _OUTBOX.c.facts).where(
        _OUTBOX.c.person_id == person_id, _OUTBOX.c.kind.in_(kinds), or_(_OUTBOX.c.queued_at > since, this_turn)
    )
    return [AnswerRow(*row) for row in tx.execute(query)]
