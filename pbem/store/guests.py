"""Guests of the demo, as rows: counting them, and deleting one with every row that refers to them.

This is the only module that deletes games and logs. It must only be given guests, who share no table with anyone, and
strangers, whose tables never opened (see `strangers`).
"""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, delete, or_, select

from pbem.domain.guests import DOMAIN
from pbem.store import queries, search
from pbem.store.limits import Period, within
from pbem.store.schema import AUDIT, GAME, LINK, METADATA, OUTBOX, PERSON

IS_GUEST: Final[ColumnElement[bool]] = PERSON.c.mailbox.like(f"%@{DOMAIN}")
"""Whether a person is a guest."""

IS_DEMO: Final[ColumnElement[bool]] = (
    select(PERSON.c.id).where(PERSON.c.id == GAME.c.host_id, IS_GUEST).correlate(GAME).exists()
)
"""Whether a table is a guest's, and so will be deleted within a day."""


def count_in(tx: Connection, period: Period) -> int:
    return queries.count(tx, PERSON, IS_GUEST, within(PERSON.c.created_at, period))


def ids_before(tx: Connection, moment: datetime, after: int, limit: int) -> list[int]:
    """Guests from before this moment with ids above `after`, by id; without those in the audit, whose rows stay."""
    audited = select(AUDIT.c.seq).join(GAME, AUDIT.c.game_id == GAME.c.id).where(GAME.c.host_id == PERSON.c.id)
    guests = select(PERSON.c.id).where(
        IS_GUEST,
        PERSON.c.id > after,
        PERSON.c.created_at < moment,
        ~audited.exists(),
        ~select(AUDIT.c.seq).where(AUDIT.c.person_id == PERSON.c.id).exists(),
    )
    return list(tx.execute(guests.order_by(PERSON.c.id).limit(limit)).scalars())


def forget(tx: Connection, person_id: int) -> None:
    """Delete a guest or stranger, their tables, and every row that refers to these."""
    hosted = tx.execute(select(GAME.c.id).where(GAME.c.host_id == person_id)).scalars()
    doomed: dict[Table, list[int]] = {PERSON: [person_id], GAME: list(hosted)}
    for table in (OUTBOX, LINK):
        doomed[table] = list(tx.execute(select(table.c.id).where(_hangs_on(table, doomed))).scalars())
    search.forget(tx, "person", doomed[PERSON])
    search.forget(tx, "table", doomed[GAME])
    # In reverse order of reference, so that no row ever refers to a deleted one.
    for table in reversed(METADATA.sorted_tables):
        own = [table.c.id.in_(doomed[table])] if table in doomed else []
        refers = _references(table, doomed)
        if own or refers:
            tx.execute(delete(table).where(or_(*own, *refers)))


def _hangs_on(table: Table, doomed: dict[Table, list[int]]) -> ColumnElement[bool]:
    return or_(*_references(table, doomed))


def _references(table: Table, doomed: dict[Table, list[int]]) -> list[ColumnElement[Any]]:
    """A condition for each reference of a table to rows to be deleted."""
    return [key.parent.in_(doomed[key.column.table]) for key in table.foreign_keys if key.column.table in doomed]
