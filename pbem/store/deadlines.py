"""Who is asked what until when, as rows. When a deadline is due is `domain.deadline`'s business."""

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

from pbem.store import prefetch
from pbem.store.guests import OF_THE_DEMO
from pbem.store.players import among, bits
from pbem.store.schema import Deadline, Game, Place, table_of
from pbem.store.types import Moment, Number

MOST_ATTEMPTS: Final = 10
"""A deadline that was acted on so often in vain is parked, for somebody to look at."""

_DEADLINE, _GAME, _PLACE = table_of(Deadline), table_of(Game), table_of(Place)
IS_OPEN: Final = _DEADLINE.c.status == literal_column("'open'")
"""For whoever looks for open ones at all tables: written out, because the indexes of open ones are used for this alone."""

_KEY = (_DEADLINE.c.game_id, _DEADLINE.c.turn, _DEADLINE.c.seat)
_AT_GAME = _GAME.c.id == _DEADLINE.c.game_id
_AT_SEAT = and_(_PLACE.c.game_id == _DEADLINE.c.game_id, _PLACE.c.seat == _DEADLINE.c.seat)
# What is the same for every new row is written into the statement: each value handed over costs more than the row does.
ASK: Final = insert(_DEADLINE).from_select(
    ("game_id", "turn", "seat", "status", "asked_at", "due_at", "reminded", "extensions", "attempts"),
    select(
        _PLACE.c.game_id,
        bindparam("next_turn", type_=Number),
        _PLACE.c.seat,
        case((among("answered"), literal_column("'closed'")), else_=literal_column("'open'")),
        bindparam("now", type_=Moment),
        # A bot has no mail to wait for, so its clock runs out at once: that is when it plays.
        case((_PLACE.c.bot.is_not(None), bindparam("now", type_=Moment))),
        literal_column("0"),
        literal_column("'[]'"),
        literal_column("0"),
    ).where(_PLACE.c.game_id == bindparam("of_game"), among("asked")),
)
"""Seats of a game are asked in the turn that opens. Those that have answered already, by an order, are asked again only
if their owner takes that back."""
_OF_TURN = (
    _DEADLINE.c.game_id == bindparam("of_game"),
    _DEADLINE.c.turn == bindparam("of_turn"),
)
# With a parameter in the place of the word, SQLite would compile this anew each time, to see whether those indexes fit.
CLOSE: Final = update(_DEADLINE).where(*_OF_TURN, IS_OPEN).values(status="closed")
"""Nobody is asked in a turn of a game any more."""
_MARK = update(_DEADLINE).where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat")).values(status=bindparam("new"))
_MOMENTS = ("rendered_at", "accepted_at", "promised_at", "due_at", "remind_at")
_WRITE = (
    update(_DEADLINE)
    .where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat"))
    .values({name: bindparam(f"new_{name}") for name in _MOMENTS})
)
_READ = select(_DEADLINE).where(*_OF_TURN, _DEADLINE.c.seat == bindparam("of_seat"))

_NOW = bindparam("now", type_=Moment)


def _ripe(moment: ColumnElement[Any], *, bots: bool) -> Select[Any]:
    """The keys of open deadlines of which a moment has come, at tables where time passes."""
    free = or_(_DEADLINE.c.claimed_until.is_(None), _DEADLINE.c.claimed_until <= _NOW)
    who = _PLACE.c.bot.is_not(None) if bots else _PLACE.c.bot.is_(None)
    return (
        select(*_KEY)
        .join(_GAME, _AT_GAME)
        .join(_PLACE, _AT_SEAT)
        .where(
            IS_OPEN,
            moment <= _NOW,
            free,
            _DEADLINE.c.attempts < MOST_ATTEMPTS,
            _GAME.c.status == "playing",
            _GAME.c.paused.is_(False),
            who,
        )
        .order_by(moment)
        .limit(bindparam("most", type_=Integer))
    )


def _claim(*, bots: bool) -> ReturningUpdate[Any]:
    keys = _ripe(_DEADLINE.c.due_at, bots=bots).with_for_update(of=_DEADLINE, skip_locked=True).cte("ripe")
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
    .where(tuple_(*_KEY).in_(select(_ripe(_DEADLINE.c.remind_at, bots=False).subquery())))
    .order_by(_DEADLINE.c.remind_at)
)


Key = tuple[int, int, int]
"""The game, the turn and the seat that a deadline is of."""


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """What one seat is asked in one turn."""

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


def ask(tx: Connection, game_id: int, turn: int, seats: Collection[int], now: datetime) -> None:
    """Note that these seats are asked. The clock of a bot runs out at once, that of a person is started by their mail."""
    seated = {"asked": bits(seats), "answered": 0}
    tx.execute(ASK, {"of_game": game_id, "next_turn": turn, "now": now} | seated)


def close_turn(tx: Connection, game_id: int, turn: int) -> None:
    """Nobody is asked in this turn any more."""
    tx.execute(CLOSE, {"of_game": game_id, "of_turn": turn})


def close(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """This seat has answered."""
    tx.execute(_MARK, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "closed"})


def passed_in_silence(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """The clock has answered for this seat."""
    tx.execute(_MARK, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "silent"})


def rewind(tx: Connection, game_id: int, turn: int) -> None:
    """What was asked in this turn and in later ones no longer stands, whoever has answered it."""
    gone = update(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.turn >= turn)
    tx.execute(gone.values(status="rewound"))


