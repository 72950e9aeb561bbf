"""Calls for the organiser: the caller, the table and the answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from pbem.domain.errors import NotFound
from pbem.domain.states import CallStatus
from pbem.i18n.speech import gettext as _
from pbem.store.schema import Call, Game, Person, Player, table_of

_CALL, _GAME, _PERSON, _PLAYER = table_of(Call), table_of(Game), table_of(Person), table_of(Player)


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call. Game and seat are those of the page or email it was sent from."""

    id: int
    at: datetime
    game_id: int | None
    seat: int | None
    person_id: int | None
    text: str
    status: str
    answer: str | None
    answered_at: datetime | None


_DETAILS = (
    select(*_CALL.c, _PERSON.c.name.label("caller"), _GAME.c.title.label("table"))
    .outerjoin_from(_CALL, _PERSON, _PERSON.c.id == _CALL.c.person_id)
    .outerjoin(_GAME, _GAME.c.id == _CALL.c.game_id)
)


@dataclass(frozen=True, slots=True)
class CallDetails:
    """A call with the caller's name and the table's title, each empty if player is none."""

    row: CallRow
    caller: str
    table: str


def add(tx: Connection, **values: Any) -> int:
    """Add a call and return its id."""
    return int(tx.execute(insert(_CALL).returning(_CALL.c.id), values | {"status": "open"}).scalar_one())


def lock(tx: Connection, call_id: int) -> CallRow:
    """Lock a call. Raises NotFound."""
    row = tx.execute(select(_CALL).where(_CALL.c.id == call_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound(_("There is no such call."))
    return CallRow(**row._mapping)


def change(tx: Connection, call_id: int, **values: Any) -> None:
    """Change columns of a call."""
    tx.execute(update(_CALL).where(_CALL.c.id == call_id).values(**values))


def with_status(tx: Connection, status: str, limit: int) -> list[CallRow]:
    """Calls with this status: open ones oldest first, others newest first."""
    moment = _CALL.c.at if status == CallStatus.OPEN else _CALL.c.at.desc()
    query = select(_CALL).where(_CALL.c.status == status).order_by(moment, _CALL.c.id).limit(limit)
    return [CallRow(**row._mapping) for row in tx.execute(query)]


def list_details(tx: Connection, status: str, limit: int, without: int | None) -> list[CallDetails]:
    """The same with caller and table, except calls from tables where this person plays."""
    moment = _CALL.c.at if status == CallStatus.OPEN else _CALL.c.at.desc()
    query = _DETAILS.where(_CALL.c.status == status, *([] if without is None else [~_plays(without)]))
    return [_details(row) for row in tx.execute(query.order_by(moment, _CALL.c.id).limit(limit))]


def count_open_at_tables_of(tx: Connection, person_id: int) -> int:
    """The number of open calls from tables where this person plays."""
    query = select(func.count()).select_from(_CALL).where(_CALL.c.status == CallStatus.OPEN, _plays(person_id))
    return tx.execute(query).scalar_one()


def details(tx: Connection, call_id: int) -> CallDetails:
    """A call with caller and table. Raises NotFound."""
    row = tx.execute(_DETAILS.where(_CALL.c.id == call_id)).one_or_none()
    if row is None:
        raise NotFound(_("There is no such call."))
    return _details(row)


def count_since(tx: Connection, person_id: int, moment: datetime) -> int:
    """The number of calls a person has sent since this moment."""
    query = select(func.count()).select_from(_CALL).where(_CALL.c.person_id == person_id, _CALL.c.at > moment)
    return tx.execute(query).scalar_one()


def count_unconfirmed_since(tx: Connection, moment: datetime) -> int:
    """The number of calls since this moment from people with an unconfirmed address."""
    unconfirmed = _CALL.c.person_id == _PERSON.c.id, _PERSON.c.confirmed_at.is_(None), _CALL.c.at > moment
    return tx.execute(select(func.count()).select_from(_CALL, _PERSON).where(*unconfirmed)).scalar_one()


def open_duplicate(
    tx: Connection, person_id: int | None, game_id: int | None, seat: int | None, text: str
) -> int | None:
    """The id of an open call with just this content, if player is one."""
    columns = (_CALL.c.person_id, person_id), (_CALL.c.game_id, game_id), (_CALL.c.seat, seat)
    equal = [column.is_not_distinct_from(value) for column, value in columns]
    query = select(_CALL.c.id).where(_CALL.c.status == CallStatus.OPEN, _CALL.c.text == text, *equal)
    return tx.execute(query.limit(1)).scalar()


def _details(row: Row[*tuple[Any, ...]]) -> CallDetails:
    values = dict(row._mapping)
    caller, table = values.pop("caller"), values.pop("table")
    return CallDetails(CallRow(**values), caller or "", table or "")


def _plays(person_id: int) -> ColumnElement[bool]:
    """Whether this person plays at the table of a call."""
    player = (_PLAYER.c.game_id == _CALL.c.game_id, _PLAYER.c.person_id == person_id)
    return select(_PLAYER.c.number).where(*player).exists()
