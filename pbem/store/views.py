"""Stored views: what each seat of a table, and the spectator, knew after some entry of the log."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, select, true, tuple_, union_all

from engine.facts import SPECTATOR
from pbem.domain.states import TableStatus
from pbem.store import prefetch, queries
from pbem.store.schema import GAME, LINK, LOG, VIEW, ViewRow

_OTHER = VIEW.alias()
_OF_GAME = VIEW.c.game_id == bindparam("of_game")
# Views of all readers are stored together, so the spectator's stand for all.
_SPECTATOR_VIEWS = (_OF_GAME, VIEW.c.seat == SPECTATOR)
_AFTER_ALL: Final = 2**62
"""Above the turn of any entry."""
_NEWEST = (
    select(VIEW.c.game_id, func.max(VIEW.c.turn).label("turn"))
    .where(VIEW.c.game_id.in_(bindparam("of_games", expanding=True)), VIEW.c.seat == SPECTATOR)
    .group_by(VIEW.c.game_id)
    .subquery()
)
_LASTS = (
    select(VIEW)
    .join(_NEWEST, and_(_NEWEST.c.game_id == VIEW.c.game_id, _NEWEST.c.turn == VIEW.c.turn))
    .where(tuple_(VIEW.c.game_id, VIEW.c.seat).in_(bindparam("these", expanding=True)))
)
_TURN_BEFORE = select(func.max(VIEW.c.turn)).where(*_SPECTATOR_VIEWS, VIEW.c.turn < bindparam("turn")).scalar_subquery()
_BEFORE = select(VIEW).where(
    _OF_GAME, VIEW.c.seat.in_(bindparam("of_seats", expanding=True)), VIEW.c.turn == _TURN_BEFORE
)
# Read for every page of a seat. A list of seats would make another statement for every call.
_LAST = (
    select(VIEW).where(_OF_GAME, VIEW.c.seat == bindparam("of_seat")).order_by(VIEW.c.seat, VIEW.c.turn.desc()).limit(1)
)
LAST_TURN_OF_LINK = (
    select(_OTHER.c.turn)
    .where(_OTHER.c.game_id == LINK.c.game_id, _OTHER.c.seat == LINK.c.seat)
    .order_by(_OTHER.c.seat, _OTHER.c.turn.desc())
    .limit(1)
    .scalar_subquery()
)
"""The turn of the last stored view of a link's seat."""
_NEXT = (
    select(VIEW.c.seq)
    .where(*_SPECTATOR_VIEWS, VIEW.c.turn > bindparam("turn"))
    .order_by(VIEW.c.seat, VIEW.c.turn)
    .limit(1)
)
_LAST_SEQ = (
    select(func.coalesce(func.max(VIEW.c.seq), 0))
    .where(VIEW.c.game_id == GAME.c.id, VIEW.c.seat == SPECTATOR)
    .scalar_subquery()
)


def last(tx: Connection, game_id: int, seats: Collection[int]) -> dict[int, ViewRow]:
    """The last stored views of these seats, by seat; seats without one are left out."""
    return before(tx, game_id, seats, _AFTER_ALL)


def last_of(tx: Connection, game_id: int, seat: int) -> ViewRow | None:
    return prefetch.get_or_read(tx, ("view", game_id, seat), lambda: _last_of(tx, game_id, seat))


def before(tx: Connection, game_id: int, seats: Collection[int], turn: int) -> dict[int, ViewRow]:
    """The last stored views of these seats from before this turn, by seat; seats without one are left out."""
    rows = tx.execute(_BEFORE, {"of_game": game_id, "of_seats": list(seats), "turn": turn})
    return {row.seat: ViewRow(*row) for row in rows}


def read_ahead(tx: Connection, seats: Collection[tuple[int, int]]) -> None:
    """Read ahead the last stored views of these seats, each in its game."""
    values = {"of_games": list({game_id for game_id, _seat in seats}), "these": list(seats)}
    views = {(row.game_id, row.seat): ViewRow(*row) for row in tx.execute(_LASTS, values)}
    for game_id, seat in seats:
        prefetch.put(tx, ("view", game_id, seat), views.get((game_id, seat)))


def next_seq(tx: Connection, game_id: int, turn: int) -> int | None:
    """The row of the log up to which the first stored views after this turn reach, if there are any."""
    return tx.execute(_NEXT, {"of_game": game_id, "turn": turn}).scalar_one_or_none()


def keep(tx: Connection, game_id: int, turn: int, seq: int, bodies: Mapping[int, str]) -> None:
    """Store what each seat knew after an entry, replacing earlier views of that turn. The game must be locked."""
    tx.execute(delete(VIEW).where(VIEW.c.game_id == game_id, VIEW.c.turn == turn))
    tx.execute(
        insert(VIEW),
        [{"game_id": game_id, "seat": seat, "turn": turn, "seq": seq, "body": body} for seat, body in bodies.items()],
    )


def forget(tx: Connection, game_id: int, since: int = 0) -> None:
    """Drop the views of this turn and later ones, because their entries were undone."""
    tx.execute(delete(VIEW).where(VIEW.c.game_id == game_id, VIEW.c.turn >= since))


def of_game(tx: Connection, game_id: int) -> list[ViewRow]:
    query = select(VIEW).where(VIEW.c.game_id == game_id).order_by(VIEW.c.seq, VIEW.c.seat)
    return queries.many(tx, ViewRow, query)


def behind(tx: Connection, rows: int, since: datetime, ended_since: datetime, limit: int) -> list[int]:
    """Live games with at least this many rows since their last stored views, of those that have grown or ended since these moments.

    To ask all running games would take the longer the more there are. One that is left out is found when it grows.
    """
    grown = select(LOG.c.game_id).where(LOG.c.at >= since)
    ended = select(GAME.c.id).where(GAME.c.ended_at >= ended_since)
    # As a case, because as a condition it would lead SQLite through all running games.
    live = case((GAME.c.status == TableStatus.PLAYING, true()), else_=GAME.c.ended_at >= ended_since)
    query = select(GAME.c.id).where(GAME.c.id.in_(union_all(grown, ended)), live, GAME.c.seq >= _LAST_SEQ + rows)
    return list(tx.execute(query.order_by(GAME.c.id).limit(limit)).scalars())


def _last_of(tx: Connection, game_id: int, seat: int) -> ViewRow | None:
    return queries.one(tx, ViewRow, _LAST, {"of_game": game_id, "of_seat": seat})
