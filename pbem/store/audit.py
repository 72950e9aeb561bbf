"""The rows of the audit chain. They are added and never changed; nothing here decides who may do what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Audit, AuditHead, table_of

_AUDIT, _HEAD = table_of(Audit), table_of(AuditHead)

_ONLY: Final = 1
"""The number of the one row that says where the chain ends."""

_AT_ONCE: Final = 500
"""Rows that are read with one statement."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One act at the desk. `body` is canonical JSON of what the act alone knows."""

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
class Wanted:
    """Which acts to list; what is None does not matter. `actor` is as rows name them: organiser Ann."""

    act: str | None = None
    game_id: int | None = None
    person_id: int | None = None
    actor: str | None = None


def lock_end(tx: Connection, genesis: bytes) -> tuple[int, bytes]:
    """The last row's number and hash; nobody else adds a row until this transaction ends. `genesis` is before the first."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    first = dialect.insert(_HEAD).values(id=_ONLY, seq=0, head=genesis).on_conflict_do_nothing()
    # Somebody who writes the very first row at the same moment makes this wait for them.
    tx.execute(first)
    row = tx.execute(select(_HEAD.c.seq, _HEAD.c.head).where(_HEAD.c.id == _ONLY).with_for_update()).one()
    return row.seq, row.head


def end(tx: Connection) -> tuple[int, bytes] | None:
    """The last row's number and hash; None where nothing was ever done."""
    row = tx.execute(select(_HEAD.c.seq, _HEAD.c.head).where(_HEAD.c.id == _ONLY)).one_or_none()
    return None if row is None else (row.seq, row.head)


def append(tx: Connection, row: AuditRow) -> None:
    """Add a row behind the end, which is locked."""
    tx.execute(insert(_AUDIT), {field.name: getattr(row, field.name) for field in fields(row)})
    tx.execute(update(_HEAD).where(_HEAD.c.id == _ONLY).values(seq=row.seq, head=row.hash))


def by_form(tx: Connection, form: str) -> AuditRow | None:
    """What was done with the form of this key."""
    row = tx.execute(select(_AUDIT).where(_AUDIT.c.form == form)).one_or_none()
    return None if row is None else AuditRow(**row._mapping)


def after(tx: Connection, seq: int, limit: int = _AT_ONCE) -> Sequence[AuditRow]:
    """The next rows of the chain."""
    wanted = select(_AUDIT).where(_AUDIT.c.seq > seq).order_by(_AUDIT.c.seq).limit(limit)
    return [AuditRow(**row._mapping) for row in tx.execute(wanted)]


def chain(tx: Connection) -> Iterator[AuditRow]:
    """All rows in their order, some at a time."""
    seq = 0
    while page := after(tx, seq):
        yield from page
        seq = page[-1].seq


def newest(tx: Connection, wanted: Wanted, before: int | None, limit: int) -> list[AuditRow]:
    """The newest of the acts that are wanted, those older than a row where one is named."""
    conditions: list[Any] = [
        column == value
        for column, value in (
            (_AUDIT.c.act, wanted.act),
            (_AUDIT.c.game_id, wanted.game_id),
            (_AUDIT.c.person_id, wanted.person_id),
            (_AUDIT.c.actor, wanted.actor),
        )
        if value is not None
    ]
    if before is not None:
        conditions.append(_AUDIT.c.seq < before)
    found = select(_AUDIT).where(*conditions).order_by(_AUDIT.c.seq.desc()).limit(limit)
    return [AuditRow(**row._mapping) for row in tx.execute(found)]
