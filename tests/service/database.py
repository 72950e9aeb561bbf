"""What is stored, for tests: every row of every table, the mails somebody was written, and a database that breaks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import event, select

from pbem.service.server import Server
from pbem.store.database import Store
from pbem.store.outbox import EmailRow
from pbem.store.schema import Base, Outbox, table_of

_OUTBOX = table_of(Outbox)


class BrokenError(Exception):
    """The database has just broken, and not in a way that a second try would cure."""


def all_rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, in an order of their own."""
    with store.read() as tx:
        return {
            table.name: sorted((tuple(row) for row in tx.execute(select(table))), key=repr)
            for table in Base.metadata.sorted_tables
        }


def queued_emails(server: Server, person_id: int | None = None, kind: str | None = None) -> list[EmailRow]:
    """The mails in the outbox, of all or of one person, of all kinds or of one."""
    with server.store.read() as tx:
        rows = [EmailRow(**row._mapping) for row in tx.execute(select(_OUTBOX).order_by(_OUTBOX.c.id))]
    return [row for row in rows if person_id in (None, row.person_id) and kind in (None, row.kind)]


def email_kinds(server: Server, person_id: int) -> list[str]:
    """What kinds of mail somebody was written, in order."""
    return [row.kind for row in queued_emails(server, person_id)]


@contextmanager
def count_calls(store: Store, strike: Callable[[int], None] = lambda count: None) -> Iterator[list[str]]:
    """Every call to the database, as it is made; `strike` is told the number of each before it goes out."""
    made: list[str] = []

    def call(statement: str) -> None:
        made.append(statement)
        strike(len(made))

    def executing(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        call(statement)

    def committing(_connection: Any) -> None:
        call("COMMIT")

    event.listen(store.engine, "before_cursor_execute", executing)
    event.listen(store.engine, "commit", committing)
    try:
        yield made
    finally:
        event.remove(store.engine, "before_cursor_execute", executing)
        event.remove(store.engine, "commit", committing)


def check_atomic(store: Store, act: Callable[[], object]) -> int:
    """Break the n-th call to the database, for every n until the act gets through; nothing may be left of the others.

    How many calls the act makes is handed back, so that a test can see that it made any.
    """
    before = all_rows(store)
    n = 0
    while True:
        n += 1

        def strike(count: int, at: int = n) -> None:
            if count == at:
                raise BrokenError

        through = False
        with count_calls(store, strike) as made, suppress(BrokenError):
            act()
            through = True
        if through:
            assert all_rows(store) != before, "the act that got through did nothing"
            return len(made)
        assert all_rows(store) == before, f"something is left of what broke at call {n}: {made[-1]}"
