"""Rounds in which everyone meets everyone as evenly as the tables allow, made before the first is played."""

from collections.abc import Sequence
from functools import lru_cache

from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Round, Sizes, Table
from pbem.domain.tournaments.rota import seat_orders
from pbem.domain.tournaments.swaps import Costs, swapped
from pbem.domain.tournaments.swiss import filled
from pbem.domain.tournaments.table_sizes import table_sizes


@lru_cache(maxsize=256)
def even_rounds(players: int, sizes: Sizes, rounds: int) -> tuple[Round, ...]:
    """Rounds for players numbered from 0."""
    past, seating, found = History(), table_sizes(players, sizes), []
    for number in range(1, rounds + 1):
        order = drawn("", f"even/{players}/{number}", range(players))
        queue = sorted(order, key=lambda player: past.byes[player])
        resting = queue[: players - sum(seating)]
        costs = Costs(past, seats=False)
        tables = filled([player for player in order if player not in set(resting)], seating, costs)
        tables = swapped(tables, costs.of, steps=4 * players)
        past.add(tables, resting)
        found.append((tables, tuple(sorted(resting))))
    seated = iter(seat_orders([table for tables, _resting in found for table in tables]))
    return tuple(Round(tuple(next(seated) for _table in tables), resting) for tables, resting in found)


def relabelled(found: Round, entrants: Sequence[int]) -> Round:
    """A round with entrants in place of the numbers from 0."""

    def named(numbers: Table) -> Table:
        return tuple(entrants[number] for number in numbers)

    return Round(tuple(named(table) for table in found.tables), tuple(sorted(named(found.byes))))
