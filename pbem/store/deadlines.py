"""Deadlines of seats in turns, as rows. `domain.deadline` decides when one is due."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from pbem.domain.states import OfferStatus, TableStatus, TurnStatus
from pbem.store import insiders, prefetch, queries
from pbem.store.guests import IS_DEMO
from pbem.store.players import among, bits
from pbem.store.schema import DEADLINE, GAME, OFFER, PERSON, PLAYER, UNREACHABLE, DeadlineRow, GameRow
from pbem.store.types import Moment, Number

IS_OPEN: Final = DEADLINE.c.status == literal_column("'open'")
"""For queries over all tables. The word is written out because only then the partial indexes are used."""

ANY_SEAT: Final = DEADLINE.c.seat >= literal_column("0")
"""For queries about one turn, so that SQLite looks in the primary key: it guesses that few deadlines are open."""

IS_CHANCE: Final = DEADLINE.c.missed_turn.is_not(None)
"""Whether a turn is a second chance, which is counted with the missed turn before it."""

_CHANCE = DEADLINE.alias("chance")
_OF_CHANCE = and_(
    _CHANCE.c.game_id == DEADLINE.c.game_id,
    _CHANCE.c.seat == DEADLINE.c.seat,
    _CHANCE.c.missed_turn == DEADLINE.c.turn,
    _CHANCE.c.status != TurnStatus.REWOUND,
)

KEY: Final = (DEADLINE.c.game_id, DEADLINE.c.turn, DEADLINE.c.seat)
AT_GAME: Final = GAME.c.id == DEADLINE.c.game_id
AT_SEAT: Final = and_(PLAYER.c.game_id == DEADLINE.c.game_id, PLAYER.c.seat == DEADLINE.c.seat)
# Of one person: not to be found among all open turns.
_OWN_TURN = (
    queries.unindexed(DEADLINE.c.status) == TurnStatus.OPEN,
    queries.unindexed(GAME.c.status) == TableStatus.PLAYING,
)
WEEK: Final = PERSON.c.week + literal_column("'|'") + PERSON.c.zone
"""A person's week with their zone, as a deadline keeps it; NULL without a week, and for a bot."""

# Constants are written into the statement: each value passed as a parameter costs more than the row does.
ASK: Final = insert(DEADLINE).from_select(
    (
        "game_id",
        "turn",
        "seat",
        "status",
        "asked_at",
        "due_at",
        "reminded",
        "extensions",
        "week",
        "attempts",
        "undelivered",
    ),
    select(
        PLAYER.c.game_id,
        bindparam("next_turn", type_=Number),
        PLAYER.c.seat,
        case((among("answered"), literal_column("'closed'")), else_=literal_column("'open'")),
        bindparam("now", type_=Moment),
        # A bot waits for no email, so its clock runs out at once: that is when it plays.
        case((PLAYER.c.bot.is_not(None), bindparam("now", type_=Moment))),
        literal_column("0"),
        literal_column("'[]'"),
        WEEK,
        literal_column("0"),
        literal_column("false"),
    )
    .outerjoin(PERSON, PERSON.c.id == PLAYER.c.person_id)
    .where(PLAYER.c.game_id == bindparam("of_game"), among("asked")),
)
"""Ask seats of a game in the next turn. Seats that have a standing order are closed at once, and asked again only if
their player takes the order back."""
_OF_TURN = (DEADLINE.c.game_id == bindparam("of_game"), DEADLINE.c.turn == bindparam("of_turn"))
# With a parameter for the word, SQLite would compile this each time to see whether the indexes fit.
CLOSE: Final = (
    update(DEADLINE)
    .where(*_OF_TURN, ANY_SEAT, IS_OPEN)
    .values(status=TurnStatus.CLOSED, closed_at=bindparam("now", type_=Moment))
)
"""Close all open deadlines of a turn."""
_SET_STATUS = (
    update(DEADLINE)
    .where(*_OF_TURN, DEADLINE.c.seat == bindparam("of_seat"))
    .values(status=bindparam("new"), closed_at=bindparam("at", type_=Moment))
)
_TOGETHER = (
    select(DEADLINE.c.turn)
    .where(DEADLINE.c.game_id == bindparam("of_game"), DEADLINE.c.turn >= bindparam("of_turn"))
    .group_by(DEADLINE.c.turn)
    .having(func.count() > 1)
    .limit(1)
)
_MOMENTS = ("rendered_at", "accepted_at", "promised_at", "due_at", "remind_at")
_WRITE = (
    update(DEADLINE)
    .where(*_OF_TURN, DEADLINE.c.seat == bindparam("of_seat"))
    .values({name: bindparam(f"new_{name}") for name in _MOMENTS})
)
_READ = select(DEADLINE).where(*_OF_TURN, DEADLINE.c.seat == bindparam("of_seat"))

