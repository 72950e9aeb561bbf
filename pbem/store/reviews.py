"""Reviews of finished games by the coach, as rows. Which are due is in the table, so any number of workers may make them."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    false,
    func,
    insert,
    literal_column,
    select,
    tuple_,
    update,
)

from pbem.domain.states import TableStatus
from pbem.store import queries
from pbem.store.guests import IS_GUEST
from pbem.store.schema import GAME, PERSON, PLAYER, REVIEW, ReviewRow
from pbem.store.types import Moment

MOST_ATTEMPTS: Final = 3
"""A review that failed this often is given up."""

MOST_A_DAY: Final = 10
"""Reviews of one person in a day: each takes minutes, and all people share one coach."""

_DAY: Final = timedelta(days=1)

# With NULL written out, only the partial index is read.
_DUE = and_(
    REVIEW.c.body.is_(None), REVIEW.c.due_at <= bindparam("now", type_=Moment), REVIEW.c.attempts < MOST_ATTEMPTS
)
_NEXT = (
    select(REVIEW.c.game_id, REVIEW.c.seat)
    .join(GAME, GAME.c.id == REVIEW.c.game_id)
    .where(_DUE, GAME.c.status == TableStatus.OVER)
    .order_by(REVIEW.c.due_at)
    .limit(1)
    .with_for_update(of=REVIEW, skip_locked=True)
    .cte("next_review")
)
_CLAIM = (
    update(REVIEW)
    .where(tuple_(REVIEW.c.game_id, REVIEW.c.seat).in_(select(_NEXT)))
    .values(due_at=bindparam("until", type_=Moment), attempts=REVIEW.c.attempts + 1)
    .returning(REVIEW)
)
_OTHER = REVIEW.alias("other")
_RECENT = (
    select(func.count())
    .where(_OTHER.c.person_id == PLAYER.c.person_id, _OTHER.c.due_at > bindparam("day_ago", type_=Moment))
    .scalar_subquery()
)
_DAYS: Final = 7
# Ten are made today, ten tomorrow, and so on; what is beyond a week is made with those of its last day.
_WHEN = case(
    {day: bindparam(f"day_{day}", type_=Moment) for day in range(_DAYS)},
    value=_RECENT // MOST_A_DAY,
    else_=bindparam(f"day_{_DAYS}", type_=Moment),
)
_ASK = insert(REVIEW).from_select(
    ("game_id", "seat", "person_id", "due_at", "attempts", "shared"),
    select(PLAYER.c.game_id, PLAYER.c.seat, PLAYER.c.person_id, _WHEN, literal_column("0"), false())
    .join(PERSON, PERSON.c.id == PLAYER.c.person_id)
    .where(PLAYER.c.game_id == bindparam("of_game"), PLAYER.c.seat.is_not(None), ~IS_GUEST),
)


def ask(tx: Connection, game_id: int, now: datetime) -> None:
    """Ask for a review for each person at a table whose game just ended. Guests get none, because demos are deleted.

    One who has many in a day gets the next on another day.
    """
    days = {f"day_{day}": now + day * _DAY for day in range(_DAYS + 1)}
    tx.execute(_ASK, {"of_game": game_id, "day_ago": now - _DAY, **days})


def claim(tx: Connection, now: datetime, until: datetime) -> ReviewRow | None:
    """Claim the next review to be made, until a moment at which others may try; None if none is due."""
    return queries.one(tx, ReviewRow, _CLAIM, {"now": now, "until": until})


def release(tx: Connection, row: ReviewRow, due_at: datetime) -> None:
    """Give back a claim that came to nothing through no fault of the review."""
    tx.execute(update(REVIEW).where(*_is(row)).values(due_at=due_at, attempts=row.attempts - 1))


def keep(tx: Connection, row: ReviewRow, body: str) -> bool:
    """Store a review. Returns False if it is there already, or if its person or game was deleted meanwhile."""
    made = update(REVIEW).where(*_is(row), REVIEW.c.person_id == row.person_id, REVIEW.c.body.is_(None))
    return bool(tx.execute(made.values(body=body)).rowcount)


def of_game(tx: Connection, game_id: int) -> dict[int, ReviewRow]:
    """The reviews of a game by seat, made or not."""
    query = select(REVIEW).where(REVIEW.c.game_id == game_id).order_by(REVIEW.c.seat)
    return {row.seat: row for row in queries.many(tx, ReviewRow, query)}


def share(tx: Connection, game_id: int, seat: int, person_id: int, *, shared: bool) -> bool:
    """Let the others at the table read a person's own review, or not. Returns whether there is one."""
    own = (REVIEW.c.game_id == game_id, REVIEW.c.seat == seat, REVIEW.c.person_id == person_id)
    return bool(tx.execute(update(REVIEW).where(*own, REVIEW.c.body.is_not(None)).values(shared=shared)).rowcount)


def _is(row: ReviewRow) -> tuple[ColumnElement[bool], ...]:
    return REVIEW.c.game_id == row.game_id, REVIEW.c.seat == row.seat
