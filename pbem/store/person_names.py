"""Names in the facts of emails: stored once for each person, and referred to by number.

Deleting a person blanks their names, so an email written afterwards calls them “a former player”, whatever it is about.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update

from pbem.domain.deleted_people import NAME, PersonName, is_former
from pbem.store.schema import PERSON, PERSON_NAME

REFERENCE: Final = "person_name"
"""The key of an object in facts that stands for a name, with the number of its row."""

Stored = str | dict[str, int]


def store_all(tx: Connection, facts: Iterable[Mapping[str, Any]]) -> dict[PersonName, Stored]:
    """Store the names in these facts. Returns what stands for each in an outbox row."""
    names = {value for each in facts for value in each.values() if isinstance(value, PersonName)}
    return {name: _store(tx, name) for name in names}


def read_facts(tx: Connection, stored: str) -> dict[str, Any]:
    """The facts of an email, with the names that its people still have."""
    facts: dict[str, Any] = json.loads(stored)
    references = {
        key: value[REFERENCE] for key, value in facts.items() if isinstance(value, dict) and value.keys() == {REFERENCE}
    }
    if not references:
        return facts
    query = select(PERSON_NAME.c.id, PERSON_NAME.c.name).where(PERSON_NAME.c.id.in_({*references.values()}))
    names = {row.id: row.name for row in tx.execute(query)}
    return facts | {key: names.get(reference, NAME) for key, reference in references.items()}


def forget(tx: Connection, person_id: int) -> None:
    """Blank a deleted person's names."""
    tx.execute(update(PERSON_NAME).where(PERSON_NAME.c.person_id == person_id).values(name=NAME))


def _store(tx: Connection, name: PersonName) -> Stored:
    if name.person_id is None or not name.name:
        return name.name
    same = (PERSON_NAME.c.person_id == name.person_id, PERSON_NAME.c.name == name.name)
    number = tx.execute(select(PERSON_NAME.c.id).where(*same).limit(1)).scalar()
    if number is None:
        # Waits for a deletion under way, which cannot see the new row.
        person = select(PERSON.c.address).where(PERSON.c.id == name.person_id)
        if is_former(tx.execute(person.with_for_update(read=True, key_share=True)).scalar_one()):
            return NAME
        new = insert(PERSON_NAME).values(person_id=name.person_id, name=name.name).returning(PERSON_NAME.c.id)
        number = tx.execute(new).scalar_one()
    return {REFERENCE: number}