Key = tuple[int, int, int]
"""Game, turn and seat of a deadline."""


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
    values = {"of_game": game_id, "next_turn": turn, "now": now, "asked": bits(seats), "answered": 0}
    tx.execute(ASK, values)


def close_turn(tx: Connection, game_id: int, turn: int, now: datetime) -> None:
    tx.execute(CLOSE, {"of_game": game_id, "of_turn": turn, "now": now})


def set_status(tx: Connection, game_id: int, turn: int, seat: int, status: TurnStatus, now: datetime) -> None:
    """Close, reopen or mark as missed the deadline of one seat."""
    at = None if status is TurnStatus.OPEN else now
    tx.execute(_SET_STATUS, {"of_game": game_id, "of_turn": turn, "of_seat": seat, "new": status, "at": at})


def rewind(tx: Connection, game_id: int, turn: int) -> None:
    """Void the deadlines of this turn and all later ones; with a second chance the missed turn before it."""
    since = or_(DEADLINE.c.turn >= turn, exists().where(_OF_CHANCE, _CHANCE.c.turn >= turn))
    tx.execute(update(DEADLINE).where(DEADLINE.c.game_id == game_id, since).values(status=TurnStatus.REWOUND))


def forget_after(tx: Connection, game_id: int, turn: int) -> None:
    """Delete the deadlines of later turns, because those never happened."""
    tx.execute(delete(DEADLINE).where(DEADLINE.c.game_id == game_id, DEADLINE.c.turn > turn))


def read(tx: Connection, game_id: int, turn: int, seat: int) -> DeadlineRow | None:
    values = {"of_game": game_id, "of_turn": turn, "of_seat": seat}
    return prefetch.get_or_read(
        tx, ("deadline", game_id, turn, seat), lambda: queries.one(tx, DeadlineRow, _READ, values)
    )


def count_missed(tx: Connection, game_id: int, seat: int, before: int | None = None) -> int:
    """The number of turns of a game that a seat has missed, and that still count; with `before`, of those before that turn."""
    missed = (DEADLINE.c.game_id == game_id, DEADLINE.c.seat == seat, DEADLINE.c.status == TurnStatus.MISSED)
    earlier = () if before is None else (DEADLINE.c.turn < before,)
    return queries.count(tx, DEADLINE, *missed, ~IS_CHANCE, *earlier)


def of_seat(tx: Connection, game_id: int, seat: int) -> list[DeadlineRow]:
    """The deadlines of a seat in all turns, the first turn first."""
    query = select(DEADLINE).where(DEADLINE.c.game_id == game_id, DEADLINE.c.seat == seat)
    return queries.many(tx, DeadlineRow, query.order_by(DEADLINE.c.turn))


def of_seats(tx: Connection, seats: Collection[tuple[int, int]]) -> list[DeadlineRow]:
    """The deadlines of these seats, each a game and a seat, in all turns that count, the first turn first."""
    seat = tuple_(DEADLINE.c.game_id, DEADLINE.c.seat)
    query = select(DEADLINE).where(seat.in_(seats), DEADLINE.c.status != TurnStatus.REWOUND)
    return queries.many(tx, DeadlineRow, query.order_by(*KEY))


