"""Alarms for the organisers, waiting to be emailed."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from pbem.store import queries
from pbem.store.limits import Period, within
from pbem.store.schema import ALARM, AlarmRow
from pbem.store.types import Moment

_UNSENT = select(ALARM).where(ALARM.c.emailed_at.is_(None)).order_by(ALARM.c.id)
_ANY_UNSENT = (
    select(ALARM.c.id)
    .where(
        ALARM.c.emailed_at.is_(None),
        or_(ALARM.c.at <= bindparam("moment", type_=Moment), ALARM.c.at > bindparam("now", type_=Moment)),
    )
    .limit(1)
)


def add(tx: Connection, at: datetime, what: str, says: str, game_id: int | None, person_id: int | None) -> int:
    """Add an alarm. Returns its id."""
    return queries.add(tx, ALARM, {"at": at, "what": what, "says": says, "game_id": game_id, "person_id": person_id})


def any_unsent_before(tx: Connection, moment: datetime, now: datetime) -> bool:
    """Whether an unsent alarm was raised at this moment or earlier, or in the future by a clock that was set back."""
    return tx.execute(_ANY_UNSENT, {"moment": moment, "now": now}).first() is not None


def newest(tx: Connection, what: str, period: Period) -> AlarmRow | None:
    """The newest alarm of a kind in a period, sent or not."""
    query = select(ALARM).where(ALARM.c.what == what, within(ALARM.c.at, period)).order_by(ALARM.c.id.desc()).limit(1)
    return queries.one(tx, AlarmRow, query)


def take(tx: Connection, now: datetime) -> list[AlarmRow]:
    """All unsent alarms, oldest first, marked as sent."""
    rows = queries.many(tx, AlarmRow, _UNSENT.with_for_update(skip_locked=True))
    if rows:
        tx.execute(update(ALARM).where(ALARM.c.id.in_([row.id for row in rows])).values(emailed_at=now))
    return rows


def texts(tx: Connection, alarm_ids: Collection[int]) -> dict[int, str]:
    """What alarms say, by their ids, as far as they are still stored."""
    query = select(ALARM.c.id, ALARM.c.says).where(ALARM.c.id.in_(alarm_ids))
    return {row.id: row.says for row in tx.execute(query)}


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop alarms that were sent before this moment."""
    tx.execute(delete(ALARM).where(ALARM.c.emailed_at < moment))
