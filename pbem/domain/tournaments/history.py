"""What the rounds so far have made of the entrants: past opponents, seats and byes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pbem.domain.tournaments.plan import Entrant, TableResult


@dataclass(slots=True)
class History:
    """The past of all entrants by their numbers.

    `met` counts for each entrant how often they met each other one; `sat` how often they sat in each seat, from 1; `smallest` is
    the size of the smallest table they sat at; `byes` counts rounds that they were in without a table.
    """

    met: dict[int, Counter[int]] = field(default_factory=dict)
    sat: dict[int, Counter[int]] = field(default_factory=dict)
    smallest: dict[int, int] = field(default_factory=dict)
    byes: Counter[int] = field(default_factory=Counter)

    def add(self, tables: Iterable[Sequence[int]], byes: Iterable[int] = ()) -> None:
        """Add a round, or some of its tables."""
        for table in tables:
            for seat, entrant in enumerate(table, 1):
                self.met.setdefault(entrant, Counter()).update(other for other in table if other != entrant)
                self.sat.setdefault(entrant, Counter())[seat] += 1
                self.smallest[entrant] = min(self.smallest.get(entrant, len(table)), len(table))
        self.byes.update(byes)

    def meetings(self, one: int, other: int) -> int:
        """How often two entrants have met."""
        return self.met[one][other] if one in self.met else 0


def rounds(results: Iterable[TableResult], before: int | None = None) -> dict[int, list[TableResult]]:
    """The results of each round that was played, before a round if one is given, in the order of rounds and tables."""
    found: dict[int, list[TableResult]] = {}
    for result in sorted(results, key=lambda each: (each.round, each.table)):
        if before is None or result.round < before:
            found.setdefault(result.round, []).append(result)
    return found


def unseated(entrants: Iterable[Entrant], played: Mapping[int, Sequence[TableResult]]) -> dict[int, tuple[int, ...]]:
    """In each round played, the entrants who were in and sat at no table."""
    everyone, found = tuple(entrants), {}
    for number, tables in played.items():
        seated = {entrant for result in tables for entrant in result.seats}
        found[number] = tuple(each.number for each in everyone if each.is_in(number) and each.number not in seated)
    return found


def history(played: Mapping[int, Sequence[TableResult]], byes: Mapping[int, Sequence[int]]) -> History:
    """The past that these rounds and byes make."""
    past = History()
    for number, tables in played.items():
        past.add((result.seats for result in tables), byes.get(number, ()))
    return past
