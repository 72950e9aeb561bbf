"""Deadlines of seats in turns, as rows. `domain.deadline` decides when one is due."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from pbem.domain.states import TableStatus, TurnStatus
from pbem.store import prefetch
from pbem.store.guests import IS_DEMO
from pbem.store.players import among, bits
from pbem.store.schema import Deadline, Game, Player, table_of
from pbem.store.types import Moment, Number

MOST_ATTEMPTS: Final = 10
"""A deadline that failed this often is parked, for an organiser to look at."""

_DEADLINE, _GAME, _PLAYER = table_of(Deadline), table_of(Game), table_of(Player)
IS_OPEN: Final = _DEADLINE.c.status == literal_column("'open'")
"""For queries over all tables. The word is written out because only then the partial indexes are used."""

_KEY = (_DEADLINE.c.game_id, _DEADLINE.c.turn, _DEADLINE.c.seat)
_AT_GAME = _GAME.c.id == _DEADLINE.c.game_id
_AT_SEAT = and_(_PLAYER.c.game_id == _DEADLINE.c.game_id, _PLAYER.c.seat == _DEADLINE.c.seat)
# Constants are written into the statement: each value passed as a parameter costs more than the row does.
ASK: Final = insert(_DEADLINE).from_select(
    ("game_id", "turn", "seat", "status", "asked_at", "due_at", "reminded", "extensions", "attempts"),
    select(
        _PLAYER.c.game_id,
        bindparam("next_turn", type_=Number),
        _PLAYER.c.seat,
        case((among("answered"), literal_column("'closed'")), else_=literal_column("'open'")),
        bindparam("now", type_=Moment),
        # A bot waits for no email, so its clock runs out at once: that is when it plays.
        case((_PLAYER.c.bot.is_not(None), bindparam("now", type_=Moment))),
        literal_column("0"),
        literal_column("'[]'"),
        literal_column("0"),
    ).where(_PLAYER.c.game_id == bindparam("of_game"), among("asked")),
)
"""Ask seats of a game in the next turn. Seats that have a standing order are closed at once, and asked again only if
their player takes the order back."""
_OF_TURN = (_DEADLINE.c.game_id == bindparam("of_game"), _DEADLINE.c.turn == bindparam("of_turn"))
# With a parameter for the word, SQLite would compile this each time to see whether the indexes fit.
CLOSE: Final = update(_DEADLINE).where(*_OF_TURN, IS_OPEN).values(status=TurnStatus.CLOSED)
"""Close all open deadlines of a turn."""
_SET_STATUS = (
    update(_DEADLINE).where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat")).values(status=bindparam("new"))
)
_MOMENTS = ("rendered_at", "accepted_at", "promised_at", "due_at", "remind_at")
_WRITE = (
    update(_DEADLINE)
    .where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat"))
    .values({name: bindparam(f"new_{name}") for name in _MOMENTS})
)
_READ = select(_DEADLINE).where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat"))

_NOW = bindparam("now", type_=Moment)


def _expired(moment: ColumnElement[Any], *, bots: bool) -> Select[Any]:
    """Keys of open deadlines whose moment has come, at tables where clocks run."""
    free = or_(_DEADLINE.c.claimed_until.is_(None), _DEADLINE.c.claimed_until <= _NOW)
    who = _PLAYER.c.bot.is_not(None) if bots else _PLAYER.c.bot.is_(None)
    return (
        select(*_KEY)
        .join(_GAME, _AT_GAME)
        .join(_PLAYER, _AT_SEAT)
        .where(
            IS_OPEN,
            moment <= _NOW,
            free,
            _DEADLINE.c.attempts < MOST_ATTEMPTS,
            _GAME.c.status == TableStatus.PLAYING,
            _GAME.c.paused.is_(False),
            who,
        )
        .order_by(moment)
        .limit(bindparam("most", type_=Integer))
    )


def _claim(*, bots: bool) -> ReturningUpdate[Any]:
    keys = _expired(_DEADLINE.c.due_at, bots=bots).with_for_update(of=_DEADLINE, skip_locked=True).cte("ripe")
    return (
        update(_DEADLINE)
        .where(tuple_(*_KEY).in_(select(keys)))
        .values(claimed_until=bindparam("until"), attempts=_DEADLINE.c.attempts + 1)
        .returning(_DEADLINE)
    )


# A worker asks every few seconds whether there is anything to do, so these are built once.
_CLAIM = {bots: _claim(bots=bots) for bots in (False, True)}
_TO_REMIND = (
    select(_DEADLINE)
    .where(tuple_(*_KEY).in_(select(_expired(_DEADLINE.c.remind_at, bots=False).subquery())))
    .order_by(_DEADLINE.c.remind_at)
)


Key = tuple[int, int, int]
"""Game, turn and seat of a deadline."""


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """The deadline of one seat in one turn."""

    game_id: int
    turn: int
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


@dataclass(frozen=True, slots=True)
class MissedTurnRow:
    """A turn that a seat missed."""

    game_id: int
    title: str
    turn: int
    seat: int
    due_at: datetime


def ask(tx: Connection, game_id: int, turn: int, seats: Collection[int], now: datetime) -> None:
    """Ask these seats. A bot's clock runs out at once; a person's starts with their email."""
    seated = {"asked": bits(seats), "answered": 0}
    tx.execute(ASK, {"of_game": game_id, "next_turn": turn, "now": now} | seated)


def close_turn(tx: Connection, game_id: int, turn: int) -> None:
    """Close all open deadlines of this turn."""
    tx.execute(CLOSE, {"of_game": game_id, "of_turn": turn})


def close(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """Close a seat's deadline, because the seat has decided."""
    tx.execute(_SET_STATUS, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "closed"})


