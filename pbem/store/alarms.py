"""What organisers have to hear of, until a mail to them says it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbem.store.schema import Alarm, table_of
from pbem.store.types import Moment

_ALARM = table_of(Alarm)
_UNTOLD = select(_ALARM).where(_ALARM.c.told_at.is_(None)).order_by(_ALARM.c.id)
_OLD_ENOUGH = (
    select(_ALARM.c.id).where(_ALARM.c.told_at.is_(None), _ALARM.c.at <= bindparam("moment", type_=Moment)).limit(1)
)


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """One thing to hear of."""

    id: int
    at: datetime
    what: str
    game_id: int | None
    says: str
    told_at: datetime | None


def add(tx: Connection, at: datetime, what: str, says: str, game_id: int | None) -> None:
    """Something to hear of."""
    tx.execute(insert(_ALARM), {"at": at, "what": what, "says": says, "game_id": game_id})


def any_since_before(tx: Connection, moment: datetime) -> bool:
    """Whether something has waited to be told since then or longer."""
    return tx.execute(_OLD_ENOUGH, {"moment": moment}).first() is not None


def take(tx: Connection, now: datetime) -> list[AlarmRow]:
    """Everything that was not told yet, the first first; from now on it counts as told."""
    rows = [AlarmRow(**row._mapping) for row in tx.execute(_UNTOLD.with_for_update(skip_locked=True))]
    if rows:
        tx.execute(update(_ALARM).where(_ALARM.c.id.in_([row.id for row in rows])).values(told_at=now))
    return rows


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop what was told long ago."""
    tx.execute(delete(_ALARM).where(_ALARM.c.told_at < moment))
