"""Requests for links by people who have typed an address, known or not, until a worker takes them."""

from datetime import datetime

from sqlalchemy import Connection, delete, select

from pbem.store import queries
from pbem.store.schema import LINK_REQUEST, LinkRequestRow

_OLDEST = select(LINK_REQUEST).order_by(LINK_REQUEST.c.id).limit(1).with_for_update(skip_locked=True)


def add(tx: Connection, mailbox: str, quota: str, now: datetime) -> None:
    queries.add(tx, LINK_REQUEST, {"mailbox": mailbox, "quota": quota, "at": now})


def take(tx: Connection) -> LinkRequestRow | None:
    """Delete the oldest request that no other worker has taken, and return it; None if there is none."""
    request = queries.one(tx, LinkRequestRow, _OLDEST)
    if request is not None:
        tx.execute(delete(LINK_REQUEST).where(LINK_REQUEST.c.id == request.id))
    return request
