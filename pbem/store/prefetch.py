"""Rows that were read ahead: what many are about to ask for one by one, fetched with one statement for all of them.

A transaction that sees one state and changes nothing (`Store.read(ahead=True)`) remembers what it has read, so nobody asks
twice. In every other transaction nothing is remembered, and whoever asks reads. Whatever was read ahead must be what its
reader would have found: a function that reads for many stands beside the one that reads for one.
"""

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")

OPTION: Final = "pbem_ahead"
"""The execution option of a connection that remembers: a dictionary."""


def one(tx: Connection, key: Hashable, read: Callable[[], T]) -> T:
    """What is remembered under a key; if nothing is, what is read now."""
    kept = _kept(tx)
    if kept is None:
        return read()
    if key not in kept:
        kept[key] = read()
    found: T = kept[key]
    return found


def put(tx: Connection, key: Hashable, value: object) -> None:
    """Remember what was read for many."""
    kept = _kept(tx)
    if kept is not None:
        kept[key] = value


def get(tx: Connection, key: Hashable) -> Any:
    """What is remembered under a key; None if nothing is."""
    kept = _kept(tx)
    return None if kept is None else kept.get(key)


def _kept(tx: Connection) -> dict[Hashable, Any] | None:
    kept: dict[Hashable, Any] | None = tx.get_execution_options().get(OPTION)
    return kept
