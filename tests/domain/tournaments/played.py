"""Tournaments played to their end, with results by chance."""

from dataclasses import dataclass
from random import Random

from pbem.domain.tournaments.pairing import Entrant, Plan, Round, TableResult, pair


@dataclass(frozen=True, slots=True)
class Played:
    """A tournament: who took part, the rounds that were made, and their results."""

    entrants: list[Entrant]
    rounds: list[Round]
    results: list[TableResult]


def play(plan: Plan, players: int, luck: Random) -> Played:
    """A tournament without leavers; a table in five has ties."""
    played = Played([Entrant(number, number) for number in range(1, players + 1)], [], [])
    while True:
        made = pair(plan, played.entrants, played.results, len(played.rounds) + 1, "seed")
        if not made.tables:
            return played
        played.rounds.append(made)
        for table, seats in enumerate(made.tables, 1):
            played.results.append(TableResult(len(played.rounds), table, seats, places(len(seats), luck)))


def places(size: int, luck: Random) -> tuple[int, ...]:
    """The places at a table."""
    order = [luck.randrange(size) for _ in range(size)] if luck.random() < 0.2 else luck.sample(range(size), size)
    return tuple(1 + sum(other < mine for other in order) for mine in order)
