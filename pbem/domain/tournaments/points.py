"""What a place is worth. Tied entrants share the points of the places they take, as exact fractions."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from pbem.domain.tournaments.plan import Plan, TableResult

SCALES: Final[Mapping[str, Callable[[int, int], Fraction]]] = MappingProxyType(
    {
        # The share of opponents beaten: 1, 2/3, 1/3, 0 at a table of four. Tables of all sizes are worth the same.
        "share": lambda place, size: Fraction(size - place, size - 1),
        # A point for each opponent beaten: 3, 2, 1, 0.
        "opponents": lambda place, size: Fraction(size - place),
        # A point for winning.
        "wins": lambda place, _size: Fraction(place == 1),
    }
)
"""The scales by name: the points for a place and the size of the table."""

BYES: Final[Mapping[str, Callable[[tuple[Fraction, ...]], Fraction]]] = MappingProxyType(
    {"mean": lambda row: sum(row, Fraction()) / len(row), "win": lambda row: row[0], "nothing": lambda _row: Fraction()}
)
"""The rules for a bye by name: its points, from those of the places where a table has the preferred size."""


@lru_cache(maxsize=64)
def row(plan: Plan, size: int) -> tuple[Fraction, ...]:
    """The points of each place where a table has this size."""
    if isinstance(plan.points, str):
        return tuple(SCALES[plan.points](place, size) for place in range(1, size + 1))
    return next(each for each in plan.points if len(each) == size)


def earned(plan: Plan, result: TableResult) -> dict[int, Fraction]:
    """What each entrant of a table earned there."""
    return shared(row(plan, len(result.seats)), result)


def beaten(result: TableResult) -> dict[int, Fraction]:
    """The share of the opponents that each entrant of a table beat; a tied opponent counts half."""
    size = len(result.seats)
    return shared(tuple(SCALES["share"](place, size) for place in range(1, size + 1)), result)


def bye(plan: Plan) -> Fraction:
    """What a bye earns."""
    return BYES[plan.bye](row(plan, plan.sizes.preferred))


def shared(values: tuple[Fraction, ...], result: TableResult) -> dict[int, Fraction]:
    """The values of the places, with those of tied entrants shared among them."""
    ahead = {place: sum(other < place for other in result.places) for place in result.places}
    return {
        entrant: sum(values[ahead[place] : ahead[place] + count], Fraction()) / count
        if count > 1
        else values[ahead[place]]
        for entrant, place in zip(result.seats, result.places, strict=True)
        for count in (result.places.count(place),)
    }
