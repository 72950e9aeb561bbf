"""Tables by score, meeting new opponents: the Swiss system for tables of any size."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Round, Sizes
from pbem.domain.tournaments.seats import seat_order
from pbem.domain.tournaments.swaps import Costs, swapped
from pbem.domain.tournaments.table_sizes import table_sizes

STEPS = 4
"""How many swaps there may be for each player."""


def by_score(
    players: Sequence[int], scores: Mapping[int, Fraction], past: History, sizes: Sizes, seed: str, label: str
) -> Round:
    """A round for these players by their scores."""
    order = sorted(drawn(seed, label, players), key=lambda player: -scores[player])
    seating = table_sizes(len(order), sizes)
    queue = sorted(enumerate(order), key=lambda line: (past.byes[line[1]], -line[0]))
    resting = [player for _position, player in queue[: len(order) - sum(seating)]]
    scale = lcm(*(score.denominator for score in scores.values())) if scores else 1
    costs = Costs(past, scores={player: int(scores[player] * scale) for player in players})
    tables = filled([player for player in order if player not in set(resting)], seating, costs)
    tables = swapped(tables, costs.of, steps=STEPS * len(order))
    return Round(
        tuple(seat_order(past, drawn(seed, f"{label}/seats", table)) for table in tables), tuple(sorted(resting))
    )


def filled(order: Sequence[int], seating: Sequence[int], costs: Costs) -> list[list[int]]:
    """Tables filled from the top: each takes the first player left, then the first who has met nobody there and leaves everyone a
    fair seat, and so on; where there is none, the first of those who add least."""
    waiting, tables = list(order), []
    for size in seating:
        table = [waiting.pop(0)]
        while len(table) < size:
            table.append(waiting.pop(_next(table, waiting, size, costs)))
        tables.append(table)
    return tables


def _next(table: list[int], waiting: list[int], size: int, costs: Costs) -> int:
    least, chosen = None, 0
    for position, player in enumerate(waiting):
        faults = costs.added(table, player, size)
        if faults == 0:
            return position
        if least is None or faults < least:
            least, chosen = faults, position
    return chosen
