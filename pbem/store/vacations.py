"""Vacations, as rows. `domain.deadline` decides what they do to a deadline."""

from collections.abc import Collection
from datetime import date, datetime

from sqlalchemy import Connection, bindparam, delete, select, update

from pbem.domain.interval import Interval
from pbem.store import queries
from pbem.store.queries import Times, times_of
from pbem.store.schema import VACATION, VacationRow

_VACATIONS = select(VACATION.c.person_id, VACATION.c.start_at, VACATION.c.end_at).where(
    VACATION.c.person_id.in_(bindparam("these", expanding=True)), VACATION.c.end_at > bindparam("since")
)


def add(tx: Connection, person_id: int, first: date, last: date, when: Interval) -> int:
    values = {"person_id": person_id, "first": first, "last": last, "start_at": when.start, "end_at": when.end}
    return queries.add(tx, VACATION, values)


def end(tx: Connection, vacation_id: int, last: date, now: datetime) -> None:
    """End a vacation early, with `last` as its last day."""
    tx.execute(update(VACATION).where(VACATION.c.id == vacation_id).values(last=last, end_at=now))


def drop(tx: Connection, vacation_id: int) -> None:
    """Delete a vacation that has not begun."""
    tx.execute(delete(VACATION).where(VACATION.c.id == vacation_id))


def of_person(tx: Connection, person_id: int) -> list[VacationRow]:
    """All vacations of a person, earliest first."""
    query = select(VACATION).where(VACATION.c.person_id == person_id).order_by(VACATION.c.first)
    return queries.many(tx, VacationRow, query)


def since(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The vacations of these people that end after this moment."""
    return times_of(tx, _VACATIONS, person_ids, since)
