"""Places at a table, named by their seats."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    bindparam,
    cast,
    literal_column,
    select,
    update,
)

from pbem.store import prefetch
from pbem.store.schema import Person, Place, table_of

_PERSON, _PLACE = table_of(Person), table_of(Place)

_ONE = literal_column("1", type_=Integer)
_SEAT_NUMBER = cast(table_of(Place).c.seat, Integer)


def among(seats: str) -> ColumnElement[bool]:
    """Whether the seat of a place is among those of a parameter: they are the bits of a number.

    A list would make another statement for each length, and a move has no time for that.
    """
    return bindparam(seats, type_=Integer).bitwise_rshift(_SEAT_NUMBER).bitwise_and(_ONE) == _ONE


def bits(seats: Collection[int]) -> int:
    """Seats as such a parameter."""
    return sum(1 << seat for seat in seats)


_SILENT = (
    update(_PLACE)
    .where(_PLACE.c.game_id == bindparam("of_game"), _PLACE.c.seat == bindparam("of_seat"))
    .values(silent=bindparam("times"))
)


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """Who takes part, in the order of joining."""

    game_id: int
    place: int
    seat: int | None
    person_id: int | None
    bot: str | None
    name: str
    word: str
    joined_at: datetime
    silent: int


class SeatRow(NamedTuple):
    """What a move has to know of its seat: who plays it, and how many turns in a row they have let pass.

    `sealed` says whether whoever plays it is told that a sealed choice is in; of a bot there is nothing to say.
    """

    seat: int
    person_id: int | None
    bot: str | None
    silent: int
    sealed: bool | None


_PLACES = (
    select(*(_PLACE.c[field.name] for field in fields(PlaceRow)))
    .where(_PLACE.c.game_id == bindparam("of_game"))
    .order_by(_PLACE.c.place)
)
SEAT_FIELDS = (_PLACE.c.seat, _PLACE.c.person_id, _PLACE.c.bot, _PLACE.c.silent, _PERSON.c.sealed)
PLAYER = _PERSON.c.id == _PLACE.c.person_id
_SEAT = (
    select(*SEAT_FIELDS)
    .join_from(_PLACE, _PERSON, PLAYER, isouter=True)
    .where(_PLACE.c.game_id == bindparam("of_game"), _PLACE.c.seat == bindparam("of_seat"))
)


def places(tx: Connection, game_id: int) -> list[PlaceRow]:
    """Who takes part, in the order of joining."""
    return prefetch.one(
        tx, ("places", game_id), lambda: [PlaceRow(*row) for row in tx.execute(_PLACES, {"of_game": game_id})]
    )


def seat(tx: Connection, game_id: int, seat: int) -> SeatRow | None:
    """Who plays a seat: as much of it as a move needs."""
    row = tx.execute(_SEAT, {"of_game": game_id, "of_seat": seat}).one_or_none()
    return None if row is None else SeatRow._make(row)


def places_of(tx: Connection, game_ids: Collection[int]) -> dict[int, list[PlaceRow]]:
    """Who takes part in each of these games, in the order of joining."""
    wanted = select(_PLACE).where(_PLACE.c.game_id.in_(game_ids)).order_by(_PLACE.c.game_id, _PLACE.c.place)
    found: dict[int, list[PlaceRow]] = {game_id: [] for game_id in game_ids}
    for row in tx.execute(wanted):
        found[row.game_id].append(PlaceRow(**row._mapping))
    return found


def set_silent(tx: Connection, game_id: int, seat: int, times: int) -> None:
    """Note how many turns in a row this seat has let pass."""
    tx.execute(_SILENT, {"of_game": game_id, "of_seat": seat, "times": times})
