"""Formats in which some go on and others don't: stages of groups, until one table is left.

A knockout is this with tables for groups and one round a stage; pods are this with several rounds a stage.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pbem.domain.tournaments.history import History, history, rounds, unseated
from pbem.domain.tournaments.plan import Entrant, Plan, Table, TableResult
from pbem.domain.tournaments.seeding import spread
from pbem.domain.tournaments.standings import order, tie_break_rules, total
from pbem.domain.tournaments.table_sizes import byes, table_sizes
from pbem.domain.tournaments.tie_breaks import TIE_BREAKS, Record, record


@dataclass(frozen=True, slots=True)
class Stage:
    """Some rounds of groups. `byes` are entrants who go on without a table. `final` is a stage of one table and one round."""

    number: int
    first: int
    last: int
    groups: tuple[Table, ...]
    byes: Table = ()
    final: bool = False

    @property
    def entrants(self) -> Table:
        """All who take part in it."""
        return tuple(sorted((*(entrant for group in self.groups for entrant in group), *self.byes)))


def stages(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], upto: int, seed: str
) -> list[Stage]:
    """The stages that begin in or before a round, by the results of the rounds before them.

    A result that is corrected once the next stage has begun changes nothing there: those who were seated in it are in it.
    """
    ranks = {each.number: each.rank for each in entrants}
    alive = sorted((each.number for each in entrants if each.is_in(1)), key=ranks.__getitem__)
    found: list[Stage] = []
    rested = Counter[int]()
    first = 1
    while True:
        stage = _stage(plan, alive, len(found) + 1, first, history(rounds(results, first), {}), rested)
        stage = _as_played(stage, rounds(results, upto))
        found.append(stage)
        if stage.final or stage.last >= upto or not stage.groups:
            return found
        rested.update(stage.byes)
        first = stage.last + 1
        going = set(_going_on(plan, entrants, results, stage, first, seed))
        going |= {each.number for each in entrants if stage.first < each.since <= first and each.is_in(first)}
        alive = sorted(going, key=ranks.__getitem__)


def stage_byes(
    begun: Sequence[Stage], entrants: Sequence[Entrant], played: Mapping[int, Sequence[TableResult]]
) -> dict[int, Table]:
    """In each round played, the entrants of its stage who sat at no table."""
    found = unseated(entrants, played)
    return {
        number: tuple(entrant for entrant in resting if entrant in stage.entrants)
        for number, resting in found.items()
        for stage in begun
        if stage.first <= number <= stage.last
    }


def final_size(plan: Plan, alive: int) -> bool:
    """Whether so many entrants are the final table."""
    return alive in plan.sizes.allowed


def group_sizes(plan: Plan, alive: int) -> tuple[int, ...]:
    """The sizes of a stage's groups: tables in a knockout, else pods that differ by one entrant at most.

    The number of pods is that with which the fewest have byes in a round; of those the one closest to the pod size, then the
    larger.
    """
    if plan.format == "knockout":
        return table_sizes(alive, plan.sizes)
    below = max(1, alive // plan.pod_size)
    choices = [
        tuple(alive // count + (position < alive % count) for position in range(count))
        for count in (below, below + 1)
        if alive // count >= plan.sizes.smallest
    ]
    return min(
        choices,
        key=lambda pods: (
            sum(byes(size, plan.sizes) for size in pods),
            abs(alive - len(pods) * plan.pod_size),
            -len(pods),
        ),
        default=(),
    )


def going_on(plan: Plan, groups: Sequence[int], resting: int) -> int:
    """How many entrants go on from groups of these sizes."""
    sizes = plan.sizes
    if len(groups) == 1 and not resting and plan.format == "pods":
        return sizes.preferred if groups[0] > sizes.preferred else max(s for s in sizes.allowed if s < groups[0])
    return max(plan.advance * len(groups) + resting, sizes.smallest)


def _stage(plan: Plan, alive: list[int], number: int, first: int, past: History, rested: Counter[int]) -> Stage:
    if final_size(plan, len(alive)):
        return Stage(number, first, first, (tuple(alive),), final=True)
    sizes = group_sizes(plan, len(alive))
    resting = sorted(alive, key=lambda each: rested[each])[: len(alive) - sum(sizes)]
    playing = [each for each in alive if each not in resting]
    last = first if plan.format == "knockout" else first + plan.rounds - 1
    groups = tuple(map(tuple, spread(playing, sizes, past)))
    return Stage(number, first, last, groups, tuple(sorted(resting)))


def _as_played(stage: Stage, played: Mapping[int, Sequence[TableResult]]) -> Stage:
    """The stage with the entrants who were seated in it, where they are others than its results so far would have made them."""
    tables = [set(result.seats) for number in range(stage.first, stage.last + 1) for result in played.get(number, ())]
    if all(any(table.issubset(group) for group in stage.groups) for table in tables):
        return stage
    groups: list[set[int]] = []
    for table in tables:
        apart = [group for group in groups if group.isdisjoint(table)]
        groups = [*apart, table.union(*(group for group in groups if not group.isdisjoint(table)))]
    seated = set().union(*groups)
    return replace(
        stage,
        groups=tuple(tuple(sorted(group)) for group in groups),
        byes=tuple(entrant for entrant in stage.byes if entrant not in seated),
    )


def _going_on(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], stage: Stage, then: int, seed: str
) -> list[int]:
    """Who goes on: the best of each group who are still in, those with byes, and more of the best where a table isn't filled."""
    still = {each.number for each in entrants if each.is_in(then)}
    past = stage_record(plan, entrants, results, stage, seed)
    orders = [[each for each in _stage_order(plan, past, group) if each in still] for group in stage.groups]
    many = going_on(plan, tuple(len(group) for group in stage.groups), len(stage.byes))
    each_group = plan.advance if len(stage.groups) > 1 or plan.format == "knockout" else many
    going = [each for ranking in orders for each in ranking[:each_group]]
    going += [each for each in stage.byes if each in still]
    left = [each for ranking in orders for each in ranking[each_group:]]
    missing = max(0, plan.sizes.smallest - len(going))
    return going + _stage_order(plan, past, left)[:missing]


def _stage_order(plan: Plan, past: Record, group: Sequence[int]) -> list[int]:
    """Some entrants of a stage from the best to the last: by their points in it, by opponents beaten, then by the tie-breaks."""
    places = ("places", lambda among: TIE_BREAKS["places"](past, among))
    return order(group, [total(past), places, *tie_break_rules(plan, past)], past)


def stage_record(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], stage: Stage, seed: str
) -> Record:
    """The record of a stage alone."""
    played = {number: tables for number, tables in rounds(results).items() if stage.first <= number <= stage.last}
    return record(plan, played, stage_byes([stage], entrants, played), seed)