def reopen(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """This seat has taken its answer back."""
    tx.execute(_MARK, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": "open"})


def forget_after(tx: Connection, game_id: int, turn: int) -> None:
    """Drop the deadlines of later turns, because these have never been."""
    tx.execute(delete(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.turn > turn))


def read(tx: Connection, game_id: int, turn: int, seat: int) -> DeadlineRow | None:
    """The deadline of a seat in a turn."""
    return prefetch.one(tx, ("deadline", game_id, turn, seat), lambda: _read(tx, game_id, turn, seat))


def read_ahead(tx: Connection, keys: Collection[Key]) -> None:
    """Read these deadlines ahead."""
    found = read_all(tx, keys)
    for key in keys:
        prefetch.put(tx, ("deadline", *key), found.get(key))


def read_all(tx: Connection, keys: Collection[Key]) -> dict[Key, DeadlineRow]:
    """These deadlines, each by its game, turn and seat."""
    found = tx.execute(select(_DEADLINE).where(tuple_(*_KEY).in_(keys))) if keys else ()
    return {(row.game_id, row.turn, row.seat): _row(row) for row in found}


def write_all(tx: Connection, rows: Iterable[DeadlineRow]) -> None:
    """Write the moments of these deadlines."""
    told = [
        {"of_game": row.game_id, "of_turn": row.turn, "of_seat": row.seat}
        | {f"new_{name}": getattr(row, name) for name in _MOMENTS}
        for row in rows
    ]
    if told:
        tx.execute(_WRITE, told)


def change(tx: Connection, row: DeadlineRow, **values: Any) -> None:
    """Write what has become known about a deadline."""
    where = (
        _DEADLINE.c.game_id == row.game_id,
        _DEADLINE.c.turn == row.turn,
        _DEADLINE.c.seat == row.seat,
    )
    tx.execute(update(_DEADLINE).where(*where).values(**values))


def claim(tx: Connection, now: datetime, until: datetime, limit: int, *, bots: bool) -> list[DeadlineRow]:
    """Lease deadlines that have run out, of people or of bots' seats, the oldest first; each claim counts as an attempt.

    It never waits for a row that somebody else is at: whoever moves has locked a game first, and would wait for us.
    """
    rows = (_row(row) for row in tx.execute(_CLAIM[bots], {"now": now, "until": until, "most": limit}))
    return sorted(rows, key=lambda row: (row.due_at, row.game_id, row.seat))


def release(tx: Connection, row: DeadlineRow, until: datetime | None = None, attempts: int = 0) -> None:
    """Give a claimed deadline back, or push it to a later moment, with as many attempts as shall count."""
    change(tx, row, claimed_until=until, attempts=attempts)


def parked(tx: Connection) -> list[DeadlineRow]:
    """Deadlines that nobody tries any more, because it failed too often."""
    stuck = (IS_OPEN, _DEADLINE.c.attempts >= MOST_ATTEMPTS)
    return [_row(row) for row in tx.execute(select(_DEADLINE).where(*stuck).order_by(_DEADLINE.c.due_at))]


def unpark(tx: Connection, row: DeadlineRow) -> None:
    """Try a parked deadline again, because somebody has looked at it."""
    release(tx, row)


def to_remind(tx: Connection, now: datetime, limit: int) -> list[DeadlineRow]:
    """Deadlines of which somebody is to be reminded, the oldest first."""
    return [_row(row) for row in tx.execute(_TO_REMIND, {"now": now, "most": limit})]


def of_game(tx: Connection, game_id: int, status: str = "open") -> list[DeadlineRow]:
    """All deadlines of a game with this status."""
    wanted = select(_DEADLINE).where(_DEADLINE.c.game_id == game_id, _DEADLINE.c.status == status)
    return [_row(row) for row in tx.execute(wanted.order_by(_DEADLINE.c.turn, _DEADLINE.c.seat))]


def of_person(tx: Connection, person_id: int) -> list[DeadlineRow]:
    """What a person is asked at all tables that are being played."""
    mine = and_(_AT_SEAT, _PLACE.c.person_id == person_id)
    wanted = select(_DEADLINE).join(_PLACE, mine).join(_GAME, _AT_GAME)
    going_on = (_DEADLINE.c.status == "open", _GAME.c.status == "playing")
    return [_row(row) for row in tx.execute(wanted.where(*going_on).order_by(*_KEY))]


def of_games(tx: Connection, game_ids: Collection[int]) -> list[DeadlineRow]:
    """All open deadlines of these games."""
    wanted = select(_DEADLINE).where(_DEADLINE.c.game_id.in_(game_ids), _DEADLINE.c.status == "open")
    return [_row(row) for row in tx.execute(wanted.order_by(*_KEY))]


def running_since(tx: Connection, before: datetime, after_game: int, limit: int, *, demo: bool = True) -> list[int]:
    """Games after this one in which a clock runs that was started before a moment, in the order of their numbers.

    Those of the demo are nobody's concern, and left out where they would only be counted.
    """
    running = exists().where(_AT_GAME, _DEADLINE.c.status == "open", _DEADLINE.c.accepted_at < before)
    wanted = select(_GAME.c.id).where(_GAME.c.id > after_game, _GAME.c.status == "playing", running)
    if not demo:
        wanted = wanted.where(~OF_THE_DEMO)
    return list(tx.execute(wanted.order_by(_GAME.c.id).limit(limit)).scalars())


def _row(row: Row[Any]) -> DeadlineRow:
    return DeadlineRow(**row._mapping)


def _read(tx: Connection, game_id: int, turn: int, seat: int) -> DeadlineRow | None:
    row = tx.execute(_READ, {"of_game": game_id, "of_turn": turn, "of_seat": seat}).one_or_none()
    return None if row is None else _row(row)
