"""What a process remembers so as not to work it out twice: never more than so much, and never the only place it is in."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Memory(Generic[V]):
    """The values that were asked for last, by a key that says all that they hang on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[object, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> V | None:
        """What is remembered under a key."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: object, value: V) -> V:
        """Remember a value, and forget the one that was not asked for for the longest time."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
