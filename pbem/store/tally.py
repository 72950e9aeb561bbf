"""Hourly counts, from which the desk draws its charts.

Workers count, moves do not. What happened at tables is counted hour by hour from the rows of that hour, and can be
counted increase with the same result. What became of emails is counted row after row, and the progress is stored in the
same transaction. No name, address or text is stored here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, distinct, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Deadline, Ledger, Log, Player, Tally, TaskProgress, table_of

_DEADLINE, _LEDGER, _LOG, _PROGRESS = table_of(Deadline), table_of(Ledger), table_of(Log), table_of(TaskProgress)
_PLAYER, _TALLY = table_of(Player), table_of(Tally)

_DECIDED = _LOG.c.kind.in_(("Entry", "Sealed"))
_AT_SEAT = (_PLAYER.c.game_id == _LOG.c.game_id) & (_PLAYER.c.seat == _LOG.c.seat)
# A choice answers the last question its seat was asked before it.
_ASKED = (
    select(_DEADLINE.c.asked_at)
    .where(_DEADLINE.c.game_id == _LOG.c.game_id, _DEADLINE.c.seat == _LOG.c.seat, _DEADLINE.c.asked_at < _LOG.c.at)
    .order_by(_DEADLINE.c.turn.desc())
    .limit(1)
    .correlate(_LOG)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision of a seat: its player, how it was sent, when, and since when it was asked for."""

    person_id: int | None
    by: str
    at: datetime
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line of the ledger, as far as it is counted."""

    id: int
    at: datetime
    what: str


def decisions(tx: Connection, since: datetime, before: datetime) -> Iterator[DecisionRow]:
    """The decisions of seats between two moments, unordered."""
    query = (
        select(_PLAYER.c.person_id, _LOG.c.by, _LOG.c.at, _ASKED.label("asked_at"))
        .join_from(_LOG, _PLAYER, _AT_SEAT)
        .where(_LOG.c.at >= since, _LOG.c.at < before, _DECIDED)
    )
    for row in tx.execute(query):
        yield DecisionRow(*row)


def count_active_people(tx: Connection, since: datetime, before: datetime, by: tuple[str, ...]) -> int:
    """The number of people who decided something between two moments in one of these ways."""
    query = (
        select(func.count(distinct(_PLAYER.c.person_id)))
        .join_from(_LOG, _PLAYER, _AT_SEAT)
        .where(_LOG.c.at >= since, _LOG.c.at < before, _DECIDED, _LOG.c.by.in_(by))
    )
    return tx.execute(query).scalar_one()


def next_lines(tx: Connection, after: int, limit: int) -> list[LineRow]:
    """The next lines of all emails' ledgers."""
    query = select(_LEDGER.c.id, _LEDGER.c.at, _LEDGER.c.what).where(_LEDGER.c.id > after)
    return [LineRow(*row) for row in tx.execute(query.order_by(_LEDGER.c.id).limit(limit))]


def lock_progress(tx: Connection, task: str) -> int:
    """Lock a task's progress: the number of the last row it has dealt with."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    tx.execute(dialect.insert(_PROGRESS).values(task=task, last_id=0).on_conflict_do_nothing())
    return int(tx.execute(select(_PROGRESS.c.last_id).where(_PROGRESS.c.task == task).with_for_update()).scalar_one())


def set_progress(tx: Connection, task: str, last_id: int) -> None:
    """Store a task's progress, which must be locked."""
    tx.execute(update(_PROGRESS).where(_PROGRESS.c.task == task).values(last_id=last_id))


def put(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """Replace the counts of an hour."""
    _write(tx, hour, counts, increase=False)


def add(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """Add to the counts of an hour."""
    _write(tx, hour, counts, increase=True)


def by_day(tx: Connection, since: date) -> dict[tuple[date, str], int]:
    """Counts by day and kind."""
    query = select(_TALLY.c.day, _TALLY.c.kind, func.sum(_TALLY.c.count)).where(_TALLY.c.day >= since)
    return {(day, kind): int(count) for day, kind, count in tx.execute(query.group_by(_TALLY.c.day, _TALLY.c.kind))}


def by_hour(tx: Connection, since: datetime) -> dict[tuple[date, int, str], int]:
    """Counts by day, hour and kind."""
    first = tuple_(_TALLY.c.day, _TALLY.c.hour) >= tuple_(since.date(), since.hour)
    return {(day, hour, kind): count for day, hour, kind, count in tx.execute(select(_TALLY).where(first))}


def latest(tx: Connection, kind: str, since: date) -> int | None:
    """The count of a kind in the last hour it was counted; None if it was not since this day."""
    query = select(_TALLY.c.count).where(_TALLY.c.day >= since, _TALLY.c.kind == kind)
    return tx.execute(query.order_by(_TALLY.c.day.desc(), _TALLY.c.hour.desc()).limit(1)).scalar_one_or_none()


def forget_before(tx: Connection, day: date) -> None:
    """Drop counts from before this day."""
    tx.execute(_TALLY.delete().where(_TALLY.c.day < day))


def _write(tx: Connection, hour: datetime, counts: Mapping[str, int], *, increase: bool) -> None:
    if not counts:
        return
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_TALLY)
    count = insertion.excluded.count
    rows = [
        {"day": hour.date(), "hour": hour.hour, "kind": kind, "count": count} for kind, count in sorted(counts.items())
    ]
    upsert = insertion.on_conflict_do_update(
        index_elements=["day", "hour", "kind"], set_={"count": _TALLY.c.count + count if increase else count}
    )
    tx.execute(upsert, rows)
