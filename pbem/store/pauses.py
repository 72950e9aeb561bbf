"""Pauses of tables, as rows: when all clocks of a table stood still."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from pbem.store.queries import Times, times_of
from pbem.store.schema import PAUSE

_PAUSES = select(PAUSE.c.game_id, PAUSE.c.start_at, PAUSE.c.end_at).where(
    PAUSE.c.game_id.in_(bindparam("these", expanding=True)),
    or_(PAUSE.c.end_at.is_(None), PAUSE.c.end_at > bindparam("since")),
)


def begin(tx: Connection, game_id: int, now: datetime) -> None:
    tx.execute(insert(PAUSE), {"game_id": game_id, "start_at": now})


def end(tx: Connection, game_id: int, now: datetime) -> None:
    tx.execute(update(PAUSE).where(PAUSE.c.game_id == game_id, PAUSE.c.end_at.is_(None)).values(end_at=now))


def since(tx: Connection, game_ids: Collection[int], since: datetime) -> Times:
    """The pauses of these tables that end after this moment, or have not ended."""
    return times_of(tx, _PAUSES, game_ids, since)
