"""Emails that arrived, as rows: stored before anything is done about them, claimed, and done.

An attempt is counted by the claim, before the work, so that an email that crashes its reader ends up parked. A finished
email keeps its row without its text for a while: a second copy of it is recognised by that.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Integer, Select, bindparam, delete, false, func, or_, select, update

from pbem.domain.states import ReceivedStatus
from pbem.store import insiders, queries
from pbem.store.limits import Period, within
from pbem.store.schema import LINK, OUTBOX, RECEIVED, RECEIVED_COUNT, ReceivedRow
from pbem.store.types import Moment
from pbem.tokens import Purpose

_FREE = (
    select(RECEIVED.c.id)
    .where(
        RECEIVED.c.status == ReceivedStatus.WAITING,
        RECEIVED.c.due_at <= bindparam("now", type_=Moment),
        or_(RECEIVED.c.claimed_until.is_(None), RECEIVED.c.claimed_until <= bindparam("now", type_=Moment)),
    )
    .order_by(RECEIVED.c.id)
    .limit(bindparam("most", type_=Integer))
    .with_for_update(skip_locked=True)
    .cte("free")
)
# Workers run this every few seconds, so it is built once.
_CLAIM = (
    update(RECEIVED)
    .where(RECEIVED.c.id.in_(select(_FREE.c.id)))
    .values(claimed_until=bindparam("until"), attempts=RECEIVED.c.attempts + 1)
    .returning(RECEIVED)
)

_UNREAD_SINCE = (
    select(func.min(RECEIVED.c.received_at))
    .join(LINK, LINK.c.id == RECEIVED.c.link_id)
    .where(
        LINK.c.game_id == bindparam("of_game"),
        LINK.c.turn == bindparam("of_turn"),
        LINK.c.seat == bindparam("of_seat"),
        LINK.c.purpose == Purpose.REPLY,
        RECEIVED.c.status == ReceivedStatus.WAITING,
    )
)


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

    kind: str
    game_id: int | None
    turn: int | None
    queued_at: datetime
    facts: str

    @property
    def error(self) -> str:
        """What it refused, in short."""
        return str(json.loads(self.facts).get("error", ""))

    @property
    def link_id(self) -> int | None:
        """For a question, the link to which the reply in question came."""
        found: int | None = json.loads(self.facts).get("link")
        return found

    @property
    def offered_in(self) -> int | None:
        """The email with an offer to which the reply came; None if it was about a turn."""
        found: int | None = json.loads(self.facts).get("offered_in")
        return found


def add(
    tx: Connection,
    *,
    fingerprint: bytes,
    link_id: int,
    nonce: int,
    message_id: str,
    raw: bytes,
    now: datetime,
    signatures: Collection[str] = (),
) -> int | None:
    """Store an email and return its id; None if it is stored already."""
    if queries.count(tx, RECEIVED, RECEIVED.c.fingerprint == fingerprint):
        return None
    values = {
        "fingerprint": fingerprint,
        "link_id": link_id,
        "nonce": nonce,
        "message_id": message_id,
        "signatures": " ".join(signatures),
        "raw": raw,
        "received_at": now,
        "status": ReceivedStatus.WAITING,
        "outcome": "",
        "acts": "[]",
        "attempts": 0,
        "due_at": now,
    }
    # If the same email is delivered twice at once, the second waits here, fails, and finds the first when it is rerun.
    return queries.add(tx, RECEIVED, values)


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[ReceivedRow]:
    """Lease waiting emails, oldest first; each claim counts as an attempt."""
    claimed = queries.many(tx, ReceivedRow, _CLAIM, {"now": now, "until": until, "most": limit})
    return sorted(claimed, key=lambda row: row.id)


def read(tx: Connection, received_id: int) -> ReceivedRow | None:
    return queries.one(tx, ReceivedRow, select(RECEIVED).where(RECEIVED.c.id == received_id))


def lock(tx: Connection, received_id: int) -> ReceivedRow | None:
    return queries.one(tx, ReceivedRow, select(RECEIVED).where(RECEIVED.c.id == received_id).with_for_update())


def parked(tx: Connection, limit: int, *, reader: int | None = None) -> list[ParkedRow]:
    """The parked emails, last due first; without those of tables where the reader, if given, sits or sat."""
    query = select(*(RECEIVED.c[field.name] for field in fields(ParkedRow))).where(
        RECEIVED.c.id.in_(parked_of_others(reader))
    )
    latest = query.order_by(RECEIVED.c.due_at.desc(), RECEIVED.c.id.desc()).limit(limit)
    return queries.many(tx, ParkedRow, latest)


def parked_of_others(reader: int | None) -> Select[int]:
    """The ids of parked emails, without those of tables where the reader, if given, sits or sat."""
    ids = select(RECEIVED.c.id).where(RECEIVED.c.status == ReceivedStatus.PARKED)
    if reader is None:
        return ids
    others = or_(LINK.c.game_id.is_(None), LINK.c.game_id.not_in(insiders.tables_of(reader)))
    return ids.join(LINK, LINK.c.id == RECEIVED.c.link_id).where(others)


def is_parked(tx: Connection, received_id: int, reader: int | None) -> bool:
    """Whether an email is parked, as far as the reader, if given, may know it."""
    return queries.count(tx, RECEIVED, RECEIVED.c.id == received_id, RECEIVED.c.id.in_(parked_of_others(reader))) > 0


def newest(tx: Connection, most: int) -> list[SummaryRow]:
    """The emails with the highest `most` ids, newest first."""
    last = select(func.max(RECEIVED.c.id)).scalar_subquery()
    columns = [
        (RECEIVED if name in RECEIVED.c else LINK).c[name] for name in (field.name for field in fields(SummaryRow))
    ]
    query = select(*columns).join(LINK, LINK.c.id == RECEIVED.c.link_id).where(RECEIVED.c.id > last - most)
    return queries.many(tx, SummaryRow, query.order_by(RECEIVED.c.id.desc()))


def of_link(tx: Connection, link_id: int, limit: int) -> list[ReceivedRow]:
    """The emails sent to one link's address, newest first."""
    query = select(RECEIVED).where(RECEIVED.c.link_id == link_id).order_by(RECEIVED.c.id.desc()).limit(limit)
    return queries.many(tx, ReceivedRow, query)