def mark_missed(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """Mark a seat's deadline as missed."""
    tx.execute(_SET_STATUS, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "missed"})


def rewind(tx: Connection, game_id: int, turn: int) -> None:
    """Void the deadlines of this turn and all later ones."""
    later = update(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.turn >= turn)
    tx.execute(later.values(status="rewound"))


def reopen(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """Open a seat's deadline again, because its decision was undone."""
    tx.execute(_SET_STATUS, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "open"})


def forget_after(tx: Connection, game_id: int, turn: int) -> None:
    """Delete the deadlines of later turns, because those never happened."""
    tx.execute(delete(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.turn > turn))


def read(tx: Connection, game_id: int, turn: int, seat: int) -> DeadlineRow | None:
    """The deadline of a seat in a turn, if there is one."""
    return prefetch.get_or_read(tx, ("deadline", game_id, turn, seat), lambda: _read(tx, game_id, turn, seat))


def read_ahead(tx: Connection, keys: Collection[Key]) -> None:
    """Read these deadlines ahead."""
    found = read_all(tx, keys)
    for key in keys:
        prefetch.put(tx, ("deadline", *key), found.get(key))


def read_all(tx: Connection, keys: Collection[Key]) -> dict[Key, DeadlineRow]:
    """These deadlines, by key."""
    found = tx.execute(select(_DEADLINE).where(tuple_(*_KEY).in_(keys))) if keys else ()
    return {(row.game_id, row.turn, row.seat): _row(row) for row in found}


def write_all(tx: Connection, rows: Iterable[DeadlineRow]) -> None:
    """Write the moments of these deadlines."""
    values = [
        {"of_game": row.game_id, "of_turn": row.turn, "of_seat": row.seat}
        | {f"new_{name}": getattr(row, name) for name in _MOMENTS}
        for row in rows
    ]
    if values:
        tx.execute(_WRITE, values)


def change(tx: Connection, row: DeadlineRow, **values: Any) -> None:
    """Change columns of a deadline."""
    where = (_DEADLINE.c.game_id == row.game_id, _DEADLINE.c.turn == row.turn, _DEADLINE.c.seat == row.seat)
    tx.execute(update(_DEADLINE).where(*where).values(**values))


def claim(tx: Connection, now: datetime, until: datetime, limit: int, *, bots: bool) -> list[DeadlineRow]:
    """Lease expired deadlines of people or of bots, oldest first. Each claim counts as an attempt.

    It skips locked rows: a move locks its game first, and the two would wait for each other.
    """
    rows = (_row(row) for row in tx.execute(_CLAIM[bots], {"now": now, "until": until, "most": limit}))
    return sorted(rows, key=lambda row: (row.due_at, row.game_id, row.seat))


