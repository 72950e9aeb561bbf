"""Stored views: what each seat of a table, and the spectator, knew after some entry of the log."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, bindparam, delete, func, insert, or_, select, tuple_

from engine.facts import SPECTATOR
from pbem.domain.states import TableStatus
from pbem.store import prefetch
from pbem.store.schema import Game, View, table_of

_GAME, _VIEW = table_of(Game), table_of(View)
_OF_GAME = _VIEW.c.game_id == bindparam("of_game")
# Views of all readers are stored together, so the spectator's stand for all.
_SPECTATOR_VIEWS = (_OF_GAME, _VIEW.c.seat == SPECTATOR)
_AFTER_ALL: Final = 2**62
"""Above the turn of any entry."""


def _of(turn: Any) -> Select[Any]:
    return select(_VIEW).where(
        _OF_GAME, _VIEW.c.seat.in_(bindparam("of_seats", expanding=True)), _VIEW.c.turn == turn.scalar_subquery()
    )


_NEWEST = (
    select(_VIEW.c.game_id, func.max(_VIEW.c.turn).label("turn"))
    .where(_VIEW.c.game_id.in_(bindparam("of_games", expanding=True)), _VIEW.c.seat == SPECTATOR)
    .group_by(_VIEW.c.game_id)
    .subquery()
)
_LASTS = (
    select(_VIEW)
    .join(_NEWEST, and_(_NEWEST.c.game_id == _VIEW.c.game_id, _NEWEST.c.turn == _VIEW.c.turn))
    .where(tuple_(_VIEW.c.game_id, _VIEW.c.seat).in_(bindparam("these", expanding=True)))
)
_BEFORE = _of(select(func.max(_VIEW.c.turn)).where(*_SPECTATOR_VIEWS, _VIEW.c.turn < bindparam("turn")))
# Read for every page of a seat. A list of seats would make another statement for every call.
_LAST = (
    select(_VIEW)
    .where(_OF_GAME, _VIEW.c.seat == bindparam("of_seat"))
    .order_by(_VIEW.c.seat, _VIEW.c.turn.desc())
    .limit(1)
)
_NEXT = (
    select(_VIEW.c.seq)
    .where(*_SPECTATOR_VIEWS, _VIEW.c.turn > bindparam("turn"))
    .order_by(_VIEW.c.seat, _VIEW.c.turn)
    .limit(1)
)
_LAST_SEQ = (
    select(func.coalesce(func.max(_VIEW.c.seq), 0))
    .where(_VIEW.c.game_id == _GAME.c.id, _VIEW.c.seat == SPECTATOR)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class ViewRow:
    """What a seat knew after entry `turn`, with all rows up to `seq`. The body is canonical JSON."""

    game_id: int
    seat: int
    turn: int
    seq: int
    body: str


def last(tx: Connection, game_id: int, seats: Collection[int]) -> dict[int, ViewRow]:
    """The last stored views of these seats, by seat; seats without one are left out."""
    return before(tx, game_id, seats, _AFTER_ALL)


def last_of(tx: Connection, game_id: int, seat: int) -> ViewRow | None:
    """The last stored view of a seat, if there is one."""
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
    tx.execute(delete(_VIEW).where(_VIEW.c.game_id == game_id, _VIEW.c.turn == turn))
    tx.execute(
        insert(_VIEW),
        [{"game_id": game_id, "seat": seat, "turn": turn, "seq": seq, "body": body} for seat, body in bodies.items()],
    )


def forget(tx: Connection, game_id: int, since: int = 0) -> None:
    """Drop the views of this turn and later ones, because their entries were undone."""
    tx.execute(delete(_VIEW).where(_VIEW.c.game_id == game_id, _VIEW.c.turn >= since))


def of_game(tx: Connection, game_id: int) -> list[ViewRow]:
    """All stored views of a game."""
    query = select(_VIEW).where(_VIEW.c.game_id == game_id).order_by(_VIEW.c.seq, _VIEW.c.seat)
    return [ViewRow(*row) for row in tx.execute(query)]


def behind(tx: Connection, rows: int, ended_since: datetime, limit: int) -> list[int]:
    """Running games, and games ended since this moment, with at least this many rows since their last stored views."""
    live = or_(_GAME.c.status == TableStatus.PLAYING, _GAME.c.ended_at >= ended_since)
    query = select(_GAME.c.id).where(live, _GAME.c.seq >= _LAST_SEQ + rows).order_by(_GAME.c.id).limit(limit)
    return list(tx.execute(query).scalars())


def _last_of(tx: Connection, game_id: int, seat: int) -> ViewRow | None:
    row = tx.execute(_LAST, {"of_game": game_id, "of_seat": seat}).one_or_none()
    return None if row is None else ViewRow(*row)
