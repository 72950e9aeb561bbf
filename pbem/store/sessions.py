"""Who has signed in, with which browser. Of what the browser holds only a hash is here.

How long a session lasts and who may end it is not decided here; this module only reads and writes.
"""

from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import ColumnElement, Connection, Update, bindparam, delete, insert, select, update

from pbem.store.schema import Session, table_of

_SESSION = table_of(Session)
# Asked for every page of whoever has signed in.
_FIND = select(_SESSION).where(_SESSION.c.secret_hash == bindparam("hash"))


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose a session is: a person's or an organiser's, and exactly one of them."""

    person_id: int | None = None
    organiser_id: int | None = None

    def __post_init__(self) -> None:
        if (self.person_id is None) == (self.organiser_id is None):
            raise ValueError("a session is of a person or of an organiser")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One browser that has signed in."""

    id: int
    person_id: int | None
    organiser_id: int | None
    secret_hash: bytes = field(repr=False)
    label: str
    made_at: datetime
    used_on: date
    checked_at: datetime | None
    ended_at: datetime | None


def add(tx: Connection, holder: Holder, secret_hash: bytes, label: str, now: datetime) -> int:
    """A new session; its number. An organiser has just been asked for the passphrase."""
    values = {
        "person_id": holder.person_id,
        "organiser_id": holder.organiser_id,
        "secret_hash": secret_hash,
        "label": label,
        "made_at": now,
        "used_on": now.date(),
        "checked_at": None if holder.organiser_id is None else now,
    }
    return int(tx.execute(insert(_SESSION).returning(_SESSION.c.id), values).scalar_one())


def find(tx: Connection, secret_hash: bytes) -> SessionRow | None:
    """The session of a browser that holds the secret with this hash."""
    row = tx.execute(_FIND, {"hash": secret_hash}).one_or_none()
    return None if row is None else SessionRow(**row._mapping)


def open_since(tx: Connection, holder: Holder, since: datetime) -> list[SessionRow]:
    """The sessions that were opened after this moment and were not ended, the newest first."""
    wanted = select(_SESSION).where(*_open(holder), _SESSION.c.made_at > since).order_by(_SESSION.c.id.desc())
    return [SessionRow(**row._mapping) for row in tx.execute(wanted)]


def used(tx: Connection, session_id: int, day: date) -> None:
    """Note that a button was pressed on this day."""
    tx.execute(update(_SESSION).where(_SESSION.c.id == session_id).values(used_on=day))


def checked(tx: Connection, session_id: int, now: datetime) -> None:
    """Note that the passphrase was asked for again, and was right."""
    tx.execute(update(_SESSION).where(_SESSION.c.id == session_id).values(checked_at=now))


def end(tx: Connection, holder: Holder, session_id: int, now: datetime) -> bool:
    """End a session of this holder; False if it is none of theirs, or has ended."""
    return tx.execute(_ended(now).where(*_open(holder), _SESSION.c.id == session_id)).rowcount == 1


def end_all(tx: Connection, holder: Holder, now: datetime, but: int | None = None) -> int:
    """End all sessions of this holder, or all but one; how many that were."""
    others = () if but is None else (_SESSION.c.id != but,)
    return tx.execute(_ended(now).where(*_open(holder), *others)).rowcount


def forget_before(tx: Connection, moment: datetime) -> int:
    """Drop sessions that were opened before this moment; how many that were."""
    return tx.execute(delete(_SESSION).where(_SESSION.c.made_at < moment)).rowcount


def _open(holder: Holder) -> tuple[ColumnElement[bool], ...]:
    whose = (
        _SESSION.c.organiser_id == holder.organiser_id
        if holder.person_id is None
        else _SESSION.c.person_id == holder.person_id
    )
    return whose, _SESSION.c.ended_at.is_(None)


def _ended(now: datetime) -> Update:
    return update(_SESSION).values(ended_at=now)
