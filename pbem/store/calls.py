"""Calls for the organiser: who called, from where, what was answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from pbem.domain.errors import NotFound
from pbem.store.schema import Call, Person, table_of

_CALL, _PERSON = table_of(Call), table_of(Person)


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call. The game and the seat are those of the page or mail it came from."""

    id: int
    at: datetime
    game_id: int | None
    seat: int | None
    person_id: int | None
    text: str
    status: str
    answer: str | None
    answered_at: datetime | None


def add(tx: Connection, **values: Any) -> int:
    """Somebody called; the number of the call."""
    return int(tx.execute(insert(_CALL).returning(_CALL.c.id), values | {"status": "open"}).scalar_one())


def lock(tx: Connection, call_id: int) -> CallRow:
    """The call, which nobody else answers until this transaction ends."""
    row = tx.execute(select(_CALL).where(_CALL.c.id == call_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("There is no such call.")
    return CallRow(**row._mapping)


def change(tx: Connection, call_id: int, **values: Any) -> None:
    """Write what has become of a call."""
    tx.execute(update(_CALL).where(_CALL.c.id == call_id).values(**values))


def queue(tx: Connection, status: str, limit: int) -> list[CallRow]:
    """Calls with this status: the open ones oldest first, because they wait, the others newest first."""
    moment = _CALL.c.at if status == "open" else _CALL.c.at.desc()
    wanted = select(_CALL).where(_CALL.c.status == status).order_by(moment, _CALL.c.id).limit(limit)
    return [CallRow(**row._mapping) for row in tx.execute(wanted)]


def since(tx: Connection, person_id: int, moment: datetime) -> int:
    """How often a person has called since then."""
    wanted = select(func.count()).select_from(_CALL).where(_CALL.c.person_id == person_id, _CALL.c.at > moment)
    return tx.execute(wanted).scalar_one()


def strangers_since(tx: Connection, moment: datetime) -> int:
    """How often people have called since then whose address has not been confirmed."""
    strangers = _CALL.c.person_id == _PERSON.c.id, _PERSON.c.confirmed_at.is_(None), _CALL.c.at > moment
    return tx.execute(select(func.count()).select_from(_CALL, _PERSON).where(*strangers)).scalar_one()


def same(tx: Connection, person_id: int | None, game_id: int | None, seat: int | None, text: str) -> int | None:
    """The number of the open call that says just this, if there is one."""
    columns = (_CALL.c.person_id, person_id), (_CALL.c.game_id, game_id), (_CALL.c.seat, seat)
    equal = [column.is_not_distinct_from(value) for column, value in columns]
    wanted = select(_CALL.c.id).where(_CALL.c.status == "open", _CALL.c.text == text, *equal)
    return tx.execute(wanted.limit(1)).scalar()
