"""Places at a table, named by their seats."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Integer, bindparam, cast, literal_column

from pbem.store.schema import Place, table_of

_ONE = literal_column("1", type_=Integer)
_SEAT = cast(table_of(Place).c.seat, Integer)


def among(seats: str) -> ColumnElement[bool]:
    """Whether the seat of a place is among those of a parameter: they are the bits of a number.

    A list would make another statement for each length, and a move has no time for that.
    """
    return bindparam(seats, type_=Integer).bitwise_rshift(_SEAT).bitwise_and(_ONE) == _ONE


def bits(seats: Collection[int]) -> int:
    """Seats as such a parameter."""
    return sum(1 << seat for seat in seats)
