"""Heartbeats, as rows: all workers, and when each was last seen. Outages are found by them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbem.store.schema import Beat, table_of

_BEAT = table_of(Beat)

# A worker runs these every few seconds.
_LAST_BEAT = select(func.max(_BEAT.c.beat_at))
_BEAT_OF = select(_BEAT.c.beat_at).where(_BEAT.c.worker == bindparam("of_worker"))
_BEAT_AGAIN = (
    update(_BEAT)
    .where(_BEAT.c.worker == bindparam("of_worker"))
    .values(started_at=bindparam("new_start"), beat_at=bindparam("new_beat"))
)


@dataclass(frozen=True, slots=True)
class BeatRow:
    """A worker process, and when it was last seen."""

    worker: str
    started_at: datetime
    beat_at: datetime


def beat(tx: Connection, worker: str, started_at: datetime, now: datetime) -> None:
    """Record that a worker is running. Its row never goes back in time, so that a clock set back shows."""
    last = tx.execute(_BEAT_OF, {"of_worker": worker}).scalar_one_or_none()
    if last is None:
        tx.execute(insert(_BEAT), {"worker": worker, "started_at": started_at, "beat_at": now})
    elif last < now:
        tx.execute(_BEAT_AGAIN, {"of_worker": worker, "new_start": started_at, "new_beat": now})


def last_beat(tx: Connection) -> datetime | None:
    """The newest beat of all workers; None if there is none."""
    return tx.execute(_LAST_BEAT).scalar_one_or_none()


def beats(tx: Connection) -> list[BeatRow]:
    """All workers, last seen first."""
    return [BeatRow(**row._mapping) for row in tx.execute(select(_BEAT).order_by(_BEAT.c.beat_at.desc()))]


def forget_beats(tx: Connection, before: datetime) -> None:
    """Drop workers not seen since this moment, except the newest beat, from which an outage is measured."""
    newest = select(func.max(_BEAT.c.beat_at)).scalar_subquery()
    tx.execute(delete(_BEAT).where(_BEAT.c.beat_at < before, _BEAT.c.beat_at < newest))
