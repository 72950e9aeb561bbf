"""Vacations, as rows. `domain.deadline` decides what they do to a deadline."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbem.domain.interval import Interval
from pbem.store.intervals import Times, times_of
from pbem.store.schema import Vacation, table_of

_VACATION = table_of(Vacation)

_VACATIONS = select(_VACATION.c.person_id, _VACATION.c.start_at, _VACATION.c.end_at).where(
    _VACATION.c.person_id.in_(bindparam("these", expanding=True)), _VACATION.c.end_at > bindparam("since")
)


@dataclass(frozen=True, slots=True)
class VacationRow:
    """Days on which a person's clocks stand still."""

    id: int
    person_id: int
    first: date
    last: date
    start_at: datetime
    end_at: datetime


def add(tx: Connection, person_id: int, first: date, last: date, when: Interval) -> int:
    """Add a vacation and return its id."""
    values = {"person_id": person_id, "first": first, "last": last, "start_at": when.start, "end_at": when.end}
    return int(tx.execute(insert(_VACATION).returning(_VACATION.c.id), values).scalar_one())


def end(tx: Connection, vacation_id: int, last: date, now: datetime) -> None:
    """End a vacation early, with `last` as its last day."""
    tx.execute(update(_VACATION).where(_VACATION.c.id == vacation_id).values(last=last, end_at=now))


def drop(tx: Connection, vacation_id: int) -> None:
    """Delete a vacation that has not begun."""
    tx.execute(delete(_VACATION).where(_VACATION.c.id == vacation_id))


def of_person(tx: Connection, person_id: int) -> list[VacationRow]:
    """All vacations of a person, earliest first."""
    query = select(_VACATION).where(_VACATION.c.person_id == person_id).order_by(_VACATION.c.first)
    return [VacationRow(**row._mapping) for row in tx.execute(query)]


def since(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The vacations of these people that end after this moment."""
    return times_of(tx, _VACATIONS, person_ids, since)
