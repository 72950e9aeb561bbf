"""Rounds that were made beforehand, with entrants in place of numbers."""

from collections.abc import Mapping, Sequence

from pbem.domain.tournaments.costs import Costs
from pbem.domain.tournaments.history import History
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Entrant, Round, Sizes, TableResult
from pbem.domain.tournaments.round_robin import even_rounds, relabelled


def planned(members: Sequence[Entrant], sizes: Sizes, first: int, last: int, seed: str, label: str) -> list[Round]:
    """The rounds from the first to the last for these entrants; drawn lots say who is which number."""
    order = drawn(seed, label, (each.number for each in members))
    return [relabelled(each, order) for each in even_rounds(len(order), sizes, last - first + 1)]


def next_planned(
    rounds: Sequence[Round],
    members: Sequence[Entrant],
    played: Mapping[int, Sequence[TableResult]],
    first: int,
    number: int,
    scores: Mapping[int, int] | None = None,
) -> Round | None:
    """The planned round to play now, or None where the plan no longer fits.

    It fits while all members are in, from the first round to this one, and every round so far was one of the plan. The first that
    is left is next. With scores, and if nobody has a bye, it is the one that brings equal scores together: with the least distance.
    """
    if not all(each.is_in(each_round) for each in members for each_round in range(first, number + 1)):
        return None
    left = list(rounds)
    for before in range(first, number):
        tables = sorted(result.seats for result in played.get(before, ()))
        position = next((place for place, each in enumerate(left) if sorted(each.tables) == tables), None)
        if position is None:
            return None
        del left[position]
    if not left:
        return None
    if scores is None or left[0].byes:
        return left[0]
    costs = Costs(History(), scores=scores)
    return min(left, key=lambda each: sum(costs.distance(table) for table in each.tables))