def read_ahead(tx: Connection, keys: Collection[Key]) -> None:
    rows = read_all(tx, keys)
    for key in keys:
        prefetch.put(tx, ("deadline", *key), rows.get(key))


def read_all(tx: Connection, keys: Collection[Key]) -> dict[Key, DeadlineRow]:
    rows = queries.many(tx, DeadlineRow, select(DEADLINE).where(tuple_(*KEY).in_(keys))) if keys else ()
    return {(row.game_id, row.turn, row.seat): row for row in rows}


def asked_together(tx: Connection, game_id: int, turn: int) -> bool:
    """Whether several seats were asked at the same time in this turn or a later one."""
    return tx.execute(_TOGETHER, {"of_game": game_id, "of_turn": turn}).first() is not None


def write_all(tx: Connection, rows: Iterable[DeadlineRow]) -> None:
    values = [
        {"of_game": row.game_id, "of_turn": row.turn, "of_seat": row.seat}
        | {f"new_{name}": getattr(row, name) for name in _MOMENTS}
        for row in rows
    ]
    if values:
        tx.execute(_WRITE, values)


def change(tx: Connection, row: DeadlineRow, **values: Any) -> None:
    where = (DEADLINE.c.game_id == row.game_id, DEADLINE.c.turn == row.turn, DEADLINE.c.seat == row.seat)
    tx.execute(update(DEADLINE).where(*where).values(**values))


def missed_between(
    tx: Connection, start: datetime, end: datetime, limit: int, *, reader: int | None = None
) -> list[MissedTurnRow]:
    """Turns of running games that were due in this span, were missed and still count, earliest first.

    Of a turn and its second chance the latter, if that was missed too. Without those of tables where the reader, if given, sits
    or sat: who has missed a turn may be secret as long as it is open.
    """
    columns = (DEADLINE.c.game_id, GAME.c.title, DEADLINE.c.turn, DEADLINE.c.seat, DEADLINE.c.due_at)
    missed = (
        DEADLINE.c.status == TurnStatus.MISSED,
        DEADLINE.c.due_at >= start,
        DEADLINE.c.due_at <= end,
        ~exists().where(_OF_CHANCE),
    )
    query = select(*columns).join(GAME, AT_GAME).where(*missed, GAME.c.status == TableStatus.PLAYING)
    if reader is not None:
        query = query.where(GAME.c.id.not_in(insiders.tables_of(reader)))
    ordered = query.order_by(DEADLINE.c.due_at, DEADLINE.c.game_id, DEADLINE.c.seat).limit(limit)
    return queries.many(tx, MissedTurnRow, ordered)


def note_undelivered(tx: Connection, game_id: int, turn: int, seat: int) -> None:
    """Note that the email about a seat's turn came back."""
    this = (DEADLINE.c.game_id == game_id, DEADLINE.c.turn == turn, DEADLINE.c.seat == seat)
    tx.execute(update(DEADLINE).where(*this).values(undelivered=True))


def of_game(tx: Connection, game_id: int, status: TurnStatus = TurnStatus.OPEN) -> list[DeadlineRow]:
    query = select(DEADLINE).where(DEADLINE.c.game_id == game_id, DEADLINE.c.status == status)
    return queries.many(tx, DeadlineRow, query.order_by(DEADLINE.c.turn, DEADLINE.c.seat))


def of_turn(tx: Connection, game: GameRow) -> list[DeadlineRow]:
    """The deadlines of a game's open turn, with those of seats that have answered already."""
    query = select(DEADLINE).where(DEADLINE.c.game_id == game.id, DEADLINE.c.turn == game.turn)
    return queries.many(tx, DeadlineRow, query.where(DEADLINE.c.status != TurnStatus.REWOUND).order_by(DEADLINE.c.seat))


