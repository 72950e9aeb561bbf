"""Sessions: browsers in which a person or organiser is signed in. Of the browser's secret only a hash is stored.

This module only reads and writes; it must not decide how long a session lasts or who may end it.
"""

from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import ColumnElement, Connection, Update, bindparam, delete, insert, select, update

from pbem.store.schema import Session, table_of

_SESSION = table_of(Session)
# Asked for every page of a signed-in visitor.
_FIND = select(_SESSION).where(_SESSION.c.secret_hash == bindparam("hash"))


@dataclass(frozen=True, slots=True)
class Holder:
    """The owner of a session: a person or an organiser, never both."""

    person_id: int | None = None
    organiser_id: int | None = None

    def __post_init__(self) -> None:
        if (self.person_id is None) == (self.organiser_id is None):
            raise ValueError("a session is of a person or of an organiser")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A signed-in browser."""

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
    """Add a session and return its id. An organiser's passphrase was checked just now."""
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
    """The session whose secret has this hash, if there is one."""
    row = tx.execute(_FIND, {"hash": secret_hash}).one_or_none()
    return None if row is None else SessionRow(**row._mapping)


def open_since(tx: Connection, holder: Holder, since: datetime) -> list[SessionRow]:
    """The sessions opened after this moment and not ended, newest first."""
    query = select(_SESSION).where(*_open(holder), _SESSION.c.made_at > since).order_by(_SESSION.c.id.desc())
    return [SessionRow(**row._mapping) for row in tx.execute(query)]


def used(tx: Connection, session_id: int, day: date) -> None:
    """Note that the session was used on this day."""
    tx.execute(update(_SESSION).where(_SESSION.c.id == session_id).values(used_on=day))


def checked(tx: Connection, session_id: int, now: datetime) -> None:
    """Note that the passphrase was checked again."""
    tx.execute(update(_SESSION).where(_SESSION.c.id == session_id).values(checked_at=now))


def end(tx: Connection, holder: Holder, session_id: int, now: datetime) -> bool:
    """End a session of this holder; False if it is not theirs or has ended."""
    return tx.execute(_ended(now).where(*_open(holder), _SESSION.c.id == session_id)).rowcount == 1


def end_all(tx: Connection, holder: Holder, now: datetime, but: int | None = None) -> int:
    """End all sessions of this holder, except `but`; returns how many."""
    others = () if but is None else (_SESSION.c.id != but,)
    return tx.execute(_ended(now).where(*_open(holder), *others)).rowcount


def forget_before(tx: Connection, moment: datetime) -> int:
    """Drop sessions opened before this moment; returns how many."""
    return tx.execute(delete(_SESSION).where(_SESSION.c.made_at < moment)).rowcount


def _open(holder: Holder) -> tuple[ColumnElement[bool], ...]:
    same_holder = (
        _SESSION.c.organiser_id == holder.organiser_id
        if holder.person_id is None
        else _SESSION.c.person_id == holder.person_id
    )
    return same_holder, _SESSION.c.ended_at.is_(None)


def _ended(now: datetime) -> Update:
    return update(_SESSION).values(ended_at=now)
