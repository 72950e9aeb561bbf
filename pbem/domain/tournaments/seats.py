"""Who sits where at a table, so that over a tournament everyone sits in each seat about equally often."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.plan import Table


def excess(past: History, entrant: int, seat: int, size: int) -> int:
    """How unfair a seat would be at a table of a size: how much more often they sat there than in their rarest seat.

    Only seats that all their tables had are compared, this one among them; another seat is never unfair.
    """
    common = min(size, past.smallest.get(entrant, size))
    if seat > common or entrant not in past.sat:
        return 0
    sat = past.sat[entrant]
    return sat[seat] - min(sat[each] for each in range(1, common + 1))


def fair_seats(past: History, entrant: int, size: int) -> int:
    """The seats without excess at a table of a size, as a number with a bit for each: 1 for seat 1, 2 for seat 2, 4 for seat 3."""
    return sum(1 << seat - 1 for seat in range(1, size + 1) if excess(past, entrant, seat, size) == 0)


def misfits(masks: Sequence[int]) -> int:
    """How many of a table's players, each with their fair seats, cannot have one of them at the same time as the others."""
    holder: dict[int, int] = {}

    def place(player: int, tried: set[int]) -> bool:
        for seat in range(masks[player].bit_length()):
            if masks[player] >> seat & 1 and seat not in tried:
                tried.add(seat)
                if seat not in holder or place(holder[seat], tried):
                    holder[seat] = player
                    return True
        return False

    return sum(not place(player, set()) for player in range(len(masks)))


def seat_orders(past: History, tables: Iterable[Sequence[int]]) -> tuple[Table, ...]:
    """The tables in seat orders, one after the other.

    A table's order is the one with the least cost; of equal ones the first, by the order in which the players are given. Each
    player costs 10,000 times the square of the seat's excess, 100 times how often they sat in that seat, and, if they have had a
    bye, how often players with byes sat there. So where a table has an order with which nobody's seats come to differ by more than
    one, it takes such an order; and players with byes are led to different seats, so that later rounds have one for each.
    """
    rested = Counter[int]()
    for entrant, sat in past.sat.items():
        if past.byes[entrant]:
            rested.update(sat)
    orders = []
    for players in tables:
        order = _seat_order(past, players, rested)
        rested.update(seat for seat, player in enumerate(order, 1) if past.byes[player])
        orders.append(order)
    return tuple(orders)


def _seat_order(past: History, players: Sequence[int], rested: Counter[int]) -> Table:
    size = len(players)
    cost = [
        [
            10_000 * excess(past, player, seat, size) ** 2
            + 100 * (past.sat[player][seat] if player in past.sat else 0)
            + (rested[seat] if past.byes[player] else 0)
            for seat in range(1, size + 1)
        ]
        for player in players
    ]
    # For each set of players the cheapest way to give them the last seats, as (cost, their positions in seat order).
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for taken in range(1, 1 << size):
        seat = size - taken.bit_count()
        best[taken] = min(
            (cost[player][seat] + rest, (player, *order))
            for player in range(size)
            if taken >> player & 1
            for rest, order in (best[taken ^ 1 << player],)
        )
    return tuple(players[position] for position in best[(1 << size) - 1][1])
