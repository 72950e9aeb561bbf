"""Mails on their way out: leased, written, sent, or given back.

A mail is rendered once and its bytes are kept; the sender leases it, sends it outside of any transaction, and writes down
what happened. The attempt is counted in the claim, before the work, so that a mail that breaks its sender ends parked and
visible. What is put into the queue, and what is known of a mail, is the business of `outbox`.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Integer, and_, bindparam, func, or_, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from pbem.store.outbox import OutboxRow
from pbem.store.schema import Outbox, table_of
from pbem.store.types import Moment

_OUTBOX = table_of(Outbox)


def _claim(free: ColumnElement[bool], first: ColumnElement[datetime]) -> ReturningUpdate[tuple[object, ...]]:
    due = (_OUTBOX.c.status == "queued", _OUTBOX.c.due_at <= bindparam("now", type_=Moment))
    found = select(_OUTBOX.c.id).where(*due, free).order_by(first, _OUTBOX.c.id)
    leased = found.limit(bindparam("most", type_=Integer)).with_for_update(skip_locked=True).cte("free")
    claimed = update(_OUTBOX).where(_OUTBOX.c.id.in_(select(leased.c.id)))
    return claimed.values(claimed_until=bindparam("until"), attempts=_OUTBOX.c.attempts + 1).returning(_OUTBOX)


# A worker asks every few seconds whether there is anything to do, so these are built once.
_CLAIM = _claim(_OUTBOX.c.claimed_until.is_(None), _OUTBOX.c.due_at)
_CLAIM_LEFT = _claim(_OUTBOX.c.claimed_until <= bindparam("now", type_=Moment), _OUTBOX.c.claimed_until)
_KEPT = (
    update(_OUTBOX)
    .where(_OUTBOX.c.id == bindparam("of_id"))
    .values(
        {name: bindparam(f"new_{name}", type_=_OUTBOX.c[name].type) for name in ("body", "message_id", "rendered_at")}
    )
)
_SENT = (
    update(_OUTBOX)
    .where(_OUTBOX.c.id == bindparam("of_id"))
    .values(
        status="sent",
        claimed_until=None,
        accepted_at=func.coalesce(_OUTBOX.c.accepted_at, bindparam("new_accepted_at", type_=Moment)),
    )
)


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[OutboxRow]:
    """Lease mails that are due and that nobody has begun to send; each claim counts as an attempt.

    Where there are none, it is one whose lease ran out without a word, the one that was left the longest time ago: it may
    have ended its sender, and by itself it takes no other with it.
    """
    return _leased(tx, _CLAIM, now, until, limit) or _leased(tx, _CLAIM_LEFT, now, until, 1)


def release(tx: Connection, mail: OutboxRow, due_at: datetime) -> None:
    """Give a claimed mail back without a try, because it was not the mail's fault; if it is still ours to give.

    One that was tried before goes back among those that were left: it may be one of them, and alone it can do no harm.
    """
    ours = (_OUTBOX.c.id == mail.id, _OUTBOX.c.status == "queued", _OUTBOX.c.claimed_until == mail.claimed_until)
    left = due_at if mail.attempts > 1 else None
    given = update(_OUTBOX).where(*ours)
    tx.execute(given.values(claimed_until=left, due_at=due_at, attempts=_OUTBOX.c.attempts - 1))


def keep(tx: Connection, written: Iterable[OutboxRow]) -> None:
    """Keep the bytes of mails that have been written."""
    rows = [
        {
            "of_id": mail.id,
            "new_body": mail.body,
            "new_message_id": mail.message_id,
            "new_rendered_at": mail.rendered_at,
        }
        for mail in written
    ]
    if rows:
        tx.execute(_KEPT, rows)


def send(tx: Connection, accepted: Mapping[int, datetime]) -> None:
    """Note that mails are sent, and when they were first accepted."""
    rows = [{"of_id": each, "new_accepted_at": at} for each, at in accepted.items()]
    if rows:
        tx.execute(_SENT, rows)


def lock_leased(tx: Connection, mails: Collection[OutboxRow]) -> set[int]:
    """Which of these claimed mails are still their claimer's; nobody else changes them until this transaction ends."""
    leases = {mail.id: mail.claimed_until for mail in mails}
    wanted = select(_OUTBOX.c.id, _OUTBOX.c.claimed_until).where(_OUTBOX.c.id.in_(leases), _OUTBOX.c.status == "queued")
    found = tx.execute(wanted.order_by(_OUTBOX.c.id).with_for_update())
    return {row.id for row in found if row.claimed_until == leases[row.id]}


def came_back(tx: Connection, outbox_id: int) -> None:
    """Note that a mail that was sent never arrived; also one whose sender has not written down yet that it has left."""
    just_left = and_(_OUTBOX.c.status == "queued", _OUTBOX.c.claimed_until.is_not(None))
    gone = update(_OUTBOX).where(_OUTBOX.c.id == outbox_id, or_(_OUTBOX.c.status == "sent", just_left))
    tx.execute(gone.values(status="undeliverable"))


def unwrite_queued(tx: Connection) -> list[int]:
    """Forget the bytes of all mails that wait, so that they are written anew; which those are."""
    waiting = (_OUTBOX.c.status == "queued", _OUTBOX.c.body.is_not(None))
    forgotten = update(_OUTBOX).where(*waiting).values(body=None, message_id=None, rendered_at=None)
    return list(tx.execute(forgotten.returning(_OUTBOX.c.id)).scalars())


def unwrite_to(tx: Connection, person_id: int) -> None:
    """Forget the bytes of the mails that wait for a person, so that they are written anew."""
    waiting = (_OUTBOX.c.person_id == person_id, _OUTBOX.c.status == "queued", _OUTBOX.c.body.is_not(None))
    tx.execute(update(_OUTBOX).where(*waiting).values(body=None, message_id=None, rendered_at=None))


def _leased(
    tx: Connection, claim: ReturningUpdate[tuple[object, ...]], now: datetime, until: datetime, most: int
) -> list[OutboxRow]:
    found = tx.execute(claim, {"now": now, "until": until, "most": most})
    return sorted((OutboxRow(**row._mapping) for row in found), key=lambda row: (row.due_at, row.id))
