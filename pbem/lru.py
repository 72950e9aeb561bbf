"""A bounded, thread-safe LRU cache.

Nothing may be kept in it alone: any value can be gone at any time.
"""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class LRU(Generic[V]):
    """A cache that drops the least recently used value when it is full. A key must include everything that its value depends on."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[object, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> V | None:
        """The value of a key, or None."""
        with self._lock:
            # Each look-up hashes the key again, which may be all cards of a table.
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: object, value: V) -> V:
        """Store a value and return it."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
