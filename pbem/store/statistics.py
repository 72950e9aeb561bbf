"""Hourly counts, from which the desk draws its charts.

Workers count, moves do not. What happened at tables is counted hour by hour from the rows of that hour, and can be
counted again with the same result. What became of emails is counted row after row, and the progress is stored in the
same transaction. No name, address or text is stored here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, distinct, func, select, tuple_

from pbem.store import queries
from pbem.store.schema import DEADLINE, LEDGER, LOG, PLAYER, TALLY, LineRow

_DECIDED = LOG.c.kind.in_(("Entry", "Sealed"))
_AT_SEAT = (PLAYER.c.game_id == LOG.c.game_id) & (PLAYER.c.seat == LOG.c.seat)
# A choice answers the last question its seat was asked before it.
_ASKED = (
    select(DEADLINE.c.asked_at)
    .where(DEADLINE.c.game_id == LOG.c.game_id, DEADLINE.c.seat == LOG.c.seat, DEADLINE.c.asked_at < LOG.c.at)
    .order_by(DEADLINE.c.turn.desc())
    .limit(1)
    .correlate(LOG)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision of a seat: its player, how it was sent, when, and since when it was asked for."""

    person_id: int | None
    by: str
    at: datetime
    asked_at: datetime | None


def decisions(tx: Connection, since: datetime, before: datetime) -> Iterator[DecisionRow]:
    """The decisions of seats between two moments, unordered."""
    query = (
        select(PLAYER.c.person_id, LOG.c.by, LOG.c.at, _ASKED.label("asked_at"))
        .join_from(LOG, PLAYER, _AT_SEAT)
        .where(LOG.c.at >= since, LOG.c.at < before, _DECIDED)
    )
    for row in tx.execute(query):
        yield DecisionRow(*row)


def first_decision(tx: Connection, since: datetime, before: datetime) -> datetime | None:
    """The moment of the first decision between two moments, or None if there was none."""
    query = select(LOG.c.at).where(LOG.c.at >= since, LOG.c.at < before, _DECIDED).order_by(LOG.c.at).limit(1)
    return tx.execute(query).scalar_one_or_none()


def count_active_people(tx: Connection, since: datetime, before: datetime, by: tuple[str, ...]) -> int:
    """The number of people who decided something between two moments in one of these ways."""
    query = (
        select(func.count(distinct(PLAYER.c.person_id)))
        .join_from(LOG, PLAYER, _AT_SEAT)
        .where(LOG.c.at >= since, LOG.c.at < before, _DECIDED, LOG.c.by.in_(by))
    )
    return tx.execute(query).scalar_one()


def next_lines(tx: Connection, after: int, limit: int) -> list[LineRow]:
    query = select(LEDGER).where(LEDGER.c.id > after).order_by(LEDGER.c.id).limit(limit)
    return queries.many(tx, LineRow, query)


def put(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """Replace the counts of an hour."""
    _write(tx, hour, counts, increase=False)


def add(tx: Connection, hour: datetime, counts: Mapping[str, int]) -> None:
    """Add to the counts of an hour."""
    _write(tx, hour, counts, increase=True)


def by_day(tx: Connection, since: date) -> dict[tuple[date, str], int]:
    """Counts by day and kind."""
    query = select(TALLY.c.day, TALLY.c.kind, func.sum(TALLY.c.count)).where(TALLY.c.day >= since)
    return {(day, kind): int(count) for day, kind, count in tx.execute(query.group_by(TALLY.c.day, TALLY.c.kind))}


def by_hour(tx: Connection, since: datetime) -> dict[tuple[date, int, str], int]:
    """Counts by day, hour and kind."""
    first = tuple_(TALLY.c.day, TALLY.c.hour) >= tuple_(since.date(), since.hour)
    return {(day, hour, kind): count for day, hour, kind, count in tx.execute(select(TALLY).where(first))}


def latest(tx: Connection, kind: str, since: date) -> int | None:
    """The count of a kind in the last hour it was counted; None if it was not since this day."""
    query = select(TALLY.c.count).where(TALLY.c.day >= since, TALLY.c.kind == kind)
    return tx.execute(query.order_by(TALLY.c.day.desc(), TALLY.c.hour.desc()).limit(1)).scalar_one_or_none()


def forget_before(tx: Connection, day: date) -> None:
    tx.execute(TALLY.delete().where(TALLY.c.day < day))


def _write(tx: Connection, hour: datetime, counts: Mapping[str, int], *, increase: bool) -> None:
    if not counts:
        return
    insertion = queries.insertion(tx.dialect.name, TALLY)
    count = insertion.excluded.count
    rows = [
        {"day": hour.date(), "hour": hour.hour, "kind": kind, "count": count} for kind, count in sorted(counts.items())
    ]
    upsert = insertion.on_conflict_do_update(
        index_elements=["day", "hour", "kind"], set_={"count": TALLY.c.count + count if increase else count}
    )
    tx.execute(upsert, rows)
