"""How far tasks have got that go through the rows of a table. The row of a task is also its lock."""

from sqlalchemy import Connection, select, update

from pbem.store import queries
from pbem.store.schema import TASK_PROGRESS


def read(tx: Connection, task: str) -> int:
    """A task's progress: the number of the last row it has dealt with."""
    query = select(TASK_PROGRESS.c.last_id).where(TASK_PROGRESS.c.task == task)
    return int(tx.execute(query).scalar_one_or_none() or 0)


def lock(tx: Connection, task: str) -> int:
    """Lock a task's progress, and return it."""
    queries.add_once(tx, TASK_PROGRESS, {"task": task, "last_id": 0})
    query = select(TASK_PROGRESS.c.last_id).where(TASK_PROGRESS.c.task == task)
    return int(tx.execute(query.with_for_update()).scalar_one())


def put(tx: Connection, task: str, last_id: int) -> None:
    """Store a task's progress, which must be locked."""
    tx.execute(update(TASK_PROGRESS).where(TASK_PROGRESS.c.task == task).values(last_id=last_id))
