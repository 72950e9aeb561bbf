"""Reads what a test has stored, counts the calls to the database, and breaks them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import event, select

from pbem.redaction import hide_tokens
from pbem.service import alarms
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.store.outbox import EmailRow
from pbem.store.person_names import read_facts
from pbem.store.schema import LINK, METADATA, OUTBOX


class BrokenError(Exception):
    """A failure of the database that no retry helps."""


def all_rows(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables as the driver reads them, sorted."""
    with store.read() as tx:
        # Some tests read them hundreds of times, and compare them with themselves only.
        cursor = tx.connection.cursor()
        return {
            name: sorted(cursor.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in METADATA.tables
        }


def holds_token(server: Server, data: bytes) -> bool:
    """Whether bytes contain the current token of any link. Transfer encodings must be undone first."""
    with server.store.read() as tx:
        nonces = {row.id: row.nonce for row in tx.execute(select(LINK))}
    return hide_tokens(data, server.keys, nonces) != data


def queued_emails(server: Server, person_id: int | None = None, kind: str | None = None) -> list[EmailRow]:
    """The emails in the outbox, oldest first, of one person or one kind if given."""
    with server.store.read() as tx:
        rows = [EmailRow(**row._mapping) for row in tx.execute(select(OUTBOX).order_by(OUTBOX.c.id))]
    return [row for row in rows if person_id in (None, row.person_id) and kind in (None, row.kind)]


def facts_of(server: Server, email: EmailRow) -> dict[str, Any]:
    """The facts of an email, with the names that people have now, and with what its alarms say."""
    with server.store.read() as tx:
        facts = read_facts(tx, email.facts)
        return facts | ({"alarms": alarms.with_texts(tx, facts["alarms"])} if "alarms" in facts else {})


def email_kinds(server: Server, person_id: int) -> list[str]:
    """The kinds of the emails to a person, oldest first."""
    return [row.kind for row in queued_emails(server, person_id)]


@contextmanager
def count_calls(store: Store, strike: Callable[[int], None] = lambda count: None) -> Iterator[list[str]]:
    """List every call to the database as it is made; `strike` gets the number of each before it is sent."""
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
    """Break the n-th call to the database for every n, and check that nothing is left of an act that failed.

    Returns the number of calls that the whole act makes.
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
