"""Those who may sign in to the desk. Of a passphrase only its argon2 hash is here."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.store.schema import Organiser, table_of

_ORGANISER = table_of(Organiser)
_READ = select(_ORGANISER).where(_ORGANISER.c.id == bindparam("of_id"))


@dataclass(frozen=True, slots=True)
class OrganiserRow:
    """One organiser."""

    id: int
    name: str
    address: str = field(repr=False)
    passphrase: str = field(repr=False)
    created_at: datetime
    totp: str | None = field(repr=False)
    totp_step: int | None


def add(tx: Connection, name: str, address: str, passphrase: str, now: datetime) -> int:
    """Somebody new; their number."""
    values = {"name": name, "address": address, "passphrase": passphrase, "created_at": now}
    return int(tx.execute(insert(_ORGANISER).returning(_ORGANISER.c.id), values).scalar_one())


def by_name(tx: Connection, name: str) -> OrganiserRow | None:
    """The organiser of that name."""
    row = tx.execute(select(_ORGANISER).where(_ORGANISER.c.name == name)).one_or_none()
    return None if row is None else OrganiserRow(**row._mapping)


def read(tx: Connection, organiser_id: int) -> OrganiserRow:
    """The organiser of that number; not found if they were removed."""
    return _one(tx.execute(_READ, {"of_id": organiser_id}).one_or_none())


def lock(tx: Connection, organiser_id: int) -> OrganiserRow:
    """The same, whom nobody else changes until this transaction ends."""
    return _one(tx.execute(_READ.with_for_update(), {"of_id": organiser_id}).one_or_none())


def change(tx: Connection, organiser_id: int, **values: Any) -> None:
    """Write what an organiser has decided."""
    tx.execute(update(_ORGANISER).where(_ORGANISER.c.id == organiser_id).values(**values))


def all_of_them(tx: Connection) -> list[OrganiserRow]:
    """All organisers, by name."""
    return [OrganiserRow(**row._mapping) for row in tx.execute(select(_ORGANISER).order_by(_ORGANISER.c.name))]


def remove(tx: Connection, name: str) -> bool:
    """Take somebody off the list; False if they were not on it."""
    return tx.execute(delete(_ORGANISER).where(_ORGANISER.c.name == name)).rowcount > 0


def _one(row: Row[Any] | None) -> OrganiserRow:
    if row is None:
        raise NotFound(_("There is no such organiser."), remedy=_("`pbem organiser list` shows all."))
    return OrganiserRow(**row._mapping)
