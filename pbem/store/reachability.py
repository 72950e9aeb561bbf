"""Bounces, and the times in which email to a person failed, as rows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, update

from pbem.store import queries
from pbem.store.queries import Times, times_of
from pbem.store.schema import BOUNCE, PERSON, UNREACHABLE, UnreachableRow
from pbem.store.types import Moment


def add_points(tx: Connection, person_id: int, day: date, points: int) -> None:
    """Count a bounce on this day; only the worst of a day counts. The person must be locked."""
    same = (BOUNCE.c.person_id == person_id, BOUNCE.c.day == day)
    counted = tx.execute(select(BOUNCE.c.points).where(*same)).scalar_one_or_none()
    if counted is None:
        tx.execute(insert(BOUNCE), {"person_id": person_id, "day": day, "points": points})
    elif counted < points:
        tx.execute(update(BOUNCE).where(*same).values(points=points))


def points(tx: Connection, person_id: int, since: date, until: date) -> int:
    """The sum of a person's points from one day to another."""
    recent = (BOUNCE.c.person_id == person_id, BOUNCE.c.day.between(since, until))
    return int(tx.execute(select(func.coalesce(func.sum(BOUNCE.c.points), 0)).where(*recent)).scalar_one())


def forget_points(tx: Connection, person_id: int) -> None:
    """Delete a person's points, because email arrives again."""
    tx.execute(delete(BOUNCE).where(BOUNCE.c.person_id == person_id))


def forget_points_before(tx: Connection, day: date) -> None:
    tx.execute(delete(BOUNCE).where(BOUNCE.c.day < day))


# While a channel of their own tells a person of their turns, they can be reached.
_UNTIL = func.coalesce(UNREACHABLE.c.covered_at, UNREACHABLE.c.end_at)
_FAILURES = select(UNREACHABLE.c.person_id, UNREACHABLE.c.start_at, _UNTIL).where(
    UNREACHABLE.c.person_id.in_(bindparam("these", expanding=True)),
    or_(_UNTIL.is_(None), bindparam("since", type_=Moment) < _UNTIL),
)

_FAILING = (
    select(UNREACHABLE)
    .where(UNREACHABLE.c.person_id == bindparam("of_person"), UNREACHABLE.c.end_at.is_(None))
    .limit(1)
)


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
    return queries.add_once(tx, UNREACHABLE, {"person_id": person_id, "start_at": now, "cause": cause, "why": why})


def failure(tx: Connection, person_id: int) -> UnreachableRow | None:
    """The current failure of email to a person, if there is one."""
    return queries.one(tx, UnreachableRow, _FAILING, {"of_person": person_id})


def cover(tx: Connection, person_id: int, now: datetime) -> bool:
    """Note that a channel tells a person of their turns while email to them fails; False if that is known, or not so."""
    failing = failure(tx, person_id)
    if failing is None or failing.covered_at is not None:
        return False
    # A failure noted by a fast clock must not be covered before it began.
    covered = update(UNREACHABLE).where(UNREACHABLE.c.id == failing.id)
    tx.execute(covered.values(covered_at=max(failing.start_at, now)))
    return True


def uncover(tx: Connection, person_id: int, now: datetime) -> bool:
    """Note that no channel reaches a person any more while email to them fails; False if none did, or email arrives."""
    failing = failure(tx, person_id)
    if failing is None or failing.covered_at is None:
        return False
    mark_reachable(tx, person_id, now)
    since = max(now, failing.start_at + timedelta(microseconds=1))
    return queries.add_once(
        tx, UNREACHABLE, {"person_id": person_id, "start_at": since, "cause": failing.cause, "why": failing.why}
    )


def failing_among(tx: Connection, person_ids: Collection[int]) -> list[int]:
    """Those of these people whose email fails at present."""
    query = select(UNREACHABLE.c.person_id).where(
        UNREACHABLE.c.person_id.in_(person_ids), UNREACHABLE.c.end_at.is_(None)
    )
    return sorted(set(tx.execute(query).scalars()))


def mark_reachable(tx: Connection, person_id: int, now: datetime) -> bool:
    """Note that email reaches a person again; False if it had not failed."""
    failing = and_(UNREACHABLE.c.person_id == person_id, UNREACHABLE.c.end_at.is_(None))
    since = tx.execute(select(UNREACHABLE.c.start_at).where(failing)).scalar_one_or_none()
    if since is None:
        return False
    # A failure noted by a fast clock must not end before it began.
    tx.execute(update(UNREACHABLE).where(failing).values(end_at=max(since, now)))
    return True


def since(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The times in which email to these people failed that end after this moment, or have not ended."""
    return times_of(tx, _FAILURES, person_ids, since)


def failing(tx: Connection, before: datetime) -> list[int]:
    """People whose email has failed since before this moment, longest first."""
    query = select(UNREACHABLE.c.person_id).where(UNREACHABLE.c.end_at.is_(None), UNREACHABLE.c.start_at <= before)
    return list(tx.execute(query.order_by(UNREACHABLE.c.start_at)).scalars())


def newest_failing(tx: Connection, limit: int) -> list[FailingRow]:
    """People whose email fails at present, newest failure first."""
    columns = (UNREACHABLE.c.person_id, PERSON.c.name, UNREACHABLE.c.start_at, UNREACHABLE.c.cause, UNREACHABLE.c.why)
    query = select(*columns).join(PERSON, PERSON.c.id == UNREACHABLE.c.person_id).where(UNREACHABLE.c.end_at.is_(None))
    return queries.many(tx, FailingRow, query.order_by(UNREACHABLE.c.start_at.desc()).limit(limit))
