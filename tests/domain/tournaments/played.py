"""Tournaments played to their end, with results by chance, and what is counted in them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from pbem.domain.tournaments.pairing import Entrant, Plan, Round, TableResult, pair


@dataclass(frozen=True, slots=True)
class Played:
    """A tournament: who took part, the rounds that were made, and their results."""

    entrants: list[Entrant]
    rounds: list[Round]
    results: list[TableResult]


def play(plan: Plan, players: int, luck: Random, *, moving: bool = False) -> Played:
    """A tournament; a table in five has ties. With `moving`, entrants leave, and others come late."""
    played = Played([Entrant(number, number) for number in range(1, players + 1)], [], [])
    while True:
        number = len(played.rounds) + 1
        made = pair(plan, played.entrants, played.results, number, "seed")
        if not made.tables:
            return played
        played.rounds.append(made)
        for table, seats in enumerate(made.tables, 1):
            played.results.append(TableResult(number, table, seats, places(len(seats), luck)))
        if moving and len(played.rounds) > 20:
            raise AssertionError("It never ends.")
        for position, each in enumerate(played.entrants if moving else []):
            if each.until is None and luck.random() < 0.07:
                played.entrants[position] = replace(each, until=number)
        if moving and number < 4 and luck.random() < 0.5:
            played.entrants.append(Entrant(len(played.entrants) + 1, len(played.entrants) + 1, since=number + 1))


def places(size: int, luck: Random) -> tuple[int, ...]:
    """The places of a table, with ties or without."""
    order = [luck.randrange(size) for _ in range(size)] if luck.random() < 0.2 else luck.sample(range(size), size)
    return tuple(1 + sum(other < mine for other in order) for mine in order)


def repeats(rounds: Iterable[Round]) -> int:
    """How many meetings were not the first of the two."""
    met = Counter(frozenset(pair) for each in rounds for table in each.tables for pair in combinations(table, 2))
    return sum(times - 1 for times in met.values())


def seat_gap(rounds: Sequence[Round]) -> int:
    """The largest difference between how often someone sat in one seat and in another, of the seats that all their tables had."""
    tables = [table for each in rounds for table in each.tables]
    sat = Counter((entrant, seat) for table in tables for seat, entrant in enumerate(table))
    smallest = dict[int, int]()
    for table in tables:
        smallest.update((entrant, min(len(table), smallest.get(entrant, len(table)))) for entrant in table)
    counts = [[sat[entrant, seat] for seat in range(size)] for entrant, size in smallest.items()]
    return max((max(each) - min(each) for each in counts), default=0)