def release(tx: Connection, row: DeadlineRow, until: datetime | None = None, attempts: int = 0) -> None:
    """Release a claimed deadline, or put it off until a later moment, with this count of attempts."""
    change(tx, row, claimed_until=until, attempts=attempts)


def parked(tx: Connection) -> list[DeadlineRow]:
    """Deadlines that failed too often and are not tried again."""
    stuck = (IS_OPEN, _DEADLINE.c.attempts >= MOST_ATTEMPTS)
    return [_row(row) for row in tx.execute(select(_DEADLINE).where(*stuck).order_by(_DEADLINE.c.due_at))]


def unpark(tx: Connection, row: DeadlineRow) -> None:
    """Try a parked deadline again."""
    release(tx, row)


def missed_between(tx: Connection, start: datetime, end: datetime, limit: int) -> list[MissedTurnRow]:
    """Turns of running games that were due in this span, were missed and still count, earliest first."""
    columns = (_DEADLINE.c.game_id, _GAME.c.title, _DEADLINE.c.turn, _DEADLINE.c.seat, _DEADLINE.c.due_at)
    missed = (_DEADLINE.c.status == TurnStatus.MISSED, _DEADLINE.c.due_at >= start, _DEADLINE.c.due_at <= end)
    query = select(*columns).join(_GAME, _AT_GAME).where(*missed, _GAME.c.status == TableStatus.PLAYING)
    ordered = query.order_by(_DEADLINE.c.due_at, _DEADLINE.c.game_id, _DEADLINE.c.seat).limit(limit)
    return [MissedTurnRow(*row) for row in tx.execute(ordered)]


def to_remind(tx: Connection, now: datetime, limit: int) -> list[DeadlineRow]:
    """Deadlines with a reminder due, oldest first."""
    return [_row(row) for row in tx.execute(_TO_REMIND, {"now": now, "most": limit})]


def of_game(tx: Connection, game_id: int, status: str = "open") -> list[DeadlineRow]:
    """All deadlines of a game with this status."""
    query = select(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.status == status)
    return [_row(row) for row in tx.execute(query.order_by(_DEADLINE.c.turn, _DEADLINE.c.seat))]


def of_person(tx: Connection, person_id: int) -> list[DeadlineRow]:
    """The open deadlines of a person, at all running tables."""
    mine = and_(_AT_SEAT, _PLAYER.c.person_id == person_id)
    query = select(_DEADLINE).join(_PLAYER, mine).join(_GAME, _AT_GAME)
    running = (_DEADLINE.c.status == TurnStatus.OPEN, _GAME.c.status == TableStatus.PLAYING)
    return [_row(row) for row in tx.execute(query.where(*running).order_by(*_KEY))]


def of_games(tx: Connection, game_ids: Collection[int]) -> list[DeadlineRow]:
    """All open deadlines of these games."""
    query = select(_DEADLINE).where(_DEADLINE.c.game_id.in_(game_ids), _DEADLINE.c.status == TurnStatus.OPEN)
    return [_row(row) for row in tx.execute(query.order_by(*_KEY))]


def running_since(tx: Connection, before: datetime, after_game: int, limit: int, *, demo: bool = True) -> list[int]:
    """Games with higher ids in which a clock has run since before this moment, by id.

    Demo tables are left out with `demo=False`.
    """
    running = exists().where(_AT_GAME, _DEADLINE.c.status == TurnStatus.OPEN, _DEADLINE.c.accepted_at < before)
    query = select(_GAME.c.id).where(_GAME.c.id > after_game, _GAME.c.status == TableStatus.PLAYING, running)
    if not demo:
        query = query.where(~IS_DEMO)
    return list(tx.execute(query.order_by(_GAME.c.id).limit(limit)).scalars())


def _row(row: Row[Any]) -> DeadlineRow:
    return DeadlineRow(**row._mapping)


def _read(tx: Connection, game_id: int, turn: int, seat: int) -> DeadlineRow | None:
    row = tx.execute(_READ, {"of_game": game_id, "of_turn": turn, "of_seat": seat}).one_or_none()
    return None if row is None else _row(row)
