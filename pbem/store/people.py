"""People: one row for each address.

`mailbox` is the address in its normalised form, so that capital letters do not make a second person. This module must
not decide what a person may do.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from pbem.domain.errors import NotFound
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.store import prefetch, search
from pbem.store.schema import Game, Outbox, Person, Player, table_of

_GAME, _OUTBOX, _PERSON, _PLAYER = table_of(Game), table_of(Outbox), table_of(Person), table_of(Player)
_GOING_ON = (TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN)
_READ = select(_PERSON).where(_PERSON.c.id == bindparam("of_id"))


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person. `name` is empty until they give one."""

    id: int
    key: str
    address: str
    mailbox: str
    name: str
    zone: str
    quiet: str | None
    cadence: str
    delivery: str
    digest_at: str
    digest_on: date | None
    sealed: bool
    created_at: datetime
    confirmed_at: datetime | None

    def __repr__(self) -> str:
        # No trace or log may show an address.
        return f"PersonRow(id={self.id})"

    @property
    def delivery_address(self) -> str:
        """The address for email to this person: as they typed it, but with the domain in its ASCII form."""
        return f"{self.address.rpartition('@')[0]}@{self.mailbox.rpartition('@')[2]}"


def add(tx: Connection, **values: Any) -> int:
    """Add a person and return the id."""
    person_id = int(tx.execute(insert(_PERSON).returning(_PERSON.c.id), values).scalar_one())
    search.of_person(tx, person_id)
    return person_id


def read(tx: Connection, person_id: int) -> PersonRow:
    """A person. Raises NotFound."""
    return prefetch.get_or_read(tx, ("person", person_id), lambda: _read(tx, person_id))


def read_ahead(tx: Connection, person_ids: Collection[int]) -> None:
    """Read these people ahead."""
    for person_id, row in read_all(tx, person_ids).items():
        prefetch.put(tx, ("person", person_id), row)


def read_all(tx: Connection, person_ids: Collection[int]) -> dict[int, PersonRow]:
    """These people, by id."""
    query = select(_PERSON).where(_PERSON.c.id.in_(person_ids))
    return {row.id: PersonRow(**row._mapping) for row in tx.execute(query)}


def lock(tx: Connection, person_id: int) -> PersonRow:
    """Lock a person, so that nobody else can use up other_player limits. Raises NotFound."""
    row = tx.execute(_READ.with_for_update(key_share=True), {"of_id": person_id}).one_or_none()
    if row is None:
        raise NotFound(_("There is no such person here."))
    return PersonRow(**row._mapping)


def by_mailbox(tx: Connection, mailbox: str) -> PersonRow | None:
    """The person with this normalised address, if there is one."""
    row = tx.execute(select(_PERSON).where(_PERSON.c.mailbox == mailbox)).one_or_none()
    return None if row is None else PersonRow(**row._mapping)


def domains(tx: Connection, person_ids: Collection[int]) -> dict[int, str]:
    """The domain of each person's normalised address."""
    query = select(_PERSON.c.id, _PERSON.c.mailbox).where(_PERSON.c.id.in_(person_ids))
    return {row.id: row.mailbox.rpartition("@")[2] for row in tx.execute(query)}


def sit_together(tx: Connection, one: int, other: int) -> bool:
    """Whether two people share a table that is open or running."""
    other_player = _PLAYER.alias()
    query = (
        select(_PLAYER.c.game_id)
        .join(other_player, other_player.c.game_id == _PLAYER.c.game_id)
        .join(_GAME, _GAME.c.id == _PLAYER.c.game_id)
        .where(_PLAYER.c.person_id == one, other_player.c.person_id == other, _GAME.c.status.in_(_GOING_ON))
    )
    return tx.execute(query.limit(1)).first() is not None


def companions(tx: Connection, person_id: int) -> frozenset[int]:
    """The people who share an open or running table with this person."""
    other_player = _PLAYER.alias()
    query = (
        select(other_player.c.person_id)
        .select_from(_PLAYER)
        .join(_GAME, _GAME.c.id == _PLAYER.c.game_id)
        .join(other_player, other_player.c.game_id == _PLAYER.c.game_id)
        .where(_PLAYER.c.person_id == person_id, _GAME.c.status.in_(_GOING_ON), other_player.c.person_id.is_not(None))
    )
    return frozenset(tx.execute(query).scalars()) - {person_id}


def change(tx: Connection, person_id: int, **values: Any) -> None:
    """Change columns of a person."""
    tx.execute(update(_PERSON).where(_PERSON.c.id == person_id).values(**values))
    if "name" in values:
        search.of_person(tx, person_id)


def count_emails_since(tx: Connection, person_id: int, kind: str, since: datetime, game_id: int | None = None) -> int:
    """The number of emails of one kind to a person since this moment, about one game or any, whatever other_player status."""
    same = [_OUTBOX.c.person_id == person_id, _OUTBOX.c.kind == kind, _OUTBOX.c.queued_at > since]
    if game_id is not None:
        same.append(_OUTBOX.c.game_id == game_id)
    return tx.execute(select(func.count()).select_from(_OUTBOX).where(*same)).scalar_one()


def _read(tx: Connection, person_id: int) -> PersonRow:
    row = tx.execute(_READ, {"of_id": person_id}).one_or_none()
    if row is None:
        raise NotFound(_("There is no such person here."))
    return PersonRow(**row._mapping)