def came_before(tx: Connection, row: ReceivedRow, person_id: int) -> bool:
    """Whether the same email, by its Message-ID or a signature, was received earlier at an address of its person."""
    query = select(RECEIVED.c.message_id, RECEIVED.c.signatures).join(LINK, LINK.c.id == RECEIVED.c.link_id)
    signatures = set(row.signatures.split())
    return any(
        (row.message_id and each.message_id == row.message_id) or signatures & set(each.signatures.split())
        for each in tx.execute(query.where(LINK.c.person_id == person_id, RECEIVED.c.id < row.id))
    )


def change(tx: Connection, received_id: int, **values: Any) -> None:
    tx.execute(update(RECEIVED).where(RECEIVED.c.id == received_id).values(**values))


def unread_since(tx: Connection, game_id: int, turn: int, seat: int) -> datetime | None:
    """When the first of the replies of a seat in one turn arrived that are not read yet; None if all are."""
    key = {"of_game": game_id, "of_turn": turn, "of_seat": seat}
    since: datetime | None = tx.execute(_UNREAD_SINCE, key).scalar_one()
    return since


def count_in(tx: Connection, link_id: int, period: Period) -> int:
    """The number of emails sent to a link's address in a period."""
    recent = (RECEIVED.c.link_id == link_id, within(RECEIVED.c.received_at, period))
    return queries.count(tx, RECEIVED, *recent)


def count_with_status(tx: Connection, status: str) -> int:
    return queries.count(tx, RECEIVED, RECEIVED.c.status == status)


def unpark(tx: Connection, now: datetime) -> int:
    """Let parked emails wait again, with no attempts counted; returns how many."""
    parked = update(RECEIVED).where(RECEIVED.c.status == ReceivedStatus.PARKED)
    return tx.execute(parked.values(status=ReceivedStatus.WAITING, outcome="", attempts=0, due_at=now)).rowcount


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop emails and daily counts from before this moment."""
    tx.execute(delete(RECEIVED).where(RECEIVED.c.received_at < moment))
    tx.execute(delete(RECEIVED_COUNT).where(RECEIVED_COUNT.c.day < moment.date()))


def count(tx: Connection, day: date, what: str) -> None:
    """Count one more email of a kind. Must come last in a transaction, because it locks a row everyone counts in."""
    insertion = queries.insertion(tx.dialect.name, RECEIVED_COUNT).values(day=day, what=what, count=1)
    one_more = {"count": RECEIVED_COUNT.c["count"] + 1}
    tx.execute(insertion.on_conflict_do_update(index_elements=["day", "what"], set_=one_more))


def counts_since(tx: Connection, since: date) -> dict[str, int]:
    """The number of emails of each kind since this day."""
    sums = select(RECEIVED_COUNT.c.what, func.sum(RECEIVED_COUNT.c["count"])).where(RECEIVED_COUNT.c.day >= since)
    return {what: int(number) for what, number in tx.execute(sums.group_by(RECEIVED_COUNT.c.what))}


def answers(
    tx: Connection, person_id: int, kinds: Collection[str], period: Period, game_id: int | None, turn: int | None
) -> list[AnswerRow]:
    """The answers emailed to a person in a period, and all answers about one turn, or without a turn about one table."""
    this_turn = false() if game_id is None else (OUTBOX.c.game_id == game_id) & (OUTBOX.c.turn == turn)
    query = select(*(OUTBOX.c[field.name] for field in fields(AnswerRow))).where(
        OUTBOX.c.person_id == person_id, OUTBOX.c.kind.in_(kinds), or_(within(OUTBOX.c.queued_at, period), this_turn)
    )
    return queries.many(tx, AnswerRow, query)
