"""Rows by which one worker of many takes a task for one period, such as a day."""

from datetime import date

from sqlalchemy import Connection, delete

from pbem.store.database import insert_once
from pbem.store.schema import TaskRun, table_of

_TASK_RUN = table_of(TaskRun)


def take(tx: Connection, task: str, period: str) -> bool:
    """Take a task for a period; False if another worker has it."""
    return insert_once(tx, _TASK_RUN, {"task": task, "period": period})


def forget_before(tx: Connection, day: date) -> None:
    """Drop rows of days before this one. A period begins with its date."""
    tx.execute(delete(_TASK_RUN).where(_TASK_RUN.c.period < day.isoformat()))
