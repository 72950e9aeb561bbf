"""The tables of a round while players are swapped."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pbem.domain.tournaments.costs import MISFIT, Costs

Swap = tuple[int, int, int]
"""By how much it changes the faults, and the two players: one of the table asked for, and one of another or with a bye."""


class Board:
    """Tables, and players with a bye, whose faults are kept up to date. With `pots`, only players of one pot can be swapped."""

    def __init__(
        self,
        tables: Sequence[Sequence[int]],
        costs: Costs,
        pots: Mapping[int, int] | None = None,
        resting: Sequence[int] = (),
    ) -> None:
        self.costs, self.pots = costs, pots
        self.take([list(table) for table in tables], list(resting))

    def take(self, tables: list[list[int]], resting: list[int]) -> None:
        """Put players as here."""
        self.tables, self.resting = tables, resting
        self.at = {player: position for position, table in enumerate(tables) for player in table}
        self.misfits = [self.costs.misfits(table, len(table)) for table in tables]
        self.faults = [self.costs.faults(table) for table in tables]

    def copy(self) -> tuple[list[list[int]], list[int]]:
        """What `take` takes."""
        return [list(table) for table in self.tables], list(self.resting)

    def best(
        self, position: int, others: Iterable[int], most: int, still: Collection[int] = (), *, byes: bool = False
    ) -> Swap | None:
        """The best swap of a table's players with those of other tables, and with `byes` also with those who have one.

        It changes the faults by `most` at most, and moves nobody who is to stay still. The best changes them to the fewest, then
        lowers the distance by most, then has the lower numbers: of the table's player, then of the other one.
        """
        swaps = list(self._swaps(position, others, most, still))
        if byes:
            swaps.extend(self._rests(position, most, still))
        if not swaps:
            return None
        least = min(change for change, _one, _two in swaps)
        found = [(one, two) for change, one, two in swaps if change == least]
        if len(found) > 1:
            found.sort(key=lambda pair: (self.distance(*pair), pair))
        return least, *found[0]

    def distance(self, one: int, two: int) -> int:
        """By how much a swap changes the distance."""
        scores, distance = self.costs.scores, self.costs.distance
        if not scores or scores[one] == scores[two]:
            return 0
        change = 0
        for player, other in ((one, two), (two, one)):
            if player in self.at:
                table = self.tables[self.at[player]]
                change += distance([other if each == player else each for each in table]) - distance(table)
        return change

    def swap(self, one: int, two: int) -> None:
        """Swap a player of a table for one of another table, or one with a bye."""
        first, second = self.at.pop(one), self.at.pop(two, None)
        self.tables[first][self.tables[first].index(one)] = two
        other = self.resting if second is None else self.tables[second]
        other[other.index(two)] = one
        self.at[two] = first
        if second is not None:
            self.at[one] = second
        for position in (first, second):
            if position is not None:
                table = self.tables[position]
                self.misfits[position] = self.costs.misfits(table, len(table))
                self.faults[position] = self.costs.faults(table)

    def _swaps(self, position: int, others: Iterable[int], most: int, still: Collection[int]) -> Iterator[Swap]:
        table, costs, pots = self.tables[position], self.costs, self.pots
        positions = [each for each in others if each != position]
        for one in table:
            if one in still:
                continue
            staying = [player for player in table if player != one]
            met = costs.met(one)
            leaving = sum(met.get(player, 0) for player in staying) if met else 0
            for other_position in positions:
                other_table, misfits = (
                    self.tables[other_position],
                    self.misfits[position] + self.misfits[other_position],
                )
                joining = sum(met.get(player, 0) for player in other_table) if met else 0
                for two in other_table:
                    if two in still or (pots is not None and pots[one] != pots[two]):
                        continue
                    met_two = costs.met(two)
                    change = joining - met.get(two, 0) - leaving
                    if met_two:
                        for player in staying:
                            change += met_two.get(player, 0)
                        for player in other_table:
                            change -= met_two.get(player, 0)
                    if change - MISFIT * misfits > most:
                        continue
                    if costs.seats:
                        with_one = [one if player == two else player for player in other_table]
                        change += MISFIT * (
                            costs.misfits([*staying, two], len(table))
                            + costs.misfits(with_one, len(other_table))
                            - misfits
                        )
                    if change <= most:
                        yield change, one, two

    def _rests(self, position: int, most: int, still: Collection[int]) -> Iterator[Swap]:
        """The swaps with players who have a bye, and have had as many before."""
        table, byes = self.tables[position], self.costs.past.byes
        for one in table:
            for two in self.resting:
                if byes[one] == byes[two] and one not in still and two not in still:
                    changed = [two if player == one else player for player in table]
                    change = self.costs.faults(changed) - self.faults[position]
                    if change <= most:
                        yield change, one, two
