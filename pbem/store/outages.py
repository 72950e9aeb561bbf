"""Times in which clocks stand still, as rows: outages, pauses, vacations, addresses that could not be reached.

Beside them lie the heartbeats from which outages are found, and the slots by which one worker of many does a daily task.
What any of this does to a deadline is `domain.deadline`'s business.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, bindparam, delete, func, insert, literal, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.domain.interval import Interval
from pbem.store.schema import Beat, Outage, Pause, Person, Slot, Unreachable, Vacation, table_of

_BEAT, _OUTAGE, _PAUSE, _SLOT = table_of(Beat), table_of(Outage), table_of(Pause), table_of(Slot)
_PERSON, _UNREACHABLE, _VACATION = table_of(Person), table_of(Unreachable), table_of(Vacation)

_OUTAGES = select(_OUTAGE.c.start_at, _OUTAGE.c.end_at).where(_OUTAGE.c.end_at > bindparam("since"))
_PAUSES = select(_PAUSE.c.game_id, _PAUSE.c.start_at, _PAUSE.c.end_at).where(
    _PAUSE.c.game_id.in_(bindparam("these", expanding=True)),
    or_(_PAUSE.c.end_at.is_(None), _PAUSE.c.end_at > bindparam("since")),
)
_VACATIONS = select(_VACATION.c.person_id, _VACATION.c.start_at, _VACATION.c.end_at).where(
    _VACATION.c.person_id.in_(bindparam("these", expanding=True)), _VACATION.c.end_at > bindparam("since")
)
_FAILURES = select(_UNREACHABLE.c.person_id, _UNREACHABLE.c.start_at, _UNREACHABLE.c.end_at).where(
    _UNREACHABLE.c.person_id.in_(bindparam("these", expanding=True)),
    or_(_UNREACHABLE.c.end_at.is_(None), _UNREACHABLE.c.end_at > bindparam("since")),
)

_FAILING = select(_UNREACHABLE).where(
    _UNREACHABLE.c.person_id == bindparam("of_person"), _UNREACHABLE.c.end_at.is_(None)
)
# A worker asks these again every few seconds.
_LAST_BEAT = select(func.max(_BEAT.c.beat_at))
_BEAT_OF = select(_BEAT.c.beat_at).where(_BEAT.c.worker == bindparam("of_worker"))
_BEAT_AGAIN = (
    update(_BEAT)
    .where(_BEAT.c.worker == bindparam("of_worker"))
    .values(started_at=bindparam("new_start"), beat_at=bindparam("new_beat"))
)
_UNAPPLIED = select(_OUTAGE).where(_OUTAGE.c.applied_at.is_(None)).order_by(_OUTAGE.c.id)


Times = Mapping[int, tuple[Interval, ...]]
"""Times of tables or of people, by their numbers; of each that was asked for, none at all too."""


@dataclass(frozen=True, slots=True)
class BeatRow:
    """A process that works, and when it last said so."""

    worker: str
    started_at: datetime
    beat_at: datetime


@dataclass(frozen=True, slots=True)
class OutageRow:
    """A time in which nobody worked, or no mail arrived.

    `why` is what an organiser has said who declared it, and empty where it was found by itself, because no worker was
    running. `applied_at` is empty until every open deadline has heard of it.
    """

    id: int
    start_at: datetime
    end_at: datetime
    why: str
    applied_at: datetime | None


@dataclass(frozen=True, slots=True)
class VacationRow:
    """Days on which a person's clocks stand still."""

    id: int
    person_id: int
    first: date
    last: date
    start_at: datetime
    end_at: datetime


@dataclass(frozen=True, slots=True)
class UnreachableRow:
    """A time in which mail to a person failed."""

    id: int
    person_id: int
    start_at: datetime
    end_at: datetime | None
    cause: str
    why: str


@dataclass(frozen=True, slots=True)
class LeftAloneRow:
    """Somebody to whom no mail goes at present: since when, what said so, and its words."""

    person_id: int
    name: str
    since: datetime
    cause: str
    why: str


def beat(tx: Connection, worker: str, started_at: datetime, now: datetime) -> None:
    """A worker says that it is there. A beat never goes back, so that a clock that was set back shows."""
    known = tx.execute(_BEAT_OF, {"of_worker": worker}).scalar_one_or_none()
    if known is None:
        tx.execute(insert(_BEAT), {"worker": worker, "started_at": started_at, "beat_at": now})
    elif known < now:
        tx.execute(_BEAT_AGAIN, {"of_worker": worker, "new_start": started_at, "new_beat": now})


def last_beat(tx: Connection) -> datetime | None:
    """The newest beat of all workers."""
    return tx.execute(_LAST_BEAT).scalar_one_or_none()


def beats(tx: Connection) -> list[BeatRow]:
    """All workers that have said something, the one that was heard last first."""
    return [BeatRow(**row._mapping) for row in tx.execute(select(_BEAT).order_by(_BEAT.c.beat_at.desc()))]


def forget_beats(tx: Connection, before: datetime) -> None:
    """Drop workers that have long been gone; the newest beat of all stays, because a hole is measured from it."""
    newest = select(func.max(_BEAT.c.beat_at)).scalar_subquery()
    tx.execute(delete(_BEAT).where(_BEAT.c.beat_at < before, _BEAT.c.beat_at < newest))


def add_outage(tx: Connection, outage: Interval, why: str) -> bool:
    """Write an outage down; False if another worker has found the same one."""
    values = {"start_at": outage.start, "end_at": outage.end, "why": why}
    return _insert_once(tx, _OUTAGE, values)


