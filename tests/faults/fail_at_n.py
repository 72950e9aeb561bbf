"""Breaks every transaction of a server at each of its calls to the database, one after the other, before it may succeed.

A transaction that breaks must leave every row as it was. The one after it gets the same randomness and must find nothing of
it in memory either: a server that was broken everywhere ends with the same rows as one that never was.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import randint
from typing import Any, Final, TypeVar

from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from pbem.service.server import Server
from pbem.store.database import Tx
from pbem.store.schema import METADATA
from tests.fakes import SeededRandomness
from tests.service.database import count_calls

T = TypeVar("T")

Work = Callable[[Tx], T]

STEP: Final = 3
"""The distance between the calls that a slice breaks; it begins at another call with each seed."""

Rows = dict[str, list[tuple[Any, ...]]]


class BrokenCallError(OperationalError):
    """A call to the database that failed, as the server sees it. No retry helps."""

    def __init__(self, statement: str) -> None:
        super().__init__(statement, None, OSError("disk I/O error"))


def rows(server: Server) -> Rows:
    """All rows of a server on SQLite in memory, as its one connection sees them."""
    connection: Any = server.store.engine.raw_connection().driver_connection
    return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in METADATA.tables}


class FailAtN:
    """Breaks the transactions of a server: at their commit, and unless one that makes the same calls is in `known` at the others.

    `broken` counts the calls that broke. Without `known` all calls of all transactions are broken, otherwise each third.
    """

    def __init__(self, server: Server, known: set[tuple[str, ...]] | None) -> None:
        assert isinstance(server.randomness, SeededRandomness)
        self.broken = 0
        self._server, self._store, self._randomness = server, server.store, server.randomness
        self._known = known

    @contextmanager
    def on(self) -> Iterator[None]:
        """Break them meanwhile."""
        whole = self._store.write
        self._store.write = lambda work: self._write(whole, work)  # type: ignore[method-assign]  # of this store alone
        try:
            yield
        finally:
            self._store.write = whole  # type: ignore[method-assign]

    def _write(self, whole: Callable[[Work[T]], T], work: Work[T]) -> T:
        before = rows(self._server)
        calls = count(1) if self._known is None else count(randint(1, STEP), STEP)
        for n in calls if self._is_new(whole, work, before) else ():
            with self._undone(before, f"call {n}"), count_calls(self._store, break_at(n)):
                return whole(work)
        return whole(work)

    def _is_new(self, whole: Callable[[Work[T]], T], work: Work[T], before: Rows) -> bool:
        """Whether no transaction has made these calls yet, by one that fails when it is to be committed."""

        def commits(_connection: Tx) -> None:
            raise BrokenCallError("COMMIT")

        event.listen(self._store.engine, "commit", commits)
        try:
            with self._undone(before, "the commit"), count_calls(self._store) as made:
                whole(work)
        finally:
            event.remove(self._store.engine, "commit", commits)
        if self._known is None:
            return True
        # However often a loop went round.
        calls = tuple(dict.fromkeys(made))
        found = calls in self._known
        self._known.add(calls)
        return not found

    @contextmanager
    def _undone(self, before: Rows, where: str) -> Iterator[None]:
        """Take what broke as if it had never begun, once nothing is left of it. What is refused leaves nothing either."""
        drawn = self._randomness.state
        try:
            yield
        except BrokenCallError:
            assert rows(self._server) == before, f"something is left of what broke at {where}"
            self._randomness.state = drawn
            self.broken += 1
        except Exception:
            assert rows(self._server) == before, "something is left of what was refused"
            raise


def break_at(n: int) -> Callable[[int], None]:
    """What fails the n-th call of `count_calls`."""

    def strike(made: int) -> None:
        if made == n:
            raise BrokenCallError(f"call {n}")

    return strike
