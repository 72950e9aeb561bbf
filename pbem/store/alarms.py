"""Alarms for the organisers, waiting to be emailed."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbem.store.schema import Alarm, table_of
from pbem.store.types import Moment

_ALARM = table_of(Alarm)
_UNSENT = select(_ALARM).where(_ALARM.c.emailed_at.is_(None)).order_by(_ALARM.c.id)
_ANY_UNSENT = (
    select(_ALARM.c.id).where(_ALARM.c.emailed_at.is_(None), _ALARM.c.at <= bindparam("moment", type_=Moment)).limit(1)
)


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm; `emailed_at` is when an email with it was queued."""

    id: int
    at: datetime
    what: str
    game_id: int | None
    says: str
    emailed_at: datetime | None


def add(tx: Connection, at: datetime, what: str, says: str, game_id: int | None) -> None:
    """Add an alarm."""
    tx.execute(insert(_ALARM), {"at": at, "what": what, "says": says, "game_id": game_id})


def any_unsent_before(tx: Connection, moment: datetime) -> bool:
    """Whether an unsent alarm was raised at this moment or earlier."""
    return tx.execute(_ANY_UNSENT, {"moment": moment}).first() is not None


def take(tx: Connection, now: datetime) -> list[AlarmRow]:
    """All unsent alarms, oldest first, marked as sent."""
    rows = [AlarmRow(**row._mapping) for row in tx.execute(_UNSENT.with_for_update(skip_locked=True))]
    if rows:
        tx.execute(update(_ALARM).where(_ALARM.c.id.in_([row.id for row in rows])).values(emailed_at=now))
    return rows


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop alarms that were sent before this moment."""
    tx.execute(delete(_ALARM).where(_ALARM.c.emailed_at < moment))
