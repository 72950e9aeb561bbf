"""Counts of what happened, by the hour: what the desk's charts are drawn from.

A worker counts; no move does. What happened at tables is counted hour by hour from the rows of that hour, and may be
counted again, with the same result. What became of mails is counted row after row up to a mark, which moves in the same
transaction. No name, address or text is kept here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, distinct, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Deadline, Ledger, Log, Mark, Place, Tally, table_of

_DEADLINE, _LEDGER, _LOG, _MARK = table_of(Deadline), table_of(Ledger), table_of(Log), table_of(Mark)
_PLACE, _TALLY = table_of(Place), table_of(Tally)

_DECIDED = _LOG.c.kind.in_(("Entry", "Sealed"))
_AT_SEAT = (_PLACE.c.game_id == _LOG.c.game_id) & (_PLACE.c.seat == _LOG.c.seat)
# The question that a choice answered is the last one that its seat was asked before it.
_ASKED = (
    select(_DEADLINE.c.asked_at)
    .where(
        _DEADLINE.c.game_id == _LOG.c.game_id,
        _DEADLINE.c.seat == _LOG.c.seat,
        _DEADLINE.c.asked_at < _LOG.c.at,
    )
    .order_by(_DEADLINE.c.turn.desc())
    .limit(1)
    .correlate(_LOG)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class Decided:
    """One choice of a seat: who plays the seat, through whom the choice came, when, and since when it was asked for."""

    person_id: int | None
    by: str
    at: datetime
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Noted:
    """One line of the ledger of mails, as far as it is counted."""

    id: int
    at: datetime
    what: str


def decided(tx: Connection, since: datetime, before: datetime) -> Iterator[Decided]:
    """The choices of seats between two moments, in no order."""
    wanted = (
        select(_PLACE.c.person_id, _LOG.c.by, _LOG.c.at, _ASKED.label("asked_at"))
        .join_from(_LOG, _PLACE, _AT_SEAT)
        .where(_LOG.c.at >= since, _LOG.c.at < before, _DECIDED)
    )
    for row in tx.execute(wanted):
        yield Decided(*row)


def active(tx: Connection, since: datetime, before: datetime, by: tuple[str, ...]) -> int:
    """How many people decided something between two moments, in one of these ways."""
    wanted = (
        select(func.count(distinct(_PLACE.c.person_id)))
        .join_from(_LOG, _PLACE, _AT_SEAT)
        .where(_LOG.c.at >= since, _LOG.c.at < before, _DECIDED, _LOG.c.by.in_(by))
    )
    return tx.execute(wanted).scalar_one()


def noted(tx: Connection, after: int, limit: int) -> list[Noted]:
    """The next lines of the ledger of all mails."""
    wanted = select(_LEDGER.c.id, _LEDGER.c.at, _LEDGER.c.what).where(_LEDGER.c.id > after)
    return [Noted(*row) for row in tx.execute(wanted.order_by(_LEDGER.c.id).limit(limit))]


def lock_mark(tx: Connection, task: str) -> int:
    """How far a task has come; nobody else goes on with it until this transaction ends."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    tx.execute(dialect.insert(_MARK).values(task=task, number=0).on_conflict_do_nothing())
    return int(tx.execute(select(_MARK.c.number).where(_MARK.c.task == task).with_for_update()).scalar_one())


def set_mark(tx: Connection, task: str, number: int) -> None:
    """A task has come so far. Its mark is locked."""
    tx.execute(update(_MARK).where(_MARK.c.task == task).values(number=number))


def put(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """What was counted in an hour, in place of what was counted before."""
    _write(tx, hour, counts, again=False)


def add(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """So many more in an hour."""
    _write(tx, hour, counts, again=True)


def by_day(tx: Connection, since: date) -> dict[tuple[date, str], int]:
    """How often something of each kind happened on each day."""
    wanted = select(_TALLY.c.day, _TALLY.c.kind, func.sum(_TALLY.c.count)).where(_TALLY.c.day >= since)
    return {(day, kind): int(count) for day, kind, count in tx.execute(wanted.group_by(_TALLY.c.day, _TALLY.c.kind))}


def by_hour(tx: Connection, since: datetime) -> dict[tuple[date, int, str], int]:
    """How often something of each kind happened in each hour."""
    first = tuple_(_TALLY.c.day, _TALLY.c.hour) >= tuple_(since.date(), since.hour)
    return {(day, hour, kind): count for day, hour, kind, count in tx.execute(select(_TALLY).where(first))}


def latest(tx: Connection, kind: str, since: date) -> int | None:
    """What was counted of a kind in the last hour in which it was; None if it was not since that day."""
    wanted = select(_TALLY.c.count).where(_TALLY.c.day >= since, _TALLY.c.kind == kind)
    return tx.execute(wanted.order_by(_TALLY.c.day.desc(), _TALLY.c.hour.desc()).limit(1)).scalar_one_or_none()


def forget_before(tx: Connection, day: date) -> None:
    """Drop the counts of days long ago."""
    tx.execute(_TALLY.delete().where(_TALLY.c.day < day))


def _write(tx: Connection, hour: datetime, counts: Mapping[str, int], *, again: bool) -> None:
    if not counts:
        return
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_TALLY)
    new = insertion.excluded.count
    rows = [
        {"day": hour.date(), "hour": hour.hour, "kind": kind, "count": count} for kind, count in sorted(counts.items())
    ]
    changed = insertion.on_conflict_do_update(
        index_elements=["day", "hour", "kind"], set_={"count": _TALLY.c.count + new if again else new}
    )
    tx.execute(changed, rows)
