"""Round robin in pods: in a pod everyone meets everyone as evenly as the tables allow, over the rounds of a stage."""

from collections.abc import Sequence
from fractions import Fraction

from pbem.domain.tournaments.history import history, rounds, unseated
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Entrant, Plan, Round, Sizes, TableResult
from pbem.domain.tournaments.round_robin import even_rounds, relabelled
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
    started = [each for each in members if each.is_in(first)]
    if len(started) == len(members) and all(each.is_in(number) for each in members):
        order = drawn(seed, label, (each.number for each in started))
        made = [relabelled(each, order) for each in even_rounds(len(order), sizes, last - first + 1)]
        if all(
            sorted(result.seats for result in played.get(first + before, ())) == sorted(made[before].tables)
            for before in range(number - first)
        ):
            return made[number - first]
    past = history(played, unseated(members, played))
    now = [each.number for each in members if each.is_in(number)]
    return by_score(now, dict.fromkeys(now, Fraction()), past, sizes, seed, f"{label}/{number}")
