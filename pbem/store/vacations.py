"""Vacations, as rows. What they do to a deadline is `domain.deadline`'s business."""

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


def add_vacation(tx: Connection, person_id: int, first: date, last: date, when: Interval) -> int:
    """Book days; the number of the booking."""
    values = {"person_id": person_id, "first": first, "last": last, "start_at": when.start, "end_at": when.end}
    return int(tx.execute(insert(_VACATION).returning(_VACATION.c.id), values).scalar_one())


def end_vacation(tx: Connection, vacation_id: int, last: date, now: datetime) -> None:
    """Somebody is back early: the days after `last` were not used."""
    tx.execute(update(_VACATION).where(_VACATION.c.id == vacation_id).values(last=last, end_at=now))


def drop_vacation(tx: Connection, vacation_id: int) -> None:
    """A vacation that has not begun is called off."""
    tx.execute(delete(_VACATION).where(_VACATION.c.id == vacation_id))


def booked(tx: Connection, person_id: int) -> list[VacationRow]:
    """All vacations of a person, the first first."""
    mine = select(_VACATION).where(_VACATION.c.person_id == person_id).order_by(_VACATION.c.first)
    return [VacationRow(**row._mapping) for row in tx.execute(mine)]


def vacations(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The vacations of these people that reach beyond a moment."""
    return times_of(tx, _VACATIONS, person_ids, since)
