"""Rows by which one worker of many takes a task for one period, such as a day."""

from datetime import date

from sqlalchemy import Connection, delete

from pbem.store.database import insert_once
from pbem.store.schema import Slot, table_of

_SLOT = table_of(Slot)


def take_slot(tx: Connection, task: str, slot: str) -> bool:
    """Take a task for a period; False if another worker has it."""
    return insert_once(tx, _SLOT, {"task": task, "slot": slot})


def forget_slots(tx: Connection, before: date) -> None:
    """Drop rows of days before this one. A period begins with its date."""
    tx.execute(delete(_SLOT).where(_SLOT.c.slot < before.isoformat()))
