"""Our copies of emails and messages: kept once they are written, until they are accepted, and dropped to be written again."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, Select, bindparam, func, or_, select, update

from pbem.domain.states import EmailStatus
from pbem.store import person_names
from pbem.store.outbox import EmailRow
from pbem.store.schema import OUTBOX
from pbem.store.types import Moment

_WRITTEN = ("body", "message_id", "rendered_at", "lines")
_KEEP = (
    update(OUTBOX)
    .where(OUTBOX.c.id == bindparam("of_id"))
    .values({name: bindparam(f"new_{name}", type_=OUTBOX.c[name].type) for name in _WRITTEN})
)
_SEND = (
    update(OUTBOX)
    .where(OUTBOX.c.id == bindparam("of_id"))
    .values(
        status=EmailStatus.SENT,
        lease_id=None,
        accepted_at=func.coalesce(OUTBOX.c.accepted_at, bindparam("new_accepted_at", type_=Moment)),
    )
)
_UNWRITE = (
    update(OUTBOX)
    .where(OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.body.is_not(None))
    .values(body=None, message_id=None, rendered_at=None, lines=None)
)


def keep(tx: Connection, written: Iterable[EmailRow]) -> None:
    """Keep the bytes of emails, with their Message-ID."""
    rows = [{"of_id": email.id} | {f"new_{name}": getattr(email, name) for name in _WRITTEN} for email in written]
    if rows:
        tx.execute(_KEEP, rows)


def send(tx: Connection, accepted: Mapping[int, datetime]) -> None:
    """Mark emails as sent, with the moment they were first accepted."""
    rows = [{"of_id": outbox_id, "new_accepted_at": at} for outbox_id, at in accepted.items()]
    if rows:
        tx.execute(_SEND, rows)


def unwrite_queued(tx: Connection) -> list[int]:
    """Drop the bytes of all queued emails, so that they are written again; returns their ids."""
    return list(tx.execute(_UNWRITE.returning(OUTBOX.c.id)).scalars())


def unwrite_naming(tx: Connection, game_ids: Select[tuple[int]]) -> None:
    """Drop the bytes of queued emails that may name a player of these games, or name people by `person_names`.

    They're written again, and keep their Message-ID: one of them may have arrived already, as far as anyone knows. All are locked
    in the order of their ids, against deadlocks, so none is written meanwhile from what is changing.
    """
    may_name = or_(
        OUTBOX.c.game_id.in_(game_ids), OUTBOX.c.game_id.is_(None), OUTBOX.c.facts.contains(person_names.REFERENCE)
    )
    these = (OUTBOX.c.status == EmailStatus.QUEUED, may_name)
    tx.execute(select(OUTBOX.c.id).where(*these).order_by(OUTBOX.c.id).with_for_update()).all()
    tx.execute(update(OUTBOX).where(*these, OUTBOX.c.body.is_not(None)).values(body=None))


def unwrite_to(tx: Connection, person_id: int) -> None:
    """Drop the bytes of a person's queued emails, so that they are written again."""
    tx.execute(_UNWRITE.where(OUTBOX.c.person_id == person_id))
