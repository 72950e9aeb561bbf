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
    # Augmenting paths never take a seat away from a player, so nobody falls below what they had after the first pass.
    for most in (
        {player: count // seat for player, count in counts.items()},
        {player: -(-count // seat) for player, count in counts.items()},
    ):
        for number in having:
            if number not in chosen:
                _augment(waiting, chosen, number, most, set())
    return chosen


def _augment(
    waiting: list[list[int]], chosen: dict[int, int], number: int, most: dict[int, int], tried: set[int]
) -> bool:
    for player in waiting[number]:
        if player in tried:
            continue
        tried.add(player)
        held = [other for other, holder in chosen.items() if holder == player]
        if len(held) < most[player] or any(_augment(waiting, chosen, other, most, tried) for other in held):
            chosen[number] = player
            return True
    return False
