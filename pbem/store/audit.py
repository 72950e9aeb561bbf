"""Rows of the audit chain: added, never changed. This module must not decide who may do what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Audit, AuditHead, table_of

_AUDIT, _HEAD = table_of(Audit), table_of(AuditHead)

_ONLY: Final = 1
"""The id of the only row of `audit_head`."""

_AT_ONCE: Final = 500
"""Rows read with one statement."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An act at the desk. `body` is canonical JSON with the details of the act."""

    seq: int
    at: datetime
    actor: str
    act: str
    game_id: int | None
    person_id: int | None
    reason: str
    form: str | None
    body: str
    nonce: bytes
    body_hash: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """A filter for acts; None matches anything. `actor` is written as in the rows: organiser Ann."""

    act: str | None = None
    game_id: int | None = None
    person_id: int | None = None
    actor: str | None = None


def lock_end(tx: Connection, genesis: bytes) -> tuple[int, bytes]:
    """Lock the end of the chain; the number and hash of the last row, or 0 and `genesis` if there is none."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    first = dialect.insert(_HEAD).values(id=_ONLY, seq=0, head=genesis).on_conflict_do_nothing()
    # Waits for another transaction that is inserting the first row.
    tx.execute(first)
    row = tx.execute(select(_HEAD.c.seq, _HEAD.c.head).where(_HEAD.c.id == _ONLY).with_for_update()).one()
    return row.seq, row.head


def end(tx: Connection) -> tuple[int, bytes] | None:
    """The number and hash of the last row; None if there is none."""
    row = tx.execute(select(_HEAD.c.seq, _HEAD.c.head).where(_HEAD.c.id == _ONLY)).one_or_none()
    return None if row is None else (row.seq, row.head)


def append(tx: Connection, row: AuditRow) -> None:
    """Add a row at the end of the chain, which must be locked."""
    tx.execute(insert(_AUDIT), {field.name: getattr(row, field.name) for field in fields(row)})
    tx.execute(update(_HEAD).where(_HEAD.c.id == _ONLY).values(seq=row.seq, head=row.hash))


def by_form(tx: Connection, form: str) -> AuditRow | None:
    """The act that was done with the form of this key."""
    row = tx.execute(select(_AUDIT).where(_AUDIT.c.form == form)).one_or_none()
    return None if row is None else AuditRow(**row._mapping)


def after(tx: Connection, seq: int, limit: int = _AT_ONCE) -> Sequence[AuditRow]:
    """The next rows of the chain."""
    page = select(_AUDIT).where(_AUDIT.c.seq > seq).order_by(_AUDIT.c.seq).limit(limit)
    return [AuditRow(**row._mapping) for row in tx.execute(page)]


def chain(tx: Connection) -> Iterator[AuditRow]:
    """All rows in order, read a page at a time."""
    seq = 0
    while page := after(tx, seq):
        yield from page
        seq = page[-1].seq


def newest(tx: Connection, by: AuditFilter, before: int | None, limit: int) -> list[AuditRow]:
    """The newest acts that match the filter, below row `before` if given."""
    conditions: list[Any] = [
        column == value
        for column, value in (
            (_AUDIT.c.act, by.act),
            (_AUDIT.c.game_id, by.game_id),
            (_AUDIT.c.person_id, by.person_id),
            (_AUDIT.c.actor, by.actor),
        )
        if value is not None
    ]
    if before is not None:
        conditions.append(_AUDIT.c.seq < before)
    query = select(_AUDIT).where(*conditions).order_by(_AUDIT.c.seq.desc()).limit(limit)
    return [AuditRow(**row._mapping) for row in tx.execute(query)]
