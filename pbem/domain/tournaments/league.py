"""A season in divisions: round robin in each, and promotion and relegation into the next season."""

from collections.abc import Sequence
from itertools import pairwise

from pbem.domain.tournaments.plan import Entrant, Plan, Round, TableResult
from pbem.domain.tournaments.pods import pod_round, together
from pbem.domain.tournaments.standings import Standing


def league_round(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], number: int, seed: str
) -> Round:
    """The round's tables in all divisions, the highest first."""
    return together(
        [
            pod_round(
                plan.sizes,
                [each for each in entrants if each.division == division],
                results,
                1,
                plan.rounds,
                number,
                seed,
                f"league/{division}",
            )
            for division in sorted({each.division for each in entrants})
        ]
    )


def divisions_next_season(plan: Plan, lines: Sequence[Standing]) -> dict[int, int]:
    """The division of each entrant in the next season, from the standings of this one.

    The best of each division but the highest move up, and the last of each but the lowest down: `plan.moving` of them, but never
    more than half of the smaller of the two divisions, so that nobody is due to move both ways.
    """
    divisions: dict[int, list[int]] = {}
    for line in lines:
        divisions.setdefault(line.division, []).append(line.entrant)
    order = sorted(divisions)
    found = {line.entrant: line.division for line in lines}
    for upper, lower in pairwise(order):
        moving = min(plan.moving, len(divisions[upper]) // 2, len(divisions[lower]) // 2)
        for entrant in divisions[upper][len(divisions[upper]) - moving :]:
            found[entrant] = lower
        for entrant in divisions[lower][:moving]:
            found[entrant] = upper
    return found
