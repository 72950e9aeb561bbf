"""Calls for the organiser: who called, from where, what was answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.store.schema import Call, Game, Person, Place, table_of

_CALL, _GAME, _PERSON, _PLACE = table_of(Call), table_of(Game), table_of(Person), table_of(Place)


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


_TOLD = (
    select(*_CALL.c, _PERSON.c.name.label("caller"), _GAME.c.title.label("table"))
    .outerjoin_from(_CALL, _PERSON, _PERSON.c.id == _CALL.c.person_id)
    .outerjoin(_GAME, _GAME.c.id == _CALL.c.game_id)
)


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A call, with the caller's name and the title of the table, both empty where there is none."""

    row: CallRow
    caller: str
    table: str


def add(tx: Connection, **values: Any) -> int:
    """Somebody called; the number of the call."""
    return int(tx.execute(insert(_CALL).returning(_CALL.c.id), values | {"status": "open"}).scalar_one())


def lock(tx: Connection, call_id: int) -> CallRow:
    """The call, which nobody else answers until this transaction ends."""
    row = tx.execute(select(_CALL).where(_CALL.c.id == call_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound(_("There is no such call."))
    return CallRow(**row._mapping)


def change(tx: Connection, call_id: int, **values: Any) -> None:
    """Write what has become of a call."""
    tx.execute(update(_CALL).where(_CALL.c.id == call_id).values(**values))


def queue(tx: Connection, status: str, limit: int) -> list[CallRow]:
    """Calls with this status: the open ones oldest first, because they wait, the others newest first."""
    moment = _CALL.c.at if status == "open" else _CALL.c.at.desc()
    wanted = select(_CALL).where(_CALL.c.status == status).order_by(moment, _CALL.c.id).limit(limit)
    return [CallRow(**row._mapping) for row in tx.execute(wanted)]


def told(tx: Connection, status: str, limit: int, without: int | None) -> list[ToldCall]:
    """The same with who called and from which table, but for calls from tables where a certain person plays."""
    moment = _CALL.c.at if status == "open" else _CALL.c.at.desc()
    wanted = _TOLD.where(_CALL.c.status == status, *([] if without is None else [~_plays(without)]))
    return [_told(row) for row in tx.execute(wanted.order_by(moment, _CALL.c.id).limit(limit))]


def waiting_where(tx: Connection, person_id: int) -> int:
    """How many open calls came from tables where this person plays."""
    wanted = select(func.count()).select_from(_CALL).where(_CALL.c.status == "open", _plays(person_id))
    return tx.execute(wanted).scalar_one()


def one(tx: Connection, call_id: int) -> ToldCall:
    """One call with who called and from which table."""
    row = tx.execute(_TOLD.where(_CALL.c.id == call_id)).one_or_none()
    if row is None:
        raise NotFound(_("There is no such call."))
    return _told(row)


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


def _told(row: Row[*tuple[Any, ...]]) -> ToldCall:
    values = dict(row._mapping)
    caller, table = values.pop("caller"), values.pop("table")
    return ToldCall(CallRow(**values), caller or "", table or "")


def _plays(person_id: int) -> ColumnElement[bool]:
    """Whether a person plays at the table that a call came from."""
    there = (_PLACE.c.game_id == _CALL.c.game_id, _PLACE.c.person_id == person_id)
    return select(_PLACE.c.place).where(*there).exists()
