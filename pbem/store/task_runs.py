"""Rows by which one worker of many takes a task for one period, such as a day."""

from datetime import date

from sqlalchemy import Connection, delete

from pbem.store import queries
from pbem.store.schema import TASK_RUN


def take(tx: Connection, task: str, period: str) -> bool:
    """Take a task for a period; False if another worker has it."""
    return queries.add_once(tx, TASK_RUN, {"task": task, "period": period})


def forget_before(tx: Connection, day: date) -> None:
    """Drop rows of days before this one. A period begins with its date."""
    tx.execute(delete(TASK_RUN).where(TASK_RUN.c.period < day.isoformat()))
