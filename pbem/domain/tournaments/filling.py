"""Tables filled with players in an order, before any of them are swapped."""

from collections.abc import Sequence

from pbem.domain.tournaments.costs import Costs


def filled(order: Sequence[int], seating: Sequence[int], costs: Costs) -> list[list[int]]:
    """Tables filled from the top.

    Each takes the first player left, then the first who adds no fault there, and so on; where everyone adds some, the first of those
    who add the least.
    """
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
