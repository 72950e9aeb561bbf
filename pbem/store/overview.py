"""Lists of tables for the desk, a page at a time: urgent ones, those in trouble, search results.

Every list is read from an index, starting where the last page ended, so that a page costs the same with a hundred
tables or a hundred thousand; and counts stop early. No state, box, order or secret of a game is read.
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

from pbem.domain.states import CallStatus, EmailStatus, ReceivedStatus, TableStatus, TurnStatus
from pbem.store.deadlines import IS_OPEN
from pbem.store.schema import Call, Deadline, Flaw, Game, Outbox, Pause, Player, Received, Unreachable, table_of

COUNTED: Final = 200
"""Counts stop here: no page needs an exact number above it."""

TROUBLES: Final = ("overdue", "unreachable", "parked", "paused", "frozen", "flawed")

_CALL, _DEADLINE, _FLAW, _GAME = table_of(Call), table_of(Deadline), table_of(Flaw), table_of(Game)
_OUTBOX, _PAUSE, _PLAYER, _RECEIVED = table_of(Outbox), table_of(Pause), table_of(Player), table_of(Received)
_UNREACHABLE = table_of(Unreachable)


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


_COLUMNS = tuple(_GAME.c[field.name] for field in fields(TableRow) if field.name != "due_at")
_PLAYING = _GAME.c.status == TableStatus.PLAYING
_OPEN = and_(IS_OPEN, _DEADLINE.c.due_at.is_not(None))
_ASKED = _DEADLINE.join(_GAME, _GAME.c.id == _DEADLINE.c.game_id)
_FAILING = _UNREACHABLE.join(_PLAYER, _PLAYER.c.person_id == _UNREACHABLE.c.person_id).join(
    _GAME, _GAME.c.id == _PLAYER.c.game_id
)
_PAUSED = _PAUSE.join(_GAME, _GAME.c.id == _PAUSE.c.game_id)


def urgent(
    tx: Connection, after: tuple[datetime, int] | None, limit: int, before: datetime | None = None
) -> list[TableRow]:
    """Tables by their next deadline; only those whose deadline is before this moment, if one is given."""
    other = _DEADLINE.alias()
    sooner = or_(
        other.c.due_at < _DEADLINE.c.due_at, and_(other.c.due_at == _DEADLINE.c.due_at, other.c.seat < _DEADLINE.c.seat)
    )
    same = and_(
        other.c.game_id == _DEADLINE.c.game_id, other.c.turn == _DEADLINE.c.turn, other.c.status == TurnStatus.OPEN
    )
    query = select(*_COLUMNS, _DEADLINE.c.due_at).select_from(_ASKED).where(_OPEN, _PLAYING)
    query = query.where(~select(other.c.seat).where(same, sooner).exists())
    if before is not None:
        query = query.where(_DEADLINE.c.due_at < before)
    if after is not None:
        # The first condition is implied by the second, but the index needs it.
        query = query.where(_DEADLINE.c.due_at >= after[0])
        query = query.where(or_(_DEADLINE.c.due_at > after[0], _DEADLINE.c.game_id > after[1]))
    return _rows(tx, query.order_by(_DEADLINE.c.due_at, _DEADLINE.c.game_id).limit(limit))


def newest(
    tx: Connection, status: str, kind: str | None, after: tuple[datetime, int] | None, limit: int
) -> list[TableRow]:
    """Tables with this status, of one game or all, newest first."""
    query = select(*_COLUMNS).where(_GAME.c.status == status)
    if kind is not None:
        query = query.where(_GAME.c.kind == kind)
    if after is not None:
        query = query.where(_GAME.c.created_at <= after[0])
        query = query.where(tuple_(_GAME.c.created_at, _GAME.c.id) < tuple_(*after))
    return _rows(tx, query.order_by(_GAME.c.created_at.desc(), _GAME.c.id.desc()).limit(limit))


def in_trouble(tx: Connection, trouble: str, below: int | None, limit: int) -> list[TableRow]:
    """Tables with one kind of trouble, highest id first. Overdue tables are in `urgent`."""
    numbers = _ids_in_trouble(trouble)
    column = numbers.subquery().c.game_id
    query = select(column).distinct().order_by(column.desc()).limit(limit)
    if below is not None:
        query = query.where(column < below)
    return with_numbers(tx, list(tx.execute(query).scalars()))


def of_person(tx: Connection, person_id: int, below: int | None, limit: int) -> list[TableRow]:
    """Tables a person plays at or hosts, highest id first."""
    played = select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person_id)
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id)
    query = select(*_COLUMNS).where(_GAME.c.id.in_(union(played, hosted)))
    if below is not None:
        query = query.where(_GAME.c.id < below)
    return _rows(tx, query.order_by(_GAME.c.id.desc()).limit(limit))


def by_key(tx: Connection, key: str) -> list[TableRow]:
    """The table with this key, as a list of at most one."""
    return _rows(tx, select(*_COLUMNS).where(_GAME.c.key == key))


def with_numbers(tx: Connection, game_ids: Collection[int]) -> list[TableRow]:
    """These tables, highest id first."""
    return _rows(tx, select(*_COLUMNS).where(_GAME.c.id.in_(game_ids)).order_by(_GAME.c.id.desc()))


def next_due(tx: Connection, tables: Iterable[TableRow]) -> dict[int, datetime]:
    """The next deadline at each of these tables."""
    turns = [(row.id, row.turn) for row in tables if row.status == TableStatus.PLAYING]
    # The status is tested after the search: as a condition it would lead SQLite through all open deadlines.
    soonest = func.min(case((_DEADLINE.c.status == TurnStatus.OPEN, _DEADLINE.c.due_at)))
    query = select(_DEADLINE.c.game_id, soonest).where(tuple_(_DEADLINE.c.game_id, _DEADLINE.c.turn).in_(turns))
    rows = tx.execute(query.group_by(_DEADLINE.c.game_id))
    return {game_id: due_at for game_id, due_at in rows if due_at is not None}


def troubles_of(tx: Connection, tables: Iterable[TableRow]) -> dict[int, set[str]]:
    """What is wrong at each of these tables, beyond what their own rows show."""
    rows = list(tables)
    listed, playing = [row.id for row in rows], [row.id for row in rows if row.status == TableStatus.PLAYING]
    # A count and not EXISTS, which PostgreSQL would turn into a join over all players.
    failing = select(func.count()).select_from(_UNREACHABLE)
    fails = failing.where(_UNREACHABLE.c.person_id == _PLAYER.c.person_id, _UNREACHABLE.c.end_at.is_(None))
    parts = {
        "unreachable": select(_PLAYER.c.game_id).where(_PLAYER.c.game_id.in_(playing), fails.scalar_subquery() > 0),
        "parked": select(_OUTBOX.c.game_id).where(
            _OUTBOX.c.game_id.in_(listed), _OUTBOX.c.status == EmailStatus.PARKED
        ),
        "flawed": select(_FLAW.c.game_id).where(_FLAW.c.game_id.in_(listed)),
    }
    named = [part.add_columns(literal(trouble).label("trouble")).distinct() for trouble, part in parts.items()]
    troubles: dict[int, set[str]] = {}
    for game_id, trouble in tx.execute(union_all(*named)):
        troubles.setdefault(game_id, set()).add(trouble)
    return troubles


def counts(tx: Connection, now: datetime, late: datetime) -> Counts:
    """How many there are of everything, in one statement. Deadlines before `late` are overdue."""
    queued = and_(_OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.due_at <= now)
    overdue = select(_DEADLINE.c.game_id).select_from(_ASKED).where(_OPEN, _DEADLINE.c.due_at < late, _PLAYING)
    # In the order of an index, because with many overdue rows PostgreSQL would scan the whole table.
    overdue = overdue.order_by(_DEADLINE.c.due_at)
    parts: dict[str, Any] = {
        "overdue": _count_up_to_limit(overdue),
        **{trouble: _count_up_to_limit(_ids_in_trouble(trouble)) for trouble in TROUBLES if trouble != "overdue"},
        "waiting": _count_up_to_limit(select(_GAME.c.id).where(_GAME.c.status == TableStatus.OPEN)),
        "calls": _count_up_to_limit(select(_CALL.c.id).where(_CALL.c.status == CallStatus.OPEN)),
        "queued": _count_up_to_limit(select(_OUTBOX.c.id).where(queued)),
        "oldest": select(func.min(_OUTBOX.c.due_at)).where(queued).scalar_subquery(),
        "given_up": _count_up_to_limit(select(_OUTBOX.c.id).where(_OUTBOX.c.status == EmailStatus.PARKED)),
        "unread": _count_up_to_limit(select(_RECEIVED.c.id).where(_RECEIVED.c.status == ReceivedStatus.PARKED)),
    }
    row = tx.execute(select(*(part.label(name) for name, part in parts.items()))).one()
    return Counts(**row._mapping)


def count_playing(tx: Connection) -> int:
    """The number of running tables. It counts them all, so it is for workers and not for pages."""
    return tx.execute(select(func.count()).select_from(_GAME).where(_PLAYING)).scalar_one()


def _ids_in_trouble(trouble: str) -> Select[Any]:
    """The ids of tables with one kind of trouble, some more than once."""
    match trouble:
        case "unreachable":
            return select(_PLAYER.c.game_id).select_from(_FAILING).where(_UNREACHABLE.c.end_at.is_(None), _PLAYING)
        case "parked":
            stuck = (_OUTBOX.c.status == EmailStatus.PARKED, _OUTBOX.c.game_id.is_not(None))
            return select(_OUTBOX.c.game_id).where(*stuck)
        case "paused":
            return select(_PAUSE.c.game_id).select_from(_PAUSED).where(_PAUSE.c.end_at.is_(None), _PLAYING)
        case "frozen":
            return select(_GAME.c.id.label("game_id")).where(_GAME.c.status == TableStatus.FROZEN)
        case "flawed":
            return select(_FLAW.c.game_id)
    raise ValueError(trouble)


def _count_up_to_limit(numbers: Select[Any]) -> ColumnElement[int]:
    """The number of different ids among the first COUNTED."""
    some = numbers.limit(COUNTED).subquery()
    return select(func.count(distinct(some.c[0]))).scalar_subquery()


def _rows(tx: Connection, query: Select[Any]) -> list[TableRow]:
    return [TableRow(**row._mapping) for row in tx.execute(query)]
