"""Heartbeats, as rows: which workers there are, and when each was last heard from. Outages are found by them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbem.store.schema import Beat, table_of

_BEAT = table_of(Beat)

# A worker asks these again every few seconds.
_LAST_BEAT = select(func.max(_BEAT.c.beat_at))
_BEAT_OF = select(_BEAT.c.beat_at).where(_BEAT.c.worker == bindparam("of_worker"))
_BEAT_AGAIN = (
    update(_BEAT)
    .where(_BEAT.c.worker == bindparam("of_worker"))
    .values(started_at=bindparam("new_start"), beat_at=bindparam("new_beat"))
)


@dataclass(frozen=True, slots=True)
class BeatRow:
    """A process that works, and when it last said so."""

    worker: str
    started_at: datetime
    beat_at: datetime


def beat(tx: Connection, worker: str, started_at: datetime, now: datetime) -> None:
    """A worker says that it is there. A beat never goes back, so that a clock that was set back shows."""
    known = tx.execute(_BEAT_OF, {"of_worker": worker}).scalar_one_or_none()
    if known is None:
        tx.execute(insert(_BEAT), {"worker": worker, "started_at": started_at, "beat_at": now})
    elif known < now:
        tx.execute(_BEAT_AGAIN, {"of_worker": worker, "new_start": started_at, "new_beat": now})


def last_beat(tx: Connection) -> datetime | None:
    """The newest beat of all workers."""
    return tx.execute(_LAST_BEAT).scalar_one_or_none()


def beats(tx: Connection) -> list[BeatRow]:
    """All workers that have said something, the one that was heard last first."""
    return [BeatRow(**row._mapping) for row in tx.execute(select(_BEAT).order_by(_BEAT.c.beat_at.desc()))]


def forget_beats(tx: Connection, before: datetime) -> None:
    """Drop workers that have long been gone; the newest beat of all stays, because a hole is measured from it."""
    newest = select(func.max(_BEAT.c.beat_at)).scalar_subquery()
    tx.execute(delete(_BEAT).where(_BEAT.c.beat_at < before, _BEAT.c.beat_at < newest))
