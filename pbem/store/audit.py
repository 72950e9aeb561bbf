"""Rows of the audit chain: added, never changed. This module must not decide who may do what."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import Connection, insert, select, update

from pbem.store import queries
from pbem.store.schema import AUDIT, AUDIT_HEAD, AuditRow

_ONLY: Final = 1
"""The id of the only row of `audit_head`."""

_AT_ONCE: Final = 500
"""Rows read with one statement."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """A filter for acts; None matches anything. `actor` is written as in the rows: organiser Ann."""

    act: str | None = None
    game_id: int | None = None
    person_id: int | None = None
    actor: str | None = None


def lock_end(tx: Connection, genesis: bytes) -> tuple[int, bytes]:
    """Lock the end of the chain; the number and hash of the last row, or 0 and `genesis` if there is none."""
    # Waits for another transaction that is inserting the first row.
    queries.add_once(tx, AUDIT_HEAD, {"id": _ONLY, "seq": 0, "head": genesis})
    row = tx.execute(
        select(AUDIT_HEAD.c.seq, AUDIT_HEAD.c.head).where(AUDIT_HEAD.c.id == _ONLY).with_for_update()
    ).one()
    return row.seq, row.head


def end(tx: Connection) -> tuple[int, bytes] | None:
    """The number and hash of the last row; None if there is none."""
    row = tx.execute(select(AUDIT_HEAD.c.seq, AUDIT_HEAD.c.head).where(AUDIT_HEAD.c.id == _ONLY)).one_or_none()
    return None if row is None else (row.seq, row.head)


def append(tx: Connection, row: AuditRow) -> None:
    """Add a row at the end of the chain, which must be locked."""
    tx.execute(insert(AUDIT), asdict(row))
    tx.execute(update(AUDIT_HEAD).where(AUDIT_HEAD.c.id == _ONLY).values(seq=row.seq, head=row.hash))


def by_form(tx: Connection, form: str) -> AuditRow | None:
    """The act that was done with the form of this key."""
    return queries.one(tx, AuditRow, select(AUDIT).where(AUDIT.c.form == form))


def after(tx: Connection, seq: int, limit: int = _AT_ONCE) -> Sequence[AuditRow]:
    """The next rows of the chain."""
    page = select(AUDIT).where(AUDIT.c.seq > seq).order_by(AUDIT.c.seq).limit(limit)
    return queries.many(tx, AuditRow, page)


def chain(tx: Connection) -> Iterator[AuditRow]:
    """All rows in order, read a page at a time."""
    seq = 0
    while page := after(tx, seq):
        yield from page
        seq = page[-1].seq


def newest(tx: Connection, by: AuditFilter, before: int | None, limit: int) -> list[AuditRow]:
    """The newest acts that match the filter, below row `before` if given."""
    conditions = [AUDIT.c[name] == value for name, value in asdict(by).items() if value is not None]
    if before is not None:
        conditions.append(AUDIT.c.seq < before)
    query = select(AUDIT).where(*conditions).order_by(AUDIT.c.seq.desc()).limit(limit)
    return queries.many(tx, AuditRow, query)
