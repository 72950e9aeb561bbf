"""Leases: which emails are being sent, by which sender, and which are sent next.

A sender claims a batch under a lease of its own and keeps that ahead of now while it lives. When a lease has run out, the
next claim frees what it held: those emails go alone, one at a time, because one of them may have killed its sender.
"""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Integer,
    Label,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from pbem.domain.states import EmailStatus
from pbem.store import queries
from pbem.store.schema import LEASE, OUTBOX, EmailRow
from pbem.store.schema.mail import BY_CHANNEL, LEFT
from pbem.store.types import Moment, Number

SHARE: Final = 5
"""Emails to one domain before another one's turn; what is left of a batch is shared out in the same way."""

MESSAGES_OF_ONE: Final = 2
"""Messages through the channels of one person in a batch: others must not wait for services that take their time."""

_NOW = bindparam("now", type_=Moment)
# Only with the word written out is the partial index used; with a parameter SQLite would compile the statement each time.
_IS_QUEUED = OUTBOX.c.status == literal_column("'queued'")
_WAITS = and_(_IS_QUEUED, OUTBOX.c.due_at <= _NOW, OUTBOX.c.lease_id.is_(None))


def place_of_person() -> Label[int]:
    """The place of a message in the queue of its person, from 1."""
    return (
        func.row_number().over(partition_by=OUTBOX.c.person_id, order_by=(OUTBOX.c.due_at, OUTBOX.c.id)).label("place")
    )


def _claim(ids: Any) -> ReturningUpdate[Any]:
    # An index on the status would be taken for this, and the ids looked up in all that is queued.
    still = and_(OUTBOX.c.status.concat("") == EmailStatus.QUEUED, OUTBOX.c.lease_id.is_(None))
    free = select(OUTBOX.c.id).where(OUTBOX.c.id.in_(ids), still).with_for_update(skip_locked=True).cte("free")
    claimed = update(OUTBOX).where(OUTBOX.c.id.in_(select(free.c.id)))
    return claimed.values(lease_id=bindparam("lease"), attempts=OUTBOX.c.attempts + 1).returning(OUTBOX)


def _in_turn() -> ReturningUpdate[Any]:
    """Claim emails of one rank, some to each domain: a walk along the index that skips what is over the share."""
    share, most = bindparam("share", type_=Integer), bindparam("most", type_=Integer)
    walk = select(
        cast(bindparam("after"), Text).label("domain"),
        cast(literal_column("-1"), Number).label("id"),
        # A domain that had its turn last is passed over.
        case((cast(bindparam("after"), Text) != "", share), else_=literal_column("0")).label("taken"),
        literal_column("0").label("total"),
    ).cte("walk", recursive=True)
    waiting = select(OUTBOX.c.id).where(_WAITS, OUTBOX.c.rank == bindparam("of_rank")).limit(literal_column("1"))
    same = waiting.where(OUTBOX.c.domain == walk.c.domain, OUTBOX.c.id > walk.c.id).order_by(OUTBOX.c.id)
    other = waiting.where(OUTBOX.c.domain > walk.c.domain).order_by(OUTBOX.c.domain, OUTBOX.c.id)
    same_if_free = case((walk.c.taken < share, same.correlate(walk).scalar_subquery()))
    following = func.coalesce(same_if_free, other.correlate(walk).scalar_subquery())
    email = OUTBOX.alias("email")
    walk = walk.union_all(
        select(
            email.c.domain,
            email.c.id,
            case((email.c.domain == walk.c.domain, walk.c.taken + 1), else_=literal_column("1")),
            walk.c.total + 1,
        )
        .join_from(walk, email, email.c.id == following)
        .where(walk.c.total < most)
    )
    return _claim(select(walk.c.id))


# Workers run these every few seconds, so they are built once.
_DUE = (
    select(OUTBOX.c.id)
    .where(_WAITS, OUTBOX.c.rank < LEFT)
    .order_by(OUTBOX.c.due_at)
    .limit(bindparam("most", type_=Integer))
)
_THESE = _claim(bindparam("these", expanding=True))
_IN_TURN = _in_turn()
_BY_INDEX = select(*(func.set_config(f"enable_{way}", "off", True) for way in ("sort", "hashjoin", "seqscan")))  # noqa: FBT003 - for this transaction
_ALONE = _claim(
    select(OUTBOX.c.id)
    # So written, the index by ranks fits best, where they are few.
    .where(
        _IS_QUEUED, OUTBOX.c.rank == LEFT, OUTBOX.c.domain >= "", case((OUTBOX.c.due_at <= _NOW, OUTBOX.c.rank)) == LEFT
    )
    .order_by(OUTBOX.c.attempts, OUTBOX.c.id)
    .limit(literal_column("1"))
)
_ANY_LEFT = (
    select(OUTBOX.c.id).where(_IS_QUEUED, OUTBOX.c.rank == LEFT, OUTBOX.c.domain >= "").limit(literal_column("1"))
)
_MESSAGES_OF_EACH = (
    select(OUTBOX.c.id, OUTBOX.c.due_at, place_of_person())
    .where(_IS_QUEUED, OUTBOX.c.rank == BY_CHANNEL, OUTBOX.c.lease_id.is_(None), OUTBOX.c.due_at <= _NOW)
    .subquery()
)
_MESSAGES = _claim(
    select(_MESSAGES_OF_EACH.c.id)
    .where(_MESSAGES_OF_EACH.c.place <= bindparam("share", type_=Integer))
    .order_by(_MESSAGES_OF_EACH.c.place, _MESSAGES_OF_EACH.c.due_at)
    .limit(bindparam("most", type_=Integer))
)
_ANY_MESSAGE = (
    select(OUTBOX.c.id)
    .where(_IS_QUEUED, OUTBOX.c.rank == BY_CHANNEL, OUTBOX.c.due_at <= _NOW)
    .limit(literal_column("1"))
)
_END = delete(LEASE).where(or_(LEASE.c.until <= _NOW, LEASE.c.id == bindparam("finished"))).returning(LEASE.c.id)


