"""Slots: rows by which one worker of many takes a task of one span of time, such as a day."""

from datetime import date

from sqlalchemy import Connection, delete

from pbem.store.database import insert_once
from pbem.store.schema import Slot, table_of

_SLOT = table_of(Slot)


def take_slot(tx: Connection, task: str, slot: str) -> bool:
    """Whether a task of one span of time is ours to do: whoever inserts the row does it."""
    return insert_once(tx, _SLOT, {"task": task, "slot": slot})


def forget_slots(tx: Connection, before: date) -> None:
    """Drop the slots of days that are long gone. A slot begins with its day."""
    tx.execute(delete(_SLOT).where(_SLOT.c.slot < before.isoformat()))
