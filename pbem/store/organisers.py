"""Organisers, who may sign in to the desk. Of a passphrase only the argon2 hash is stored."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.store import queries
from pbem.store.schema import ORGANISER, OrganiserRow

_READ = select(ORGANISER).where(ORGANISER.c.id == bindparam("of_id"))


def add(tx: Connection, name: str, address: str, person_id: int, passphrase: str, now: datetime) -> int:
    """Add an organiser and return the id."""
    values = {"name": name, "address": address, "person_id": person_id, "passphrase": passphrase, "created_at": now}
    return queries.add(tx, ORGANISER, values)


def by_name(tx: Connection, name: str) -> OrganiserRow | None:
    """The organiser with this name, if there is one."""
    return queries.one(tx, OrganiserRow, select(ORGANISER).where(ORGANISER.c.name == name))


def read(tx: Connection, organiser_id: int) -> OrganiserRow:
    """An organiser. Raises NotFound."""
    return _one(tx, _READ, organiser_id)


def lock(tx: Connection, organiser_id: int) -> OrganiserRow:
    """Lock an organiser. Raises NotFound."""
    return _one(tx, _READ.with_for_update(), organiser_id)


def change(tx: Connection, organiser_id: int, **values: Any) -> None:
    """Change columns of an organiser."""
    tx.execute(update(ORGANISER).where(ORGANISER.c.id == organiser_id).values(**values))


def all_of_them(tx: Connection) -> list[OrganiserRow]:
    """All organisers, by name."""
    return queries.many(tx, OrganiserRow, select(ORGANISER).order_by(ORGANISER.c.name))


def remove(tx: Connection, name: str) -> bool:
    """Remove an organiser; False if there is none with this name."""
    return tx.execute(delete(ORGANISER).where(ORGANISER.c.name == name)).rowcount > 0


def _one(tx: Connection, query: Select[Any], organiser_id: int) -> OrganiserRow:
    organiser = queries.one(tx, OrganiserRow, query, {"of_id": organiser_id})
    if organiser is None:
        raise NotFound(_("There is no such organiser."), remedy=_("List them with `pbem organiser list`."))
    return organiser
