"""Guests of the demo, as rows: counting them, and deleting one with every row that refers to them.

This is the only module that deletes games and logs. It must only be given guests, who share no table with anyone.
"""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, delete, func, or_, select

from pbem.domain.guests import DOMAIN
from pbem.store import search
from pbem.store.schema import Audit, Base, Game, Link, Outbox, Person, table_of

_AUDIT, _GAME, _LINK, _OUTBOX = table_of(Audit), table_of(Game), table_of(Link), table_of(Outbox)
_PERSON = table_of(Person)

_AUDIT, _GAME, _LINK, _OUTBOX, _PERSON = map(table_of, (Audit, Game, Link, Outbox, Person))

IS_GUEST: Final[ColumnElement[bool]] = _PERSON.c.mailbox.like(f"%@{DOMAIN}")
"""Whether a person is a guest."""

IS_DEMO: Final[ColumnElement[bool]] = (
    select(_PERSON.c.id).where(_PERSON.c.id == _GAME.c.host_id, IS_GUEST).correlate(_GAME).exists()
)
"""Whether a table is a guest's, and so will be deleted within a day."""


def count_since(tx: Connection, moment: datetime) -> int:
    """The number of guests since this moment."""
    query = select(func.count()).select_from(_PERSON).where(IS_GUEST, _PERSON.c.created_at > moment)
    return tx.execute(query).scalar_one()


def ids_before(tx: Connection, moment: datetime, after: int, limit: int) -> list[int]:
    """Guests from before this moment with a higher id than `after`, by id.

    Guests in the audit are left out: audited rows stay.
    """
    audited = select(_AUDIT.c.seq).join(_GAME, _AUDIT.c.game_id == _GAME.c.id).where(_GAME.c.host_id == _PERSON.c.id)
    guests = select(_PERSON.c.id).where(
        IS_GUEST,
        _PERSON.c.id > after,
        _PERSON.c.created_at < moment,
        ~audited.exists(),
        ~select(_AUDIT.c.seq).where(_AUDIT.c.person_id == _PERSON.c.id).exists(),
    )
    return list(tx.execute(guests.order_by(_PERSON.c.id).limit(limit)).scalars())


def forget(tx: Connection, person_id: int) -> None:
    """Delete a guest, their tables, and every row that refers to these."""
    hosted = tx.execute(select(_GAME.c.id).where(_GAME.c.host_id == person_id)).scalars()
    doomed: dict[Table, list[int]] = {_PERSON: [person_id], _GAME: list(hosted)}
    for table in (_OUTBOX, _LINK):
        doomed[table] = list(tx.execute(select(table.c.id).where(_hangs_on(table, doomed))).scalars())
    search.forget(tx, "person", doomed[_PERSON])
    search.forget(tx, "table", doomed[_GAME])
    # In reverse order of reference, so that no row ever refers to a deleted one.
    for table in reversed(Base.metadata.sorted_tables):
        own = [table.c.id.in_(doomed[table])] if table in doomed else []
        refers = _references(table, doomed)
        if own or refers:
            tx.execute(delete(table).where(or_(*own, *refers)))


def _hangs_on(table: Table, doomed: dict[Table, list[int]]) -> ColumnElement[bool]:
    return or_(*_references(table, doomed))


def _references(table: Table, doomed: dict[Table, list[int]]) -> list[ColumnElement[Any]]:
    """A condition for each reference of a table to rows to be deleted."""
    return [key.parent.in_(doomed[key.column.table]) for key in table.foreign_keys if key.column.table in doomed]