def of_person(tx: Connection, person_id: int) -> list[DeadlineRow]:
    """The open deadlines of a person, at all running tables."""
    own_seat = and_(AT_SEAT, PLAYER.c.person_id == person_id)
    query = select(DEADLINE).join(PLAYER, own_seat).join(GAME, AT_GAME)
    return queries.many(tx, DeadlineRow, query.where(*_OWN_TURN).order_by(*KEY))


@dataclass(frozen=True, slots=True)
class NextTurn:
    """A seat that has to decide until `due_at`, which is None while its clock doesn't run, and the title of its table."""

    game_id: int
    seat: int
    title: str
    due_at: datetime | None


def next_of(tx: Connection, person_id: int, but: int | None = None) -> NextTurn | None:
    """The most urgent open turn of a person at a running table other than `but`, or None."""
    own_seat = and_(AT_SEAT, PLAYER.c.person_id == person_id)
    columns = (DEADLINE.c.game_id, DEADLINE.c.seat, GAME.c.title, DEADLINE.c.due_at)
    query = select(*columns).join(PLAYER, own_seat).join(GAME, AT_GAME)
    urgent = query.where(*_OWN_TURN, GAME.c.paused.is_(False), DEADLINE.c.game_id.is_distinct_from(but))
    urgent = urgent.order_by(DEADLINE.c.due_at.is_(None), DEADLINE.c.due_at)
    return queries.one(tx, NextTurn, urgent.limit(1))


def of_failing(tx: Connection, before: datetime, after: tuple[int, int], limit: int) -> list[DeadlineRow]:
    """Current turns of people whose email fails, at tables where clocks run, by game and seat after these.

    Open turns without a deadline, and after failing since before a moment those of all seats that are not on offer.
    """
    failing = and_(UNREACHABLE.c.person_id == PLAYER.c.person_id, UNREACHABLE.c.end_at.is_(None))
    query = select(DEADLINE).join(GAME, AT_GAME).join(PLAYER, AT_SEAT).join(UNREACHABLE, failing)
    running = (GAME.c.status == TableStatus.PLAYING, GAME.c.paused.is_(False), DEADLINE.c.turn == GAME.c.turn)
    on_offer = exists().where(
        OFFER.c.game_id == DEADLINE.c.game_id, OFFER.c.seat == DEADLINE.c.seat, OFFER.c.status == OfferStatus.OPEN
    )
    stopped = and_(IS_OPEN, DEADLINE.c.due_at.is_(None))
    for_long = and_(UNREACHABLE.c.start_at <= before, ~on_offer)
    order = (DEADLINE.c.game_id, DEADLINE.c.seat)
    query = query.where(*running, tuple_(*order) > after, or_(stopped, for_long))
    return queries.many(tx, DeadlineRow, query.order_by(*order).limit(limit))


def of_games(tx: Connection, game_ids: Collection[int]) -> list[DeadlineRow]:
    query = select(DEADLINE).where(DEADLINE.c.game_id.in_(game_ids), DEADLINE.c.status == TurnStatus.OPEN)
    return queries.many(tx, DeadlineRow, query.order_by(*KEY))


def running_since(tx: Connection, before: datetime, after_game: int, limit: int, *, demo: bool = True) -> list[int]:
    """Games with higher ids in which a clock has run since before this moment, by id.

    Demo tables are left out with `demo=False`.
    """
    running = exists().where(AT_GAME, DEADLINE.c.status == TurnStatus.OPEN, DEADLINE.c.accepted_at < before)
    query = select(GAME.c.id).where(GAME.c.id > after_game, GAME.c.status == TableStatus.PLAYING, running)
    if not demo:
        query = query.where(~IS_DEMO)
    return list(tx.execute(query.order_by(GAME.c.id).limit(limit)).scalars())
