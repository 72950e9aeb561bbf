"""Calls for the organiser: the caller, the table and the answer."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, select, update

from pbem.domain.states import CallStatus
from pbem.i18n.speech import mark
from pbem.store import insiders, queries
from pbem.store.limits import Period, within
from pbem.store.schema import CALL, GAME, PERSON, CallRow

_NO_CALL = mark("There is no such message.")
_DETAILS = (
    select(*CALL.c, PERSON.c.name.label("caller"), GAME.c.title.label("table"))
    .outerjoin_from(CALL, PERSON, PERSON.c.id == CALL.c.person_id)
    .outerjoin(GAME, GAME.c.id == CALL.c.game_id)
)


@dataclass(frozen=True, slots=True)
class CallDetails:
    """A call with the caller's name and the table's title, each empty if there is none."""

    row: CallRow
    caller: str
    table: str


def add(tx: Connection, **values: Any) -> int:
    return queries.add(tx, CALL, values | {"status": "open"})


def lock(tx: Connection, call_id: int) -> CallRow:
    """Lock a call. Raises NotFound."""
    query = select(CALL).where(CALL.c.id == call_id).with_for_update()
    return queries.only(tx, CallRow, query, _NO_CALL)


def change(tx: Connection, call_id: int, **values: Any) -> None:
    tx.execute(update(CALL).where(CALL.c.id == call_id).values(**values))


def with_status(tx: Connection, status: str, limit: int) -> list[CallRow]:
    """Calls with this status: open ones oldest first, others newest first."""
    moment = CALL.c.at if status == CallStatus.OPEN else CALL.c.at.desc()
    query = select(CALL).where(CALL.c.status == status).order_by(moment, CALL.c.id).limit(limit)
    return queries.many(tx, CallRow, query)


def list_details(tx: Connection, status: str, limit: int, without: int | None) -> list[CallDetails]:
    """The same with caller and table, except calls from tables where this person sits or sat.

    Open calls that are proven come first, so that no flood of strangers buries them.
    """
    first = (CALL.c.proven.desc(), CALL.c.at) if status == CallStatus.OPEN else (CALL.c.at.desc(),)
    query = _DETAILS.where(CALL.c.status == status, *([] if without is None else [~_plays(without)]))
    return queries.many(tx, _details, query.order_by(*first, CALL.c.id).limit(limit))


def count_open_at_tables_of(tx: Connection, person_id: int) -> int:
    """The number of open calls from tables where this person sits or sat."""
    return queries.count(tx, CALL, CALL.c.status == CallStatus.OPEN, _plays(person_id))


def details(tx: Connection, call_id: int) -> CallDetails:
    """A call with caller and table. Raises NotFound."""
    return queries.only(tx, _details, _DETAILS.where(CALL.c.id == call_id), _NO_CALL)


def count_in(tx: Connection, person_id: int, period: Period) -> int:
    """The number of calls in a period that are proven to be this person's."""
    return queries.count(tx, CALL, CALL.c.person_id == person_id, CALL.c.proven, within(CALL.c.at, period))


def count_unproven_in(tx: Connection, period: Period) -> int:
    return queries.count(tx, CALL, ~CALL.c.proven, within(CALL.c.at, period))


def open_duplicate(tx: Connection, **values: Any) -> int | None:
    """The id of an open call with just these values, if there is one."""
    equal = [CALL.c[column].is_not_distinct_from(value) for column, value in values.items()]
    return tx.execute(select(CALL.c.id).where(CALL.c.status == CallStatus.OPEN, *equal).limit(1)).scalar()


def _details(*columns: Any) -> CallDetails:
    *call, caller, table = columns
    return CallDetails(CallRow(*call), caller or "", table or "")


def _plays(person_id: int) -> ColumnElement[bool]:
    return and_(CALL.c.game_id.is_not(None), CALL.c.game_id.in_(insiders.tables_of(person_id)))
