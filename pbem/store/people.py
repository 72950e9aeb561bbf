"""People: one row for each address, by its normalised form `mailbox`. Rights are decided elsewhere."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select, update

from pbem.i18n.speech import mark
from pbem.store import prefetch, queries, search
from pbem.store.limits import Period, within
from pbem.store.schema import OUTBOX, PERSON, PersonRow

_READ = select(PERSON).where(PERSON.c.id == bindparam("of_id"))


def add(tx: Connection, **values: Any) -> int:
    """Add a person and return the id."""
    person_id = queries.add(tx, PERSON, values)
    search.of_person(tx, person_id)
    return person_id


def read(tx: Connection, person_id: int) -> PersonRow:
    """A person. Raises NotFound."""
    return prefetch.get_or_read(tx, ("person", person_id), lambda: _one(tx, _READ, person_id))


def read_ahead(tx: Connection, person_ids: Collection[int]) -> None:
    for person_id, row in read_all(tx, person_ids).items():
        prefetch.put(tx, ("person", person_id), row)


def read_all(tx: Connection, person_ids: Collection[int]) -> dict[int, PersonRow]:
    return queries.by_id(tx, PersonRow, PERSON, person_ids)


def lock(tx: Connection, person_id: int) -> PersonRow:
    """Lock a person, so that nobody else can use up their limits. Raises NotFound."""
    return _one(tx, _READ.with_for_update(key_share=True), person_id)


def by_mailbox(tx: Connection, mailbox: str) -> PersonRow | None:
    return queries.one(tx, PersonRow, select(PERSON).where(PERSON.c.mailbox == mailbox))


def mailboxes(tx: Connection) -> list[tuple[int, str]]:
    """Everyone's id and mailbox."""
    return [(row.id, row.mailbox) for row in tx.execute(select(PERSON.c.id, PERSON.c.mailbox))]


def domains(tx: Connection, person_ids: Collection[int]) -> dict[int, str]:
    query = select(PERSON.c.id, PERSON.c.mailbox).where(PERSON.c.id.in_(person_ids))
    return {row.id: row.mailbox.rpartition("@")[2] for row in tx.execute(query)}


def zones(tx: Connection) -> set[str]:
    """The names of the time zones that people have."""
    return set(tx.execute(select(PERSON.c.zone).distinct()).scalars())


def change(tx: Connection, person_id: int, **values: Any) -> None:
    tx.execute(update(PERSON).where(PERSON.c.id == person_id).values(**values))
    if "name" in values:
        search.of_person(tx, person_id)


def count_emails_in(tx: Connection, person_id: int, kind: str, period: Period, game_id: int | None = None) -> int:
    """The number of emails of one kind to a person in a period, about one game or any, whatever their status."""
    same = [OUTBOX.c.person_id == person_id, OUTBOX.c.kind == kind, within(OUTBOX.c.queued_at, period)]
    same.append(OUTBOX.c.channel_id == 0)
    if game_id is not None:
        same.append(OUTBOX.c.game_id == game_id)
    return queries.count(tx, OUTBOX, *same)


def _one(tx: Connection, query: Select[Any], person_id: int) -> PersonRow:
    return queries.only(tx, PersonRow, query, mark("There is no such person here."), {"of_id": person_id})


def by_key(tx: Connection, key: str) -> PersonRow | None:
    """The person with this random key."""
    return queries.one(tx, PersonRow, select(PERSON).where(PERSON.c.key == key))


def keys_of_shown(tx: Connection, person_ids: Collection[int]) -> dict[int, str]:
    """The random keys of those of these people who show their ratings to others, by their ids."""
    query = select(PERSON.c.id, PERSON.c.key).where(PERSON.c.id.in_(list(person_ids)), PERSON.c.show_ratings)
    return {row.id: row.key for row in tx.execute(query)} if person_ids else {}