def outages(tx: Connection, since: datetime) -> tuple[Interval, ...]:
    """The outages that reach beyond a moment."""
    return tuple(Interval(*row) for row in tx.execute(_OUTAGES, {"since": since}))


def newest_outages(tx: Connection, limit: int = 20) -> list[OutageRow]:
    """The last outages, the newest first."""
    newest = select(_OUTAGE).order_by(_OUTAGE.c.start_at.desc()).limit(limit)
    return [OutageRow(**row._mapping) for row in tx.execute(newest)]


def unapplied(tx: Connection) -> list[OutageRow]:
    """Outages of which some open deadline may not have heard."""
    return [OutageRow(**row._mapping) for row in tx.execute(_UNAPPLIED)]


def applied(tx: Connection, outage_id: int, now: datetime) -> None:
    """Every open deadline has heard of this outage."""
    tx.execute(update(_OUTAGE).where(_OUTAGE.c.id == outage_id).values(applied_at=now))


def pause(tx: Connection, game_id: int, now: datetime) -> None:
    """All clocks of a table stop."""
    tx.execute(insert(_PAUSE), {"game_id": game_id, "start_at": now})


def end_pause(tx: Connection, game_id: int, now: datetime) -> None:
    """They go on."""
    tx.execute(update(_PAUSE).where(_PAUSE.c.game_id == game_id, _PAUSE.c.end_at.is_(None)).values(end_at=now))


def pauses(tx: Connection, game_ids: Collection[int], since: datetime) -> Times:
    """The pauses of these tables that reach beyond a moment."""
    return _times(tx, _PAUSES, game_ids, since)


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
    return _times(tx, _VACATIONS, person_ids, since)


def fail(tx: Connection, person_id: int, now: datetime, cause: str, why: str) -> bool:
    """Mail to a person fails from now on; False if that was known."""
    if failure(tx, person_id) is not None:
        return False
    return _insert_once(tx, _UNREACHABLE, {"person_id": person_id, "start_at": now, "cause": cause, "why": why})


def failure(tx: Connection, person_id: int) -> UnreachableRow | None:
    """Since when and why mail to a person fails at present; None if it does not."""
    row = tx.execute(_FAILING, {"of_person": person_id}).first()
    return None if row is None else UnreachableRow(**row._mapping)


def failing_among(tx: Connection, person_ids: Collection[int]) -> list[int]:
    """Those of these people to whom mail fails at present."""
    wanted = select(_UNREACHABLE.c.person_id).where(
        _UNREACHABLE.c.person_id.in_(person_ids), _UNREACHABLE.c.end_at.is_(None)
    )
    return sorted(set(tx.execute(wanted).scalars()))


def reach(tx: Connection, person_id: int, now: datetime) -> bool:
    """Mail to a person went through again; False if it had not failed."""
    failing = and_(_UNREACHABLE.c.person_id == person_id, _UNREACHABLE.c.end_at.is_(None))
    since = tx.execute(select(_UNREACHABLE.c.start_at).where(failing)).scalar_one_or_none()
    if since is None:
        return False
    # A failure noted by a clock that was ahead must not end before it began.
    tx.execute(update(_UNREACHABLE).where(failing).values(end_at=max(since, now)))
    return True


def failures(tx: Connection, person_ids: Collection[int], since: datetime) -> Times:
    """The times beyond a moment in which mail to these people failed."""
    return _times(tx, _FAILURES, person_ids, since)


def failing(tx: Connection, before: datetime, limit: int) -> list[UnreachableRow]:
    """People to whom mail has failed since before a moment, and still does, the longest first."""
    wanted = select(_UNREACHABLE).where(_UNREACHABLE.c.end_at.is_(None), _UNREACHABLE.c.start_at <= before)
    return [UnreachableRow(**row._mapping) for row in tx.execute(wanted.order_by(_UNREACHABLE.c.start_at).limit(limit))]


def left_alone(tx: Connection, limit: int) -> list[LeftAloneRow]:
    """People to whom mail fails at present, those first to whom it began to fail last."""
    told = (_UNREACHABLE.c.person_id, _PERSON.c.name, _UNREACHABLE.c.start_at, _UNREACHABLE.c.cause, _UNREACHABLE.c.why)
    wanted = (
        select(*told).join(_PERSON, _PERSON.c.id == _UNREACHABLE.c.person_id).where(_UNREACHABLE.c.end_at.is_(None))
    )
    return [LeftAloneRow(*row) for row in tx.execute(wanted.order_by(_UNREACHABLE.c.start_at.desc()).limit(limit))]


def take_slot(tx: Connection, task: str, slot: str) -> bool:
    """Whether a task of one span of time is ours to do: whoever inserts the row does it."""
    return _insert_once(tx, _SLOT, {"task": task, "slot": slot})


def forget_slots(tx: Connection, before: date) -> None:
    """Drop the slots of days that are long gone. A slot begins with its day."""
    tx.execute(delete(_SLOT).where(_SLOT.c.slot < before.isoformat()))


def _times(tx: Connection, statement: Select[Any], these: Collection[int], since: datetime) -> Times:
    found: dict[int, tuple[Interval, ...]] = dict.fromkeys(these, ())
    for whose, start, end in tx.execute(statement, {"these": list(these), "since": since}):
        found[whose] += (Interval(start, end),)
    return found


def _insert_once(tx: Connection, table: Table, values: Mapping[str, object]) -> bool:
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(table).values(**values).on_conflict_do_nothing()
    return tx.execute(insertion.returning(literal(1))).first() is not None
