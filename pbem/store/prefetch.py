"""Rows read ahead: one statement for what many callers are about to read one by one.

A transaction of `Store.read(ahead=True)` sees one state, so it caches every row it reads. In all other transactions
nothing is cached. A row read ahead must equal what the single read would return, so the two functions stand side by
side.
"""

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")

OPTION: Final = "pbem_ahead"
"""The execution option of a connection that holds the cache, a dictionary."""


def get_or_read(tx: Connection, key: Hashable, read: Callable[[], T]) -> T:
    """The cached value of a key, read and cached now if missing."""
    cache = _cache(tx)
    if cache is None:
        return read()
    if key not in cache:
        cache[key] = read()
    value: T = cache[key]
    return value


def put(tx: Connection, key: Hashable, value: object) -> None:
    """Cache a value."""
    cache = _cache(tx)
    if cache is not None:
        cache[key] = value


def get(tx: Connection, key: Hashable) -> Any:
    """The cached value of a key, or None."""
    cache = _cache(tx)
    return None if cache is None else cache.get(key)


def _cache(tx: Connection) -> dict[Hashable, Any] | None:
    cache: dict[Hashable, Any] | None = tx.get_execution_options().get(OPTION)
    return cache
