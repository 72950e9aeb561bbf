"""Lists of tables for the desk, a page at a time: urgent ones, those in trouble, search results.

Every list is read from an index, starting where the last page ended, so that a page costs the same with a hundred
tables or a hundred thousand; and counts stop early. No state, box, order or secret of a game is read.

A list or count can tell who has answered at a table. So the tables where its `reader` sits or sat, an organiser who plays,
are in no count, and in no list that is ordered or chosen by what needs help.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    distinct,
    func,
    literal,
    or_,
    select,
    tuple_,
    union,
    union_all,
)

from pbem.domain.states import CallStatus, EmailStatus, TableStatus, TurnStatus
from pbem.store import insiders, queries, received
from pbem.store.deadlines import IS_OPEN
from pbem.store.schema import CALL, DEADLINE, FLAW, GAME, OUTBOX, PAUSE, PLAYER, UNREACHABLE

COUNTED: Final = 200
"""Counts stop here: no page needs an exact number above it."""

TROUBLES: Final = ("overdue", "unreachable", "parked", "paused", "frozen", "flawed")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table in a list, with nothing its players would hide from each other. `due_at` is the next deadline."""

    id: int
    key: str
    kind: str
    title: str
    status: str
    paused: bool
    seats: int
    turn: int
    created_at: datetime
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many there are of everything, at most COUNTED. `oldest` is when the oldest queued email was due."""

    overdue: int
    unreachable: int
    parked: int
    paused: int
    frozen: int
    flawed: int
    waiting: int
    calls: int
    queued: int
    oldest: datetime | None
    given_up: int
    unread: int


_COLUMNS = tuple(GAME.c[field.name] for field in fields(TableRow) if field.name != "due_at")
_PLAYING = GAME.c.status == TableStatus.PLAYING
_OPEN = and_(IS_OPEN, DEADLINE.c.due_at.is_not(None))
_ASKED = DEADLINE.join(GAME, GAME.c.id == DEADLINE.c.game_id)
_FAILING = UNREACHABLE.join(PLAYER, PLAYER.c.person_id == UNREACHABLE.c.person_id).join(
    GAME, GAME.c.id == PLAYER.c.game_id
)
_PAUSED = PAUSE.join(GAME, GAME.c.id == PAUSE.c.game_id)


def urgent(
    tx: Connection,
    after: tuple[datetime, int] | None,
    limit: int,
    before: datetime | None = None,
    *,
    reader: int | None = None,
) -> list[TableRow]:
    """Tables by their next deadline; only those whose deadline is before this moment, if one is given."""
    other = DEADLINE.alias()
    sooner = or_(
        other.c.due_at < DEADLINE.c.due_at, and_(other.c.due_at == DEADLINE.c.due_at, other.c.seat < DEADLINE.c.seat)
    )
    # The seat has SQLite look in the primary key, and not through all open deadlines.
    same = and_(
        other.c.game_id == DEADLINE.c.game_id,
        other.c.turn == DEADLINE.c.turn,
        other.c.seat >= 0,
        other.c.status == TurnStatus.OPEN,
    )
    query = select(*_COLUMNS, DEADLINE.c.due_at).select_from(_ASKED).where(_OPEN, _PLAYING)
    query = query.where(*_of_others(reader, GAME.c.id))
    query = query.where(~select(other.c.seat).where(same, sooner).exists())
    if before is not None:
        query = query.where(DEADLINE.c.due_at < before)
    if after is not None:
        # The first condition is implied by the second, but the index needs it.
        query = query.where(DEADLINE.c.due_at >= after[0])
        query = query.where(or_(DEADLINE.c.due_at > after[0], DEADLINE.c.game_id > after[1]))
    return queries.many(tx, TableRow, query.order_by(DEADLINE.c.due_at, DEADLINE.c.game_id).limit(limit))


def newest(
    tx: Connection, status: str, kind: str | None, after: tuple[datetime, int] | None, limit: int
) -> list[TableRow]:
    """Tables with this status, of one game or all, newest first."""
    query = select(*_COLUMNS).where(GAME.c.status == status)
    if kind is not None:
        query = query.where(GAME.c.kind == kind)
    if after is not None:
        query = query.where(GAME.c.created_at <= after[0])
        query = query.where(tuple_(GAME.c.created_at, GAME.c.id) < tuple_(*after))
    return queries.many(tx, TableRow, query.order_by(GAME.c.created_at.desc(), GAME.c.id.desc()).limit(limit))


def in_trouble(
    tx: Connection, trouble: str, below: int | None, limit: int, *, reader: int | None = None
) -> list[TableRow]:
    """Tables with one kind of trouble, highest id first. Overdue tables are in `urgent`."""
    numbers = _ids_in_trouble(trouble, reader)
    column = numbers.subquery().c.game_id
    query = select(column).distinct().order_by(column.desc()).limit(limit)
    if below is not None:
        query = query.where(column < below)
    return with_numbers(tx, list(tx.execute(query).scalars()))


def of_person(tx: Connection, person_id: int, below: int | None, limit: int) -> list[TableRow]:
    """Tables a person plays at or hosts, highest id first."""
    played = select(PLAYER.c.game_id).where(PLAYER.c.person_id == person_id)
    hosted = select(GAME.c.id).where(GAME.c.host_id == person_id)
    query = select(*_COLUMNS).where(GAME.c.id.in_(union(played, hosted)))
    if below is not None:
        query = query.where(GAME.c.id < below)
    return queries.many(tx, TableRow, query.order_by(GAME.c.id.desc()).limit(limit))


def by_key(tx: Connection, key: str) -> list[TableRow]:
    """The table with this key, as a list of at most one."""
    return queries.many(tx, TableRow, select(*_COLUMNS).where(GAME.c.key == key))


def with_numbers(tx: Connection, game_ids: Collection[int]) -> list[TableRow]:
    """These tables, highest id first."""
    return queries.many(tx, TableRow, select(*_COLUMNS).where(GAME.c.id.in_(game_ids)).order_by(GAME.c.id.desc()))


def next_due(tx: Connection, tables: Iterable[TableRow], *, reader: int | None = None) -> dict[int, datetime]:
    """The next deadline of each of these tables, as far as the reader may know it."""
    turns = [(row.id, row.turn) for row in tables if row.status == TableStatus.PLAYING]
    # The status is tested after the search: as a condition it would lead SQLite through all open deadlines.
    soonest = func.min(case((DEADLINE.c.status == TurnStatus.OPEN, DEADLINE.c.due_at)))
    query = select(DEADLINE.c.game_id, soonest).where(tuple_(DEADLINE.c.game_id, DEADLINE.c.turn).in_(turns))
    rows = tx.execute(query.where(*_of_others(reader, DEADLINE.c.game_id)).group_by(DEADLINE.c.game_id))
    return {game_id: due_at for game_id, due_at in rows if due_at is not None}


def troubles_of(tx: Connection, tables: Iterable[TableRow], *, reader: int | None = None) -> dict[int, set[str]]:
    """What is wrong at each of these tables, beyond what their own rows show, as far as the reader may know it."""
    rows = list(tables)
    listed, playing = [row.id for row in rows], [row.id for row in rows if row.status == TableStatus.PLAYING]
    # A count and not EXISTS, which PostgreSQL would turn into a join over all players.
    failing = select(func.count()).select_from(UNREACHABLE)
    fails = failing.where(UNREACHABLE.c.person_id == PLAYER.c.person_id, UNREACHABLE.c.end_at.is_(None))
    parts = {
        "unreachable": select(PLAYER.c.game_id).where(PLAYER.c.game_id.in_(playing), fails.scalar_subquery() > 0),
        "parked": select(OUTBOX.c.game_id).where(OUTBOX.c.game_id.in_(listed), OUTBOX.c.status == EmailStatus.PARKED),
        "flawed": select(FLAW.c.game_id).where(FLAW.c.game_id.in_(listed)),
    }
    named = [
        part.where(*_of_others(reader, part.selected_columns[0]))
        .add_columns(literal(trouble).label("trouble"))
        .distinct()
        for trouble, part in parts.items()
    ]
    troubles: dict[int, set[str]] = {}
    for game_id, trouble in tx.execute(union_all(*named)):
        troubles.setdefault(game_id, set()).add(trouble)
    return troubles


def counts(tx: Connection, now: datetime, late: datetime, *, reader: int | None = None) -> Counts:
    """How many there are of everything, in one statement. Deadlines before `late` are overdue."""
    others = _emails_of_others(reader)
    queued = and_(OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.due_at <= now, OUTBOX.c.channel_id == 0, *others)
    given_up = and_(OUTBOX.c.status == EmailStatus.PARKED, *others)
    unread = received.parked_of_others(reader)
    overdue = select(DEADLINE.c.game_id).select_from(_ASKED).where(_OPEN, DEADLINE.c.due_at < late, _PLAYING)
    overdue = overdue.where(*_of_others(reader, DEADLINE.c.game_id))
    # In the order of an index, because with many overdue rows PostgreSQL would scan the whole table.
    overdue = overdue.order_by(DEADLINE.c.due_at)
    parts: dict[str, Any] = {
        "overdue": _count_up_to_limit(overdue),
        **{
            trouble: _count_up_to_limit(_ids_in_trouble(trouble, reader))
            for trouble in TROUBLES
            if trouble != "overdue"
        },
        "waiting": _count_up_to_limit(select(GAME.c.id).where(GAME.c.status == TableStatus.OPEN)),
        "calls": _count_up_to_limit(select(CALL.c.id).where(CALL.c.status == CallStatus.OPEN)),
        "queued": _count_up_to_limit(select(OUTBOX.c.id).where(queued)),
        "oldest": select(func.min(OUTBOX.c.due_at)).where(queued).scalar_subquery(),
        "given_up": _count_up_to_limit(select(OUTBOX.c.id).where(given_up)),
        "unread": _count_up_to_limit(unread),
    }
    row = tx.execute(select(*(part.label(name) for name, part in parts.items()))).one()
    return Counts(**row._mapping)


def count_playing(tx: Connection) -> int:
    """The number of running tables. It counts them all, so it is for workers and not for pages."""
    return queries.count(tx, GAME, _PLAYING)


def _ids_in_trouble(trouble: str, reader: int | None) -> Select[Any]:
    """The ids of tables with one kind of trouble, some more than once."""
    numbers = _ids_with(trouble)
    return numbers.where(*_of_others(reader, numbers.selected_columns[0]))


def _ids_with(trouble: str) -> Select[Any]:
    match trouble:
        case "unreachable":
            return select(PLAYER.c.game_id).select_from(_FAILING).where(UNREACHABLE.c.end_at.is_(None), _PLAYING)
        case "parked":
            stuck = (OUTBOX.c.status == EmailStatus.PARKED, OUTBOX.c.game_id.is_not(None))
            return select(OUTBOX.c.game_id).where(*stuck)
        case "paused":
            return select(PAUSE.c.game_id).select_from(_PAUSED).where(PAUSE.c.end_at.is_(None), _PLAYING)
        case "frozen":
            return select(GAME.c.id.label("game_id")).where(GAME.c.status == TableStatus.FROZEN)
        case "flawed":
            return select(FLAW.c.game_id)
    raise ValueError(trouble)


def _of_others(reader: int | None, game_id: ColumnElement[Any]) -> tuple[ColumnElement[bool], ...]:
    """A condition for tables where a reader neither sits nor sat."""
    return () if reader is None else (game_id.not_in(insiders.tables_of(reader)),)


def _emails_of_others(reader: int | None) -> tuple[ColumnElement[bool], ...]:
    """A condition for emails about none of these tables."""
    return tuple(or_(OUTBOX.c.game_id.is_(None), each) for each in _of_others(reader, OUTBOX.c.game_id))


def _count_up_to_limit(numbers: Select[Any]) -> ColumnElement[int]:
    """The number of different ids among the first COUNTED."""
    some = numbers.limit(COUNTED).subquery()
    return select(func.count(distinct(some.c[0]))).scalar_subquery()
