"""Deadlines whose moment has come, as workers claim them: turns of people and bots to end, and reminders to send."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Integer, Select, and_, bindparam, func, or_, select, tuple_, update
from sqlalchemy.sql.dml import ReturningUpdate

from pbem.domain.states import TableStatus
from pbem.store import queries
from pbem.store.deadlines import AT_GAME, AT_SEAT, IS_OPEN, KEY, change
from pbem.store.schema import DEADLINE, GAME, PLAYER, DeadlineRow
from pbem.store.types import Moment, Number

MOST_ATTEMPTS: Final = 10
"""A deadline that failed this often is parked, for an organiser to look at."""

_NOW = bindparam("now", type_=Moment)


def _expired(moment: ColumnElement[Any], *, bots: bool) -> Select[Any]:
    """Keys of open deadlines whose moment has come, at tables where clocks run."""
    who = PLAYER.c.bot.is_not(None) if bots else PLAYER.c.bot.is_(None)
    return (
        select(*KEY)
        .join(GAME, AT_GAME)
        .join(PLAYER, AT_SEAT)
        .where(
            IS_OPEN,
            moment <= _NOW,
            or_(DEADLINE.c.claimed_until.is_(None), DEADLINE.c.claimed_until <= _NOW),
            DEADLINE.c.attempts < MOST_ATTEMPTS,
            GAME.c.status == TableStatus.PLAYING,
            GAME.c.paused.is_(False),
            who,
        )
        .order_by(moment)
        .limit(bindparam("most", type_=Integer))
    )


def _expired_of_bots() -> Select[Any]:
    """The same for bots, which think one after the other: a turn of each host, from the one behind `after`, then a second."""
    expired = _expired(DEADLINE.c.due_at, bots=True)
    of_host = func.row_number().over(partition_by=GAME.c.host_id, order_by=(DEADLINE.c.due_at, *KEY))
    numbered = expired.with_only_columns(*KEY, of_host.label("number")).order_by(None).limit(None).subquery("numbered")
    keys = expired.join(numbered, and_(*(numbered.c[column.name] == column for column in KEY)))
    had_its_turn = GAME.c.host_id <= bindparam("after", type_=Number)
    return keys.order_by(None).order_by(numbered.c.number, had_its_turn, GAME.c.host_id)


def _claim(expired: Select[Any]) -> ReturningUpdate[Any]:
    keys = expired.with_for_update(of=DEADLINE, skip_locked=True).cte("ripe")
    return (
        update(DEADLINE)
        .where(tuple_(*KEY).in_(select(keys)))
        .values(claimed_until=bindparam("until"), attempts=DEADLINE.c.attempts + 1)
        .returning(DEADLINE)
    )


# A worker asks every few seconds whether there is anything to do, so these are built once.
_CLAIM = _claim(_expired(DEADLINE.c.due_at, bots=False))
_CLAIM_OF_BOTS = _claim(_expired_of_bots())
_TO_REMIND = (
    select(DEADLINE)
    .where(tuple_(*KEY).in_(select(_expired(DEADLINE.c.remind_at, bots=False).subquery())))
    .order_by(DEADLINE.c.remind_at)
)


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[DeadlineRow]:
    """Lease expired deadlines of people, counting an attempt. Locked rows are skipped, or moves would deadlock."""
    return _claim_by(tx, _CLAIM, {"now": now, "until": until, "most": limit})


def claim_of_bots(
    tx: Connection, now: datetime, until: datetime, limit: int, after: int = 0
) -> tuple[list[DeadlineRow], int]:
    """The same for bots; each host has their turn, from the one behind `after`. Returns the host to go on behind, too."""
    rows = _claim_by(tx, _CLAIM_OF_BOTS, {"now": now, "until": until, "most": limit, "after": after})
    hosts = tx.execute(select(GAME.c.host_id).where(GAME.c.id.in_({row.game_id for row in rows}))).scalars()
    return rows, max(hosts, key=lambda host: (host <= after, host), default=after)


def _claim_by(tx: Connection, statement: ReturningUpdate[Any], values: dict[str, Any]) -> list[DeadlineRow]:
    rows = queries.many(tx, DeadlineRow, statement, values)
    return sorted(rows, key=lambda row: (row.due_at, row.game_id, row.seat))


def release(tx: Connection, row: DeadlineRow, until: datetime | None = None, attempts: int = 0) -> None:
    """Release a claimed deadline, or put it off until a later moment, with this count of attempts."""
    change(tx, row, claimed_until=until, attempts=attempts)


def parked(tx: Connection) -> list[DeadlineRow]:
    """Deadlines that failed too often and are not tried again."""
    stuck = (IS_OPEN, DEADLINE.c.attempts >= MOST_ATTEMPTS)
    return queries.many(tx, DeadlineRow, select(DEADLINE).where(*stuck).order_by(DEADLINE.c.due_at))


def to_remind(tx: Connection, now: datetime, limit: int) -> list[DeadlineRow]:
    """Deadlines with a reminder due, oldest first."""
    return queries.many(tx, DeadlineRow, _TO_REMIND, {"now": now, "most": limit})
