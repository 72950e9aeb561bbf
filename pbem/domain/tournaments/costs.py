"""What a table costs: repeated opponents, players without a fair seat, and how far their scores are apart."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.seats import fair_seats, misfits

MISFIT: Final = 3
"""How many repeated opponents a player without a fair seat is as bad as."""

_NOBODY: Final = Counter[int]()


@dataclass(slots=True)
class Costs:
    """Faults of tables, and distances where the faults are equal.

    A table's faults are the number of earlier meetings of its players, and `MISFIT` for each player who is left without a fair seat.
    Its distance is the sum, over all pairs, of the square of the difference of their scores. Where `seats` is false, seats are
    given later and cost nothing here.
    """

    past: History
    seats: bool = True
    scores: Mapping[int, int] = field(default_factory=dict)
    _masks: dict[tuple[int, int], int] = field(default_factory=dict)
    _misfits: dict[tuple[int, ...], int] = field(default_factory=dict)

    def met(self, player: int) -> Counter[int]:
        """How often a player has met each other one."""
        return self.past.met.get(player, _NOBODY)

    def repeats(self, table: Sequence[int]) -> int:
        """The earlier meetings of a table's players."""
        found = 0
        for position, one in enumerate(table):
            met = self.met(one)
            if met:
                for other in table[position + 1 :]:
                    found += met.get(other, 0)
        return found

    def misfits(self, table: Sequence[int], size: int) -> int:
        """How many of these players cannot have a fair seat at a table of a size."""
        if not self.seats:
            return 0
        masks = tuple(sorted([self._mask(player, size) for player in table]))
        found = self._misfits.get(masks)
        if found is None:
            found = self._misfits[masks] = misfits(masks)
        return found

    def added(self, table: Sequence[int], player: int, size: int) -> int:
        """The faults that a player adds to the first players of a table of a size."""
        met = self.met(player)
        repeats = sum(met.get(other, 0) for other in table) if met else 0
        if not self.seats:
            return repeats
        return repeats + MISFIT * (self.misfits([*table, player], size) - self.misfits(table, size))

    def faults(self, table: Sequence[int]) -> int:
        """The faults of a table."""
        return self.repeats(table) + MISFIT * self.misfits(table, len(table))

    def distance(self, table: Sequence[int]) -> int:
        """The distance of a table."""
        if not self.scores:
            return 0
        scores = [self.scores[player] for player in table]
        return len(scores) * sum(score * score for score in scores) - sum(scores) ** 2

    def _mask(self, player: int, size: int) -> int:
        found = self._masks.get((player, size))
        if found is None:
            found = self._masks[player, size] = fair_seats(self.past, player, size)
        return found
