"""Friends, as rows. `service.people.friends` decides what a friend may do."""

from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select

from pbem.store import queries
from pbem.store.schema import FRIEND, FriendRow


def add(tx: Connection, row: FriendRow) -> None:
    """Add a friend. The person must be locked, and must not have them as a friend already."""
    tx.execute(insert(FRIEND), asdict(row))


def drop(tx: Connection, person_id: int, friend_id: int) -> None:
    tx.execute(delete(FRIEND).where(FRIEND.c.person_id == person_id, FRIEND.c.friend_id == friend_id))


def of_person(tx: Connection, person_id: int) -> list[FriendRow]:
    """The friends of a person, oldest first."""
    query = select(FRIEND).where(FRIEND.c.person_id == person_id).order_by(FRIEND.c.since, FRIEND.c.friend_id)
    return queries.many(tx, FriendRow, query)


def is_friend(tx: Connection, person_id: int, other_id: int) -> bool:
    """Whether a person has another one as a friend."""
    query = select(FRIEND.c.since).where(FRIEND.c.person_id == person_id, FRIEND.c.friend_id == other_id)
    return tx.execute(query).one_or_none() is not None
