"""Two at once: the first stops at its n-th call to the database until the second is done or waits for the first.

Nothing is timed. Whether the second waits is read from our lock in front of SQLite's writers, or from PostgreSQL's view
of its sessions.
"""

from collections.abc import Callable, Iterator
from threading import Condition, Event, Thread, current_thread
from typing import Any, TypeVar

from sqlalchemy import event, text

from pbem.store.database import Store

T = TypeVar("T")

Meeting = Callable[[Callable[[], Any], Callable[[], Any]], tuple[Any, Any]]


def meetings(store: Store) -> Iterator[Meeting]:
    """Yield a meeting for each call to the database that the first makes."""
    n = 0
    while True:
        n += 1
        reached = Event()

        def meeting(first: Callable[[], Any], second: Callable[[], Any], n: int = n, reached: Event = reached) -> Any:
            return _meet(store, n, reached, first, second)

        yield meeting
        if not reached.is_set():
            return


def at_call(store: Store, n: int, first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    """What both came to, when the first stopped at its n-th call to the database."""
    reached = Event()
    outcomes = _meet(store, n, reached, first, second)
    assert reached.is_set(), "the first made fewer calls"
    return outcomes


def _meet(store: Store, n: int, reached: Event, first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    watch = _Watch(store)
    one, other = _Actor(first), _Actor(second)
    calls = 0

    def calling(*_: Any) -> None:
        nonlocal calls
        if current_thread() is not one.thread:
            return
        calls += 1
        if calls == n:
            reached.set()
            other.thread.start()
            while not other.done.wait(0.001) and not watch.is_anyone_waiting():
                pass

    with watch:
        event.listen(store.engine, "before_cursor_execute", calling)
        event.listen(store.engine, "commit", calling)
        try:
            one.thread.start()
            one.thread.join()
            if not reached.is_set():
                other.thread.start()
            other.thread.join()
        finally:
            event.remove(store.engine, "before_cursor_execute", calling)
            event.remove(store.engine, "commit", calling)
    return one.outcome, other.outcome


class _Actor:
    """One act in a thread of its own, and its result or the error it raised."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.outcome: Any = None
        self.done = Event()
        self.thread = Thread(target=self._run, args=(act,))

    def _run(self, act: Callable[[], Any]) -> None:
        try:
            self.outcome = act()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test judges it
            self.outcome = error
        finally:
            self.done.set()


class _Watch:
    """Detects whether a writer waits for another."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = store._writers
        self._counted = Condition()
        self._waiting = 0

    def is_anyone_waiting(self) -> bool:
        """Whether a writer is waiting now."""
        if self._store.on_sqlite:
            return self._waiting > 0
        waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        with self._store.engine.connect() as connection:
            return bool(connection.execute(text(waits)).scalar_one())

    def __enter__(self) -> None:
        if self._store.on_sqlite:
            self._store._writers = _Counted(self._lock, self)  # type: ignore[assignment]  # it does what a lock does

    def __exit__(self, *_: object) -> None:
        self._store._writers = self._lock

    def count(self, change: int) -> None:
        """Change the number of writers that wait for the lock."""
        with self._counted:
            self._waiting += change


class _Counted:
    """The lock of SQLite's writers, which counts how many wait for it."""

    def __init__(self, lock: Any, watch: _Watch) -> None:
        self._lock = lock
        self._watch = watch

    def acquire(self, timeout: float) -> bool:
        """Take the lock; False if it isn't free in time."""
        if self._lock.acquire(blocking=False):
            return True
        self._watch.count(1)
        try:
            return bool(self._lock.acquire(timeout=timeout))
        finally:
            self._watch.count(-1)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()
