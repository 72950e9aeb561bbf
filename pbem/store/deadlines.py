"""Who is asked what until when, as rows. When a deadline is due is `domain.deadline`'s business."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbem.store.schema import Deadline, table_of

_DEADLINE = table_of(Deadline)
_OPEN = insert(_DEADLINE)
_OF_WINDOW = (
    _DEADLINE.c.game_id == bindparam("of_game"),
    _DEADLINE.c.window == bindparam("of_window"),
)
_CLOSE = update(_DEADLINE).where(*_OF_WINDOW).values(status="closed")
_MARK = update(_DEADLINE).where(*_OF_WINDOW, _DEADLINE.c.seat == bindparam("of_seat")).values(status=bindparam("new"))
_READ = select(_DEADLINE).where(*_OF_WINDOW, _DEADLINE.c.seat == bindparam("of_seat"))


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """What one seat is asked in one window."""

    game_id: int
    window: int
    seat: int
    status: str
    asked_at: datetime
    rendered_at: datetime | None
    accepted_at: datetime | None
    promised_at: datetime | None
    due_at: datetime | None
    remind_at: datetime | None
    reminded: int
    extensions: str
    attempts: int
    claimed_until: datetime | None


def ask(
    tx: Connection,
    game_id: int,
    window: int,
    seats: Iterable[tuple[int, datetime | None]],
    now: datetime,
) -> None:
    """Note that these seats are asked. A moment beside a seat is when its clock runs out; it is not known for people."""
    rows = [
        {
            "game_id": game_id,
            "window": window,
            "seat": seat,
            "status": "open",
            "asked_at": now,
            "due_at": due_at,
            "reminded": 0,
            "extensions": "[]",
            "attempts": 0,
        }
        for seat, due_at in seats
    ]
    if rows:
        tx.execute(_OPEN, rows)


def close_window(tx: Connection, game_id: int, window: int) -> None:
    """Nobody is asked in this window any more."""
    tx.execute(_CLOSE, {"of_game": game_id, "of_window": window})


def close(tx: Connection, game_id: int, window: int, seat: int) -> None:
    """This seat has answered."""
    tx.execute(_MARK, {"of_game": game_id, "of_window": window, "of_seat": seat, "new": "closed"})


def reopen(tx: Connection, game_id: int, window: int, seat: int) -> None:
    """This seat has taken its answer back."""
    tx.execute(_MARK, {"of_game": game_id, "of_window": window, "of_seat": seat, "new": "open"})


def forget_after(tx: Connection, game_id: int, window: int) -> None:
    """Drop the deadlines of later windows, because these have never been."""
    tx.execute(delete(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.window > window))


def read(tx: Connection, game_id: int, window: int, seat: int) -> DeadlineRow | None:
    """The deadline of a seat in a window."""
    row = tx.execute(_READ, {"of_game": game_id, "of_window": window, "of_seat": seat}).one_or_none()
    return None if row is None else DeadlineRow(**_fields(row))


def change(tx: Connection, row: DeadlineRow, **values: Any) -> None:
    """Write what has become known about a deadline."""
    where = (
        _DEADLINE.c.game_id == row.game_id,
        _DEADLINE.c.window == row.window,
        _DEADLINE.c.seat == row.seat,
    )
    tx.execute(update(_DEADLINE).where(*where).values(**values))


def due(tx: Connection, now: datetime, limit: int) -> list[DeadlineRow]:
    """Open deadlines whose moment has come, the oldest first."""
    wanted = select(_DEADLINE).where(_DEADLINE.c.status == "open", _DEADLINE.c.due_at <= now)
    return [DeadlineRow(**_fields(row)) for row in tx.execute(wanted.order_by(_DEADLINE.c.due_at).limit(limit))]


def to_remind(tx: Connection, now: datetime, limit: int) -> list[DeadlineRow]:
    """Open deadlines of which somebody is to be reminded, the oldest first."""
    wanted = select(_DEADLINE).where(_DEADLINE.c.status == "open", _DEADLINE.c.remind_at <= now)
    return [DeadlineRow(**_fields(row)) for row in tx.execute(wanted.order_by(_DEADLINE.c.remind_at).limit(limit))]


def of_game(tx: Connection, game_id: int, status: str = "open") -> list[DeadlineRow]:
    """All deadlines of a game with this status."""
    wanted = select(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.status == status)
    return [DeadlineRow(**_fields(row)) for row in tx.execute(wanted.order_by(_DEADLINE.c.window, _DEADLINE.c.seat))]


def _fields(row: Any) -> dict[str, Any]:
    return dict(row._mapping)
