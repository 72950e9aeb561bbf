"""Organisers, who may sign in to the desk. Of a passphrase only the argon2 hash is stored."""

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
    """An organiser."""

    id: int
    name: str
    address: str = field(repr=False)
    passphrase: str = field(repr=False)
    created_at: datetime
    totp: str | None = field(repr=False)
    totp_step: int | None


def add(tx: Connection, name: str, address: str, passphrase: str, now: datetime) -> int:
    """Add an organiser and return the id."""
    values = {"name": name, "address": address, "passphrase": passphrase, "created_at": now}
    return int(tx.execute(insert(_ORGANISER).returning(_ORGANISER.c.id), values).scalar_one())


def by_name(tx: Connection, name: str) -> OrganiserRow | None:
    """The organiser with this name, if there is one."""
    row = tx.execute(select(_ORGANISER).where(_ORGANISER.c.name == name)).one_or_none()
    return None if row is None else OrganiserRow(**row._mapping)


def read(tx: Connection, organiser_id: int) -> OrganiserRow:
    """An organiser. Raises NotFound."""
    return _one(tx.execute(_READ, {"of_id": organiser_id}).one_or_none())


def lock(tx: Connection, organiser_id: int) -> OrganiserRow:
    """Lock an organiser. Raises NotFound."""
    return _one(tx.execute(_READ.with_for_update(), {"of_id": organiser_id}).one_or_none())


def change(tx: Connection, organiser_id: int, **values: Any) -> None:
    """Change columns of an organiser."""
    tx.execute(update(_ORGANISER).where(_ORGANISER.c.id == organiser_id).values(**values))


def all_of_them(tx: Connection) -> list[OrganiserRow]:
    """All organisers, by name."""
    return [OrganiserRow(**row._mapping) for row in tx.execute(select(_ORGANISER).order_by(_ORGANISER.c.name))]


def remove(tx: Connection, name: str) -> bool:
    """Remove an organiser; False if there is none with this name."""
    return tx.execute(delete(_ORGANISER).where(_ORGANISER.c.name == name)).rowcount > 0


def _one(row: Row[Any] | None) -> OrganiserRow:
    if row is None:
        raise NotFound(_("There is no such organiser."), remedy=_("`pbem organiser list` shows all."))
    return OrganiserRow(**row._mapping)
