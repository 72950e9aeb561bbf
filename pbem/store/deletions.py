"""Deletions of people, counted: what was read before one is not stored after it.

Emails are read and put into words outside of the transaction that stores them. It waits for a deletion under way, and then sees
in the count whether the names that were read may be gone. A deletion waits for the emails that are being stored, and then
drops the bytes of those that may have the name.
"""

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, literal_column, select

from pbem.store import task_progress

_TASK: Final = "deletions"
# Two numbers are a lock of another kind than one: those of `revocations` are never the same.
_KEY: Final[tuple[ColumnElement[Any], ...]] = (func.hashtext(literal_column("'deletions'")), literal_column("0"))
_SHARED = select(func.pg_advisory_xact_lock_shared(*_KEY))
_ALONE = select(func.pg_advisory_xact_lock(*_KEY))


def count(tx: Connection) -> int:
    """How many there have been, as far as this transaction sees."""
    return task_progress.read(tx, _TASK)


def hold_off(tx: Connection) -> int:
    """Keep others off until this transaction ends. Returns how many there have been."""
    if tx.dialect.name == "postgresql":
        tx.execute(_SHARED)
    return count(tx)


def begin(tx: Connection) -> None:
    """Count one more, once no email is being stored; none is until this transaction ends."""
    if tx.dialect.name == "postgresql":
        tx.execute(_ALONE)
    task_progress.put(tx, _TASK, task_progress.lock(tx, _TASK) + 1)
