"""Lists of tables for the desk: what is urgent, what is in trouble, what is looked for; a page at a time.

Every list is read from an index, from where the page before ended, so that a page among a hundred thousand tables costs
what it costs among a hundred; and every count stops early. No state, box, order or secret of a game is read here.
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

from pbem.store.deadlines import IS_OPEN
from pbem.store.schema import Call, Deadline, Flaw, Game, Outbox, Pause, Place, Received, Unreachable, table_of

COUNTED: Final = 200
"""Who has more of something than this needs no exact number."""

TROUBLES: Final = ("overdue", "unreachable", "parked", "paused", "frozen", "flawed")

_CALL, _DEADLINE, _FLAW, _GAME = table_of(Call), table_of(Deadline), table_of(Flaw), table_of(Game)
_OUTBOX, _PAUSE, _PLACE, _RECEIVED = table_of(Outbox), table_of(Pause), table_of(Place), table_of(Received)
_UNREACHABLE = table_of(Unreachable)


@dataclass(frozen=True, slots=True)
class TableRow:
    """What a list tells of a table: nothing that its players would keep from each other. `due_at` is the next deadline."""

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
    """How much of everything there is, `COUNTED` meaning that or more; `oldest` is since when a mail could have left."""

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
_PLAYING = _GAME.c.status == "playing"
_OPEN = and_(IS_OPEN, _DEADLINE.c.due_at.is_not(None))
_ASKED = _DEADLINE.join(_GAME, _GAME.c.id == _DEADLINE.c.game_id)
_FAILING = _UNREACHABLE.join(_PLACE, _PLACE.c.person_id == _UNREACHABLE.c.person_id).join(
    _GAME, _GAME.c.id == _PLACE.c.game_id
)
_STANDING = _PAUSE.join(_GAME, _GAME.c.id == _PAUSE.c.game_id)


def urgent(
    tx: Connection, after: tuple[datetime, int] | None, limit: int, before: datetime | None = None
) -> list[TableRow]:
    """Tables in the order of their next deadlines; only those whose deadline was before a moment, if one is named."""
    other = _DEADLINE.alias()
    sooner = or_(
        other.c.due_at < _DEADLINE.c.due_at,
        and_(other.c.due_at == _DEADLINE.c.due_at, other.c.seat < _DEADLINE.c.seat),
    )
    same = and_(other.c.game_id == _DEADLINE.c.game_id, other.c.turn == _DEADLINE.c.turn, other.c.status == "open")
    wanted = select(*_COLUMNS, _DEADLINE.c.due_at).select_from(_ASKED).where(_OPEN, _PLAYING)
    wanted = wanted.where(~select(other.c.seat).where(same, sooner).exists())
    if before is not None:
        wanted = wanted.where(_DEADLINE.c.due_at < before)
    if after is not None:
        # The first condition says nothing new, but it is what an index can be entered by.
        wanted = wanted.where(_DEADLINE.c.due_at >= after[0])
        wanted = wanted.where(or_(_DEADLINE.c.due_at > after[0], _DEADLINE.c.game_id > after[1]))
    return _rows(tx, wanted.order_by(_DEADLINE.c.due_at, _DEADLINE.c.game_id).limit(limit))


def newest(
    tx: Connection, status: str, kind: str | None, after: tuple[datetime, int] | None, limit: int
) -> list[TableRow]:
    """Tables in one state, of one game or of all, the newest first."""
    wanted = select(*_COLUMNS).where(_GAME.c.status == status)
    if kind is not None:
        wanted = wanted.where(_GAME.c.kind == kind)
    if after is not None:
        wanted = wanted.where(_GAME.c.created_at <= after[0])
        wanted = wanted.where(tuple_(_GAME.c.created_at, _GAME.c.id) < tuple_(*after))
    return _rows(tx, wanted.order_by(_GAME.c.created_at.desc(), _GAME.c.id.desc()).limit(limit))


def in_trouble(tx: Connection, trouble: str, below: int | None, limit: int) -> list[TableRow]:
    """Tables in one kind of trouble, those with the highest numbers first; those overdue are in `urgent`."""
    numbers = _numbers(trouble)
    found = numbers.subquery()
    column = found.c.game_id
    wanted = select(column).distinct().order_by(column.desc()).limit(limit)
    if below is not None:
        wanted = wanted.where(column < below)
    return with_numbers(tx, list(tx.execute(wanted).scalars()))


def of_person(tx: Connection, person_id: int, below: int | None, limit: int) -> list[TableRow]:
    """Tables at which a person takes part or of which they are the host, those with the highest numbers first."""
    played = select(_PLACE.c.game_id).where(_PLACE.c.person_id == person_id)
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id)
    wanted = select(*_COLUMNS).where(_GAME.c.id.in_(union(played, hosted)))
    if below is not None:
        wanted = wanted.where(_GAME.c.id < below)
    return _rows(tx, wanted.order_by(_GAME.c.id.desc()).limit(limit))


def by_key(tx: Connection, key: str) -> list[TableRow]:
    """The table of that public name, if there is one."""
    return _rows(tx, select(*_COLUMNS).where(_GAME.c.key == key))


def with_numbers(tx: Connection, game_ids: Collection[int]) -> list[TableRow]:
    """These tables, those with the highest numbers first."""
    return _rows(tx, select(*_COLUMNS).where(_GAME.c.id.in_(game_ids)).order_by(_GAME.c.id.desc()))


def next_due(tx: Connection, tables: Iterable[TableRow]) -> dict[int, datetime]:
    """When the next clock runs out at each of these tables."""
    turns = [(row.id, row.turn) for row in tables if row.status == "playing"]
    # Whether it is open is asked of what was found: as a condition it would lead SQLite through all open deadlines.
    soonest = func.min(case((_DEADLINE.c.status == "open", _DEADLINE.c.due_at)))
    wanted = select(_DEADLINE.c.game_id, soonest).where(tuple_(_DEADLINE.c.game_id, _DEADLINE.c.turn).in_(turns))
    found = tx.execute(wanted.group_by(_DEADLINE.c.game_id))
    return {game_id: due_at for game_id, due_at in found if due_at is not None}


def troubles_of(tx: Connection, tables: Iterable[TableRow]) -> dict[int, set[str]]:
    """What is wrong at each of these tables, beside what their own rows say."""
    rows = list(tables)
    listed, playing = [row.id for row in rows], [row.id for row in rows if row.status == "playing"]
    # Counted and not asked whether there is one: PostgreSQL would make a join of that, and read everybody's places for it.
    failing = select(func.count()).select_from(_UNREACHABLE)
    fails = failing.where(_UNREACHABLE.c.person_id == _PLACE.c.person_id, _UNREACHABLE.c.end_at.is_(None))
    parts = {
        "unreachable": select(_PLACE.c.game_id).where(_PLACE.c.game_id.in_(playing), fails.scalar_subquery() > 0),
        "parked": select(_OUTBOX.c.game_id).where(_OUTBOX.c.game_id.in_(listed), _OUTBOX.c.status == "parked"),
        "flawed": select(_FLAW.c.game_id).where(_FLAW.c.game_id.in_(listed)),
    }
    named = [part.add_columns(literal(trouble).label("trouble")).distinct() for trouble, part in parts.items()]
    troubles: dict[int, set[str]] = {}
    for game_id, trouble in tx.execute(union_all(*named)):
        troubles.setdefault(game_id, set()).add(trouble)
    return troubles


def counts(tx: Connection, now: datetime, late: datetime) -> Counts:
    """How much of everything there is, in one statement. Overdue is what should have been decided before `late`."""
    queued = and_(_OUTBOX.c.status == "queued", _OUTBOX.c.due_at <= now)
    overdue = select(_DEADLINE.c.game_id).select_from(_ASKED).where(_OPEN, _DEADLINE.c.due_at < late, _PLAYING)
    # In the order of an index, or PostgreSQL begins to read the table where so many are overdue that it hopes for luck.
    overdue = overdue.order_by(_DEADLINE.c.due_at)
    wanted: dict[str, Any] = {
        "overdue": _most(overdue),
        **{trouble: _most(_numbers(trouble)) for trouble in TROUBLES if trouble != "overdue"},
        "waiting": _most(select(_GAME.c.id).where(_GAME.c.status == "open")),
        "calls": _most(select(_CALL.c.id).where(_CALL.c.status == "open")),
        "queued": _most(select(_OUTBOX.c.id).where(queued)),
        "oldest": select(func.min(_OUTBOX.c.due_at)).where(queued).scalar_subquery(),
        "given_up": _most(select(_OUTBOX.c.id).where(_OUTBOX.c.status == "parked")),
        "unread": _most(select(_RECEIVED.c.id).where(_RECEIVED.c.status == "parked")),
    }
    row = tx.execute(select(*(what.label(name) for name, what in wanted.items()))).one()
    return Counts(**row._mapping)


def count_playing(tx: Connection) -> int:
    """How many tables are being played: every one is counted, so that is for a worker and for no page."""
    return tx.execute(select(func.count()).select_from(_GAME).where(_PLAYING)).scalar_one()


def _numbers(trouble: str) -> Select[Any]:
    """The numbers of the tables in one kind of trouble; some stand there more than once."""
    match trouble:
        case "unreachable":
            return select(_PLACE.c.game_id).select_from(_FAILING).where(_UNREACHABLE.c.end_at.is_(None), _PLAYING)
        case "parked":
            stuck = (_OUTBOX.c.status == "parked", _OUTBOX.c.game_id.is_not(None))
            return select(_OUTBOX.c.game_id).where(*stuck)
        case "paused":
            return select(_PAUSE.c.game_id).select_from(_STANDING).where(_PAUSE.c.end_at.is_(None), _PLAYING)
        case "frozen":
            return select(_GAME.c.id.label("game_id")).where(_GAME.c.status == "frozen")
        case "flawed":
            return select(_FLAW.c.game_id)
    raise ValueError(trouble)


def _most(numbers: Select[Any]) -> ColumnElement[int]:
    """How many different ones these are, among the first so many."""
    some = numbers.limit(COUNTED).subquery()
    return select(func.count(distinct(some.c[0]))).scalar_subquery()


def _rows(tx: Connection, wanted: Select[Any]) -> list[TableRow]:
    return [TableRow(**row._mapping) for row in tx.execute(wanted)]
