"""Bounces, and the times in which email to a person failed, as rows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, update

from pbem.store.database import insert_once
from pbem.store.intervals import Times, times_of
from pbem.store.schema import Bounce, Person, Unreachable, table_of

_BOUNCE, _PERSON, _UNREACHABLE = table_of(Bounce), table_of(Person), table_of(Unreachable)


def add_points(tx: Connection, person_id: int, day: date, points: int) -> None:
    """Count a bounce on this day; only the worst of a day counts. The person must be locked."""
    same = (_BOUNCE.c.person_id == person_id, _BOUNCE.c.day == day)
    known = tx.execute(select(_BOUNCE.c.points).where(*same)).scalar_one_or_none()
    if known is None:
        tx.execute(insert(_BOUNCE), {"person_id": person_id, "day": day, "points": points})
    elif known < points:
        tx.execute(update(_BOUNCE).where(*same).values(points=points))


def points(tx: Connection, person_id: int, since: date) -> int:
    """The sum of a person's points since this day."""
    recent = (_BOUNCE.c.person_id == person_id, _BOUNCE.c.day >= since)
    return int(tx.execute(select(func.coalesce(func.sum(_BOUNCE.c.points), 0)).where(*recent)).scalar_one())


def forget_points(tx: Connection, person_id: int) -> None:
    """Delete a person's points, because email arrives again."""
    tx.execute(delete(_BOUNCE).where(_BOUNCE.c.person_id == person_id))


def forget_points_before(tx: Connection, day: date) -> None:
    """Drop points from before this day."""
    tx.execute(delete(_BOUNCE).where(_BOUNCE.c.day < day))


_FAILURES = select(_UNREACHABLE.c.person_id, _UNREACHABLE.c.start_at, _UNREACHABLE.c.end_at).where(
    _UNREACHABLE.c.person_id.in_(bindparam("these", expanding=True)),
    or_(_UNREACHABLE.c.end_at.is_(None), _UNREACHABLE.c.end_at > bindparam("since")),
)

_FAILING = select(_UNREACHABLE).where(
    _UNREACHABLE.c.person_id == bindparam("of_person"), _UNREACHABLE.c.end_at.is_(None)
)


@dataclass(frozen=True, slots=True)
class UnreachableRow:
    """A time in which email to a person failed."""

    id: int
    person_id: int
    start_at: datetime
    end_at: datetime | None
    cause: str
    why: str


@dataclass(frozen=True, slots=True)
class FailingRow:
    """A person whose email fails at present: since when, the cause, and its text."""

    person_id: int
    name: str
    since: datetime
    cause: str
    why: str


def mark_unreachable(tx: Connection, person_id: int, now: datetime, cause: str, why: str) -> bool:
    """Note that email to a person fails from now on; False if that is known."""
    if failure(tx, person_id) is not None:
        return False
    return insert_once(tx, _UNREACHABLE, {"person_id": person_id, "start_at": now, "cause": cause, "why": why})


def failure(tx: Connection, person_id: int) -> UnreachableRow | None:
    """The current failure of email to a person, if there is one."""
    row = tx.execute(_FAILING, {"of_person": person_id}).first()
    return None if row is None else UnreachableRow(**row._mapping)


def failing_among(tx: Connection, person_ids: Collection[int]) -> list[int]:
    """Those of these people whose email fails at present."""
    query = select(_UNREACHABLE.c.person_id).where(
        _UNREACHABLE.c.person_id.in_(person_ids), _UNREACHABLE.c.end_at.is_(None)
    )
    return sorted(set(tx.execute(query).scalars()))


def mark_reachable(tx: Connection, person_id: int, now: datetime) -> bool:
    """Note that email reaches a person again; False if it had not failed."""
    failing = and_(_UNREACHABLE.c.person_id == person_id, _UNREACHABLE.c.end_at.is_(None))
    since = tx.execute(select(_UNREACHABLE.c.start_at).where(failing)).scalar_one_or_none()
    if since is None:
        return False
    # A failure noted by a fast clock must not end before it began.
    tx.execute(update(_UNREACHABLE).where(failing).values(end_at=max(since, now)))
    return True


def since(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The times in which email to these people failed that end after this moment, or have not ended."""
    return times_of(tx, _FAILURES, person_ids, since)


def failing(tx: Connection, before: datetime, limit: int) -> list[UnreachableRow]:
    """People whose email has failed since before this moment, longest first."""
    query = select(_UNREACHABLE).where(_UNREACHABLE.c.end_at.is_(None), _UNREACHABLE.c.start_at <= before)
    return [UnreachableRow(**row._mapping) for row in tx.execute(query.order_by(_UNREACHABLE.c.start_at).limit(limit))]


def newest_failing(tx: Connection, limit: int) -> list[FailingRow]:
    """People whose email fails at present, newest failure first."""
    columns = (
        _UNREACHABLE.c.person_id,
        _PERSON.c.name,
        _UNREACHABLE.c.start_at,
        _UNREACHABLE.c.cause,
        _UNREACHABLE.c.why,
    )
    query = (
        select(*columns).join(_PERSON, _PERSON.c.id == _UNREACHABLE.c.person_id).where(_UNREACHABLE.c.end_at.is_(None))
    )
    return [FailingRow(*row) for row in tx.execute(query.order_by(_UNREACHABLE.c.start_at.desc()).limit(limit))]
