"""Tables made better by swapping players between two of them, with a bounded number of steps and no luck."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.seats import fair_seats, misfits

Cost = tuple[int, int]
"""Faults, and distance: the second is asked only where the first are equal."""

MISFIT = 3
"""How many repeated opponents a player without a fair seat is as bad as."""


@dataclass(slots=True)
class Costs:
    """What tables cost: repeated opponents and players without a fair seat, then how far the players' scores are apart.

    Where `seats` is false, seats are given later and cost nothing here.
    """

    past: History
    seats: bool = True
    scores: Mapping[int, int] = field(default_factory=dict)
    _masks: dict[tuple[int, int], int] = field(default_factory=dict)
    _misfits: dict[tuple[int, ...], int] = field(default_factory=dict)

    def of(self, table: Sequence[int]) -> Cost:
        """The cost of a table."""
        return self.repeats(table) + MISFIT * self.misfits(table, len(table)), self.distance(table)

    def added(self, table: Sequence[int], player: int, size: int) -> int:
        """The faults that a player adds to the first players of a table of a size."""
        met = self.past.met.get(player)
        repeats = sum(met[other] for other in table if other in met) if met else 0
        if not self.seats:
            return repeats
        return repeats + MISFIT * (self.misfits([*table, player], size) - self.misfits(table, size))

    def repeats(self, table: Sequence[int]) -> int:
        """How often the players of a table have met."""
        met = self.past.met
        return sum(
            known[other]
            for position, one in enumerate(table)
            if (known := met.get(one))
            for other in table[position + 1 :]
            if other in known
        )

    def misfits(self, table: Sequence[int], size: int) -> int:
        """How many of these players cannot have a fair seat at a table of a size."""
        if not self.seats:
            return 0
        masks = tuple(sorted(self._mask(player, size) for player in table))
        found = self._misfits.get(masks)
        if found is None:
            found = self._misfits[masks] = misfits(masks)
        return found

    def distance(self, table: Sequence[int]) -> int:
        """The squares of the differences of the players' scores, over all pairs."""
        if not self.scores:
            return 0
        scores = [self.scores[player] for player in table]
        return len(scores) * sum(score * score for score in scores) - sum(scores) ** 2

    def _mask(self, player: int, size: int) -> int:
        found = self._masks.get((player, size))
        if found is None:
            found = self._masks[player, size] = fair_seats(self.past, player, size)
        return found


def swapped(
    tables: Sequence[Sequence[int]],
    cost: Callable[[Sequence[int]], Cost],
    *,
    steps: int,
    pots: Mapping[int, int] | None = None,
) -> list[list[int]]:
    """The tables after a number of swaps at most, each the best there is for the first table that it helps.

    Table after table, from the first, each player is swapped for each player of another table, the nearest tables first; the swap
    that lowers the cost of both tables by most is made. It ends when no swap lowers the cost. With `pots`, only players of the
    same pot change places.
    """
    result = [list(table) for table in tables]
    costs = [cost(table) for table in result]
    position = quiet = 0
    while quiet < len(result) and steps > 0:
        best = _best(result, costs, position, cost, pots)
        if best is None:
            position, quiet = (position + 1) % len(result), quiet + 1
            continue
        _gain, other, one_seat, other_seat = best
        one, two = result[position], result[other]
        one[one_seat], two[other_seat] = two[other_seat], one[one_seat]
        costs[position], costs[other] = cost(one), cost(two)
        quiet, steps = 0, steps - 1
    return result


def _best(
    tables: list[list[int]],
    costs: list[Cost],
    position: int,
    cost: Callable[[Sequence[int]], Cost],
    pots: Mapping[int, int] | None,
) -> tuple[Cost, int, int, int] | None:
    """The best swap of one table's players: what it gains, the other table, and both players' positions; None if none gains."""
    table, reach = tables[position], len(tables)
    if not any(costs[position]):
        return None
    for away in range(1, reach):
        found: list[tuple[Cost, int, int, int]] = []
        for other in (position - away, position + away):
            if not 0 <= other < reach:
                continue
            faults, distance = (one + two for one, two in zip(costs[position], costs[other], strict=True))
            for one_seat, one in enumerate(table):
                for other_seat, two in enumerate(tables[other]):
                    if pots is not None and pots[one] != pots[two]:
                        continue
                    first = cost([*table[:one_seat], two, *table[one_seat + 1 :]])
                    if first[0] > faults:
                        continue
                    second = cost([*tables[other][:other_seat], one, *tables[other][other_seat + 1 :]])
                    gain = (first[0] + second[0] - faults, first[1] + second[1] - distance)
                    if gain < (0, 0):
                        found.append((gain, other, one_seat, other_seat))
        if found:
            return min(found)
    return None
