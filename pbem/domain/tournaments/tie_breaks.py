"""What decides between entrants with equally many points: rules by name, asked in the order of the plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from pbem.domain.tournaments import points
from pbem.domain.tournaments.lots import lot
from pbem.domain.tournaments.plan import Plan, TableResult


@dataclass(frozen=True, slots=True)
class Record:
    """What was played, as tie-breaks ask for it: points by entrant and round, the results, and the public seed."""

    seed: str
    results: tuple[TableResult, ...]
    by_round: Mapping[int, Mapping[int, Fraction]]
    by_entrant: Mapping[int, Sequence[TableResult]]
    totals: Mapping[int, Fraction]

    def total(self, entrant: int) -> Fraction:
        """An entrant's points."""
        return self.totals.get(entrant, Fraction())

    def tables(self, entrant: int) -> Sequence[TableResult]:
        """The tables of an entrant."""
        return self.by_entrant.get(entrant, ())


def record(
    plan: Plan, played: Mapping[int, Sequence[TableResult]], byes: Mapping[int, Sequence[int]], seed: str
) -> Record:
    """The record of these rounds and byes."""
    by_round: dict[int, dict[int, Fraction]] = {}
    by_entrant: dict[int, list[TableResult]] = {}
    for number, tables in played.items():
        for result in (each for each in tables if each.places):
            for entrant, gained in points.earned(plan, result).items():
                by_round.setdefault(entrant, {})[number] = gained
                by_entrant.setdefault(entrant, []).append(result)
        for entrant in byes.get(number, ()):
            by_round.setdefault(entrant, {})[number] = points.bye(plan)
    everything = tuple(result for tables in played.values() for result in tables if result.places)
    totals = {entrant: sum(gained.values(), Fraction()) for entrant, gained in by_round.items()}
    return Record(seed, everything, by_round, by_entrant, totals)


def opponents(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """The mean of the points of the opponents they met, each as often as they met."""
    found = {}
    for entrant in group:
        met = [past.total(other) for result in past.tables(entrant) for other in result.seats if other != entrant]
        found[entrant] = sum(met, Fraction()) / len(met) if met else Fraction()
    return found


def wins(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """The first places; one shared by several counts as that part of one for each."""
    return {
        entrant: sum(
            (Fraction(1, result.places.count(1)) for result in past.tables(entrant) if result.place_of(entrant) == 1),
            Fraction(),
        )
        for entrant in group
    }


def head_to_head(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """How often they finished ahead of the others of the group, less how often behind; nothing unless all of them have met."""
    balance, met = dict.fromkeys(group, Fraction()), set[tuple[int, int]]()
    for result in past.results:
        there = [entrant for entrant in result.seats if entrant in balance]
        for one in there:
            for other in there:
                if one != other:
                    met.add((one, other))
                    this, that = result.place_of(one), result.place_of(other)
                    balance[one] += (this < that) - (this > that)
    return balance if len(met) == len(group) * (len(group) - 1) else dict.fromkeys(group, Fraction())


def later_rounds(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """The points of each round times its number: points won late count more."""
    return {
        entrant: sum((number * gained for number, gained in past.by_round.get(entrant, {}).items()), Fraction())
        for entrant in group
    }


def places(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """The shares of opponents beaten at their tables."""
    return {
        entrant: sum((points.beaten(result)[entrant] for result in past.tables(entrant)), Fraction())
        for entrant in group
    }


def lots(past: Record, group: Sequence[int]) -> dict[int, Fraction]:
    """A draw from the public seed: the entrant drawn first has as many as there are in the group."""
    order = sorted(group, key=lambda entrant: (lot(past.seed, "tie", entrant), entrant))
    return {entrant: Fraction(len(order) - position) for position, entrant in enumerate(order)}


TIE_BREAKS: Final[Mapping[str, Callable[[Record, Sequence[int]], dict[int, Fraction]]]] = MappingProxyType(
    {
        "opponents": opponents,
        "wins": wins,
        "head_to_head": head_to_head,
        "later_rounds": later_rounds,
        "places": places,
        "lots": lots,
    }
)
"""The tie-breaks by name. Each gives the entrants of a group who are equal so far a value; the higher comes first."""
