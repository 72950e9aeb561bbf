"""Workers, as rows: when each was last seen, by which outages are found, and the tasks that one of them takes."""

from datetime import date, datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbem.store import queries
from pbem.store.schema import HEARTBEAT, TASK_RUN, HeartbeatRow

# A worker runs these every few seconds.
_NEWEST = select(func.max(HEARTBEAT.c.beat_at))
_READ = select(HEARTBEAT.c.beat_at, HEARTBEAT.c.started_at).where(HEARTBEAT.c.worker == bindparam("of_worker"))
_UPDATE = (
    update(HEARTBEAT)
    .where(HEARTBEAT.c.worker == bindparam("of_worker"))
    .values(started_at=bindparam("new_start"), beat_at=bindparam("new_beat"))
)


def record(tx: Connection, worker: str, started_at: datetime, now: datetime) -> None:
    """Record that a worker is running. Its row never goes back in time, so that a clock set back shows."""
    last = tx.execute(_READ, {"of_worker": worker}).one_or_none()
    if last is None:
        # A start in the future is by a clock that was set back before the first beat.
        start = min(started_at, now)
        tx.execute(insert(HEARTBEAT), {"worker": worker, "started_at": start, "beat_at": now})
    elif last.beat_at < now:
        # A start that lies in the future was brought back when the clock was.
        start = started_at if started_at <= now else last.started_at
        tx.execute(_UPDATE, {"of_worker": worker, "new_start": start, "new_beat": now})


def started_at(tx: Connection, worker: str) -> datetime | None:
    """When a worker started, by its row; None before its first beat."""
    row = tx.execute(_READ, {"of_worker": worker}).one_or_none()
    return None if row is None else row.started_at


def newest(tx: Connection) -> datetime | None:
    """The newest beat of all workers; None if there is none."""
    return tx.execute(_NEWEST).scalar_one_or_none()


def all_workers(tx: Connection) -> list[HeartbeatRow]:
    """All workers, last seen first."""
    return queries.many(tx, HeartbeatRow, select(HEARTBEAT).order_by(HEARTBEAT.c.beat_at.desc()))


def forget_before(tx: Connection, before: datetime) -> None:
    """Drop workers not seen since this moment, except the newest beat, from which an outage is measured."""
    old = (HEARTBEAT.c.beat_at < before, HEARTBEAT.c.beat_at < _NEWEST.scalar_subquery())
    tx.execute(delete(HEARTBEAT).where(*old))


def take_task(tx: Connection, task: str, period: str) -> bool:
    """Take a task for one period, such as a day; False if another worker has it."""
    return queries.add_once(tx, TASK_RUN, {"task": task, "period": period})


def is_taken(tx: Connection, task: str, period: str) -> bool:
    """Whether a worker has taken a task for a period."""
    query = select(TASK_RUN.c.task).where(TASK_RUN.c.task == task, TASK_RUN.c.period == period)
    return tx.execute(query).first() is not None


def give_back_task(tx: Connection, task: str, period: str) -> None:
    """Let a worker take a task of a period again."""
    tx.execute(delete(TASK_RUN).where(TASK_RUN.c.task == task, TASK_RUN.c.period == period))


def forget_tasks_before(tx: Connection, day: date) -> None:
    """Drop the tasks of days before this one. A period begins with its date."""
    tx.execute(delete(TASK_RUN).where(TASK_RUN.c.period < day.isoformat()))