def claim(tx: Connection, now: datetime, lease_id: int, limit: int, after: str = "") -> tuple[list[EmailRow], str]:
    """Claim due emails under a lease; each claim counts as an attempt.

    What games wait for comes first. If not all fit, each domain has its turn, from the one behind `after`. Returns the emails,
    and the domain to go on behind.
    """
    last = ""
    due = list(tx.execute(_DUE, {"now": now, "most": limit + 1}).scalars())
    if len(due) <= limit:
        emails = queries.many(tx, EmailRow, _THESE, {"lease": lease_id, "these": due}) if due else []
    else:
        if tx.dialect.name == "postgresql":
            # It knows the queue of another hour, and would read and sort all of it for each email.
            tx.execute(_BY_INDEX)
        emails, last = _claim_in_turn(tx, now, lease_id, limit, after)
    return sorted(emails, key=lambda email: (email.rank, email.due_at, email.id)), last


def _claim_in_turn(tx: Connection, now: datetime, lease_id: int, limit: int, after: str) -> tuple[list[EmailRow], str]:
    emails: list[EmailRow] = []
    last = ""
    for rank in range(LEFT):
        start, share = after, SHARE
        while (room := limit - len(emails)) > 0:
            values = {"now": now, "lease": lease_id, "of_rank": rank, "after": start, "share": share, "most": room}
            found = queries.many(tx, EmailRow, _IN_TURN, values)
            emails += found
            if start or share == SHARE:
                last = max((email.domain for email in found), default=last)
            taken = Counter(email.domain for email in found)
            full = [domain for domain, number in taken.items() if number >= share]
            if not start and not full:
                break
            # Round the whole circle once, then give those that have more what is left.
            share = share if start else max(SHARE, -(-(room - len(found)) // len(full)))
            start = ""
    return emails, last if len(emails) >= limit else ""


def any_left(tx: Connection) -> bool:
    """Whether there are emails that a sender left behind."""
    return tx.execute(_ANY_LEFT).first() is not None


def claim_left(tx: Connection, now: datetime, lease_id: int) -> list[EmailRow]:
    """Claim one email that a sender left behind, of those that were tried least often."""
    return queries.many(tx, EmailRow, _ALONE, {"now": now, "lease": lease_id})


def any_message(tx: Connection, now: datetime) -> bool:
    """Whether a message through a channel is due, also one that is claimed."""
    return tx.execute(_ANY_MESSAGE, {"now": now}).first() is not None


def claim_messages(tx: Connection, now: datetime, lease_id: int, limit: int) -> list[EmailRow]:
    """Claim due messages through channels, a few of each person, under a lease; each claim counts as an attempt."""
    values = {"now": now, "lease": lease_id, "most": limit, "share": MESSAGES_OF_ONE}
    messages = queries.many(tx, EmailRow, _MESSAGES, values)
    return sorted(messages, key=lambda message: (message.due_at, message.id))


def begin(tx: Connection, lease_id: int, until: datetime) -> None:
    tx.execute(insert(LEASE), {"id": lease_id, "until": until})


def renew(tx: Connection, lease_id: int, until: datetime) -> bool:
    """Keep a lease for longer; False if it is over."""
    return tx.execute(update(LEASE).where(LEASE.c.id == lease_id).values(until=until)).rowcount == 1


def end_all(tx: Connection, now: datetime) -> None:
    """Let all leases run out now: their senders are known to be gone."""
    tx.execute(update(LEASE).values(until=now))


def end(tx: Connection, now: datetime, finished: int = 0) -> None:
    """End a lease that holds no email any more, and those that have run out; what these hold is free."""
    if expired := set(tx.execute(_END, {"now": now, "finished": finished}).scalars()) - {finished}:
        held = (_IS_QUEUED, OUTBOX.c.lease_id.in_(expired))
        rank = case((OUTBOX.c.rank == BY_CHANNEL, BY_CHANNEL), else_=LEFT)
        tx.execute(update(OUTBOX).where(*held).values(lease_id=None, rank=rank))


def release(tx: Connection, email: EmailRow, due_at: datetime) -> None:
    """Release a claimed email if the lease is still ours, uncounted. One that was tried before is sent alone."""
    held = (OUTBOX.c.id == email.id, OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.lease_id == email.lease_id)
    rank = LEFT if email.attempts > 1 and not email.channel_id else email.rank
    tx.execute(
        update(OUTBOX).where(*held).values(lease_id=None, rank=rank, due_at=due_at, attempts=OUTBOX.c.attempts - 1)
    )


def lock_leased(tx: Connection, emails: Collection[EmailRow]) -> set[int]:
    """Lock these claimed emails; returns the ids of those whose lease is still ours."""
    held = {email.id: email.lease_id for email in emails}
    query = select(OUTBOX.c.id, OUTBOX.c.lease_id).where(OUTBOX.c.id.in_(held), _IS_QUEUED)
    rows = tx.execute(query.order_by(OUTBOX.c.id).with_for_update())
    return {row.id for row in rows if row.lease_id == held[row.id]}
