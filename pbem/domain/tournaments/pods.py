"""Round robin in pods: in a pod everyone meets everyone as evenly as the tables allow, over the rounds of a stage."""

from collections.abc import Sequence

from pbem.domain.tournaments.history import history, rounds, unseated
from pbem.domain.tournaments.plan import Entrant, Plan, Round, Sizes, TableResult
from pbem.domain.tournaments.planned import next_planned, planned
from pbem.domain.tournaments.stages import stages
from pbem.domain.tournaments.swiss import by_score


def pods_round(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], number: int, seed: str
) -> Round:
    """The round's tables in all pods of its stage."""
    stage = stages(plan, entrants, results, number, seed)[-1]
    if not stage.first <= number <= stage.last:
        return Round(())
    members = {each.number: each for each in entrants}
    pods = [
        pod_round(
            plan.sizes,
            [members[entrant] for entrant in group],
            results,
            stage.first,
            stage.last,
            number,
            seed,
            f"pods/{stage.number}/{position}",
        )
        for position, group in enumerate(stage.groups, 1)
    ]
    return together(pods)


def together(rounds_of_pods: Sequence[Round]) -> Round:
    """One round of several."""
    return Round(
        tuple(table for each in rounds_of_pods for table in each.tables),
        tuple(sorted(entrant for each in rounds_of_pods for entrant in each.byes)),
    )


def pod_round(
    sizes: Sizes,
    members: Sequence[Entrant],
    results: Sequence[TableResult],
    first: int,
    last: int,
    number: int,
    seed: str,
    label: str,
) -> Round:
    """A round of a pod that plays from the first round to the last.

    The rounds were made beforehand for all who were in at the start, and drawn lots say who is who in them. Once someone leaves or
    comes late, each round is made when it comes, from those who are in, as in a Swiss tournament without scores.
    """
    inside = {each.number for each in members}
    played = {
        each: [result for result in tables if inside.issuperset(result.seats)]
        for each, tables in rounds(results, number).items()
        if each >= first
    }
    made = planned(members, sizes, first, last, seed, label)
    found = next_planned(made, members, played, first, number)
    if found is not None:
        return found
    now = [each.number for each in members if each.is_in(number)]
    past = history(played, unseated(members, played))
    return by_score(now, dict.fromkeys(now, 0), past, sizes, seed, f"{label}/{number}")
