"""Sessions: browsers in which someone is signed in, and hashes of their secrets. Nothing is decided here."""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import ColumnElement, Connection, Update, bindparam, delete, select, update

from pbem.store import queries, revocations
from pbem.store.schema import SESSION, SessionRow

# Asked for every page of a signed-in visitor.
_FIND = select(SESSION).where(SESSION.c.secret_hash == bindparam("hash"))


@dataclass(frozen=True, slots=True)
class Holder:
    """The owner of a session: a person or an organiser, never both."""

    person_id: int | None = None
    organiser_id: int | None = None

    def __post_init__(self) -> None:
        if (self.person_id is None) == (self.organiser_id is None):
            raise ValueError("a session is of a person or of an organiser")


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
    return queries.add(tx, SESSION, values)


def find(tx: Connection, secret_hash: bytes) -> SessionRow | None:
    """The session whose secret has this hash, if there is one."""
    return queries.one(tx, SessionRow, _FIND, {"hash": secret_hash})


def read(tx: Connection, session_id: int) -> SessionRow | None:
    """One session, open or not; None if it was deleted."""
    return queries.one(tx, SessionRow, select(SESSION).where(SESSION.c.id == session_id))


def open_since(tx: Connection, holder: Holder, since: datetime) -> list[SessionRow]:
    """The sessions opened after this moment and not ended, newest first."""
    query = select(SESSION).where(*_open(holder), SESSION.c.made_at > since).order_by(SESSION.c.id.desc())
    return queries.many(tx, SessionRow, query)


def used(tx: Connection, session_id: int, day: date) -> None:
    """Note that the session was used on this day."""
    tx.execute(update(SESSION).where(SESSION.c.id == session_id).values(used_on=day))


def checked(tx: Connection, session_id: int, now: datetime) -> None:
    """Note that the passphrase was checked again."""
    tx.execute(update(SESSION).where(SESSION.c.id == session_id).values(checked_at=now))


def end(tx: Connection, holder: Holder, session_id: int, now: datetime) -> bool:
    """End a session of this holder; False if it is not theirs or has ended."""
    revocations.begin(tx, holder)
    return tx.execute(_ended(now).where(*_open(holder), SESSION.c.id == session_id)).rowcount == 1


def end_all(tx: Connection, holder: Holder, now: datetime, but: int | None = None) -> int:
    """End all sessions of this holder, except `but`; returns how many."""
    revocations.begin(tx, holder)
    others = () if but is None else (SESSION.c.id != but,)
    return tx.execute(_ended(now).where(*_open(holder), *others)).rowcount


def end_everybodys(tx: Connection, now: datetime) -> None:
    """End every session there is."""
    tx.execute(_ended(now).where(SESSION.c.ended_at.is_(None)))


def forget_before(tx: Connection, moment: datetime) -> int:
    """Drop sessions opened before this moment; returns how many."""
    return tx.execute(delete(SESSION).where(SESSION.c.made_at < moment)).rowcount


def _open(holder: Holder) -> tuple[ColumnElement[bool], ...]:
    same_holder = (
        SESSION.c.organiser_id == holder.organiser_id
        if holder.person_id is None
        else SESSION.c.person_id == holder.person_id
    )
    return same_holder, SESSION.c.ended_at.is_(None)


def _ended(now: datetime) -> Update:
    return update(SESSION).values(ended_at=now)
