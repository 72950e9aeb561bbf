"""Tables by score, meeting new opponents: the Swiss system for tables of any size."""

from collections.abc import Mapping, Sequence
from math import lcm

from pbem.domain.tournaments.costs import Costs
from pbem.domain.tournaments.filling import filled
from pbem.domain.tournaments.history import History, history, rounds, unseated
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Entrant, Plan, Round, Sizes, TableResult
from pbem.domain.tournaments.planned import next_planned, planned
from pbem.domain.tournaments.round_robin import FEW
from pbem.domain.tournaments.seats import seat_orders
from pbem.domain.tournaments.swaps import swapped
from pbem.domain.tournaments.table_sizes import table_sizes
from pbem.domain.tournaments.tie_breaks import record


def swiss_round(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], number: int, seed: str
) -> Round:
    """A round by the points so far.

    With up to `FEW` entrants all rounds are made beforehand, as for a pod, because each choice of opponents leaves few for later;
    the points then say which of them is next. Once someone leaves or comes late, or with more entrants, `by_score` makes it.
    """
    played = rounds(results, number)
    byes = unseated(entrants, played)
    past, earned = history(played, byes), record(plan, played, byes, seed)
    points = {each.number: earned.total(each.number) for each in entrants}
    scale = lcm(*(each.denominator for each in points.values())) if points else 1
    scores = {entrant: int(each * scale) for entrant, each in points.items()}
    if len(entrants) <= FEW:
        made = planned(entrants, plan.sizes, 1, plan.rounds, seed, "swiss")
        found = next_planned(made, entrants, played, 1, number, scores)
        if found is not None:
            return found
    now = [each.number for each in entrants if each.is_in(number)]
    return by_score(now, scores, past, plan.sizes, seed, f"swiss/{number}")


def by_score(
    players: Sequence[int], scores: Mapping[int, int], past: History, sizes: Sizes, seed: str, label: str
) -> Round:
    """A round for these players by their scores.

    They are ordered by score, and by lot where it is equal. Byes go to those with the fewest so far, from the last in that order.
    The others fill the tables from the top, and then swap where that mends faults or brings scores closer together.
    """
    order = sorted(drawn(seed, label, players), key=lambda player: -scores[player])
    seating = table_sizes(len(order), sizes)
    queue = sorted(enumerate(order), key=lambda line: (past.byes[line[1]], -line[0]))
    byes = [player for _position, player in queue[: len(order) - sum(seating)]]
    costs = Costs(past, scores={player: scores[player] for player in players})
    tables = filled([player for player in order if player not in byes], seating, costs)
    tables, byes = swapped(tables, costs, resting=byes)
    return Round(seat_orders(past, [drawn(seed, f"{label}/seats", table) for table in tables]), tuple(sorted(byes)))
