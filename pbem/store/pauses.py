"""Pauses of tables, as rows: from when to when all clocks of a table stood still."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from pbem.store.intervals import Times, times_of
from pbem.store.schema import Pause, table_of

_PAUSE = table_of(Pause)

_PAUSES = select(_PAUSE.c.game_id, _PAUSE.c.start_at, _PAUSE.c.end_at).where(
    _PAUSE.c.game_id.in_(bindparam("these", expanding=True)),
    or_(_PAUSE.c.end_at.is_(None), _PAUSE.c.end_at > bindparam("since")),
)


def pause(tx: Connection, game_id: int, now: datetime) -> None:
    """All clocks of a table stop."""
    tx.execute(insert(_PAUSE), {"game_id": game_id, "start_at": now})


def end_pause(tx: Connection, game_id: int, now: datetime) -> None:
    """They go on."""
    tx.execute(update(_PAUSE).where(_PAUSE.c.game_id == game_id, _PAUSE.c.end_at.is_(None)).values(end_at=now))


def pauses(tx: Connection, game_ids: Collection[int], since: datetime) -> Times:
    """The pauses of these tables that reach beyond a moment."""
    return times_of(tx, _PAUSES, game_ids, since)
