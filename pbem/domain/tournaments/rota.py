"""Seat orders for many tables at once, where all of them are known beforehand."""

from collections import Counter
from collections.abc import Sequence

from pbem.domain.tournaments.plan import Table


def seat_orders(tables: Sequence[Sequence[int]]) -> tuple[Table, ...]:
    """The tables in seat orders with which nobody sits in one seat more often than in another by more than one.

    That holds between all seats that each of a player's tables had. The last seat is given out first, then the one before it, and
    so on. Of a player's tables that have seat number n and where they have no seat yet, they get seat n at one in n of them,
    rounded down or up. There is always a way: an n-th of each would be one, and where fractions fit, whole numbers do.
    """
    waiting = [list(table) for table in tables]
    orders: list[list[int]] = [[] for _table in tables]
    for seat in range(max(map(len, tables), default=0), 0, -1):
        having = [number for number, table in enumerate(waiting) if len(table) == seat]
        for number, player in _chosen(waiting, having, seat).items():
            orders[number].insert(0, player)
            waiting[number].remove(player)
    return tuple(map(tuple, orders))


def _chosen(waiting: list[list[int]], having: list[int], seat: int) -> dict[int, int]:
    """A player for a seat at each table that has it."""
    counts = Counter(player for number in having for player in waiting[number])
    chosen: dict[int, int] = {}
    held: dict[int, list[int]] = {player: [] for player in counts}
    # A chain of changes never takes a seat away from a player, so nobody falls below what they had after the first pass.
    for most in (
        {player: count // seat for player, count in counts.items()},
        {player: -(-count // seat) for player, count in counts.items()},
    ):
        for number in having:
            if number not in chosen:
                _find(waiting, chosen, held, number, most)
    return chosen


def _find(
    waiting: list[list[int]], chosen: dict[int, int], held: dict[int, list[int]], number: int, most: dict[int, int]
) -> None:
    """Find a player for a table by the shortest chain of tables that each take over a player from the next."""
    asked_by: dict[int, int] = {}
    queue = [number]
    for table in queue:
        for player in waiting[table]:
            if player in asked_by:
                continue
            asked_by[player] = table
            if len(held[player]) < most[player]:
                _change(chosen, held, player, asked_by)
                return
            queue.extend(held[player])


def _change(chosen: dict[int, int], held: dict[int, list[int]], player: int, asked_by: dict[int, int]) -> None:
    while True:
        table = asked_by[player]
        before = chosen.get(table)
        chosen[table] = player
        held[player].append(table)
        if before is None:
            return
        held[before].remove(table)
        player = before
