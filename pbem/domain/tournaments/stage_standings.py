"""Standings where some go on and others don't: first by the stage that an entrant came to."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from pbem.domain.tournaments.history import rounds
from pbem.domain.tournaments.plan import Entrant, Plan, TableResult
from pbem.domain.tournaments.stages import stage_byes, stage_record, stages
from pbem.domain.tournaments.standings import Standing, Values, ranked, tie_break_rules
from pbem.domain.tournaments.tie_breaks import TIE_BREAKS, Record, record


def stage_standings(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], seed: str
) -> tuple[Standing, ...]:
    """Everyone by the last stage they came to, their points in it, the opponents they beat in it, and the tie-breaks."""
    played = rounds(results)
    begun = stages(plan, entrants, results, max(played, default=0), seed)
    past = record(plan, played, stage_byes(begun, entrants, played), seed)
    came_to = {each.number: 0 for each in entrants}
    for stage in begun:
        came_to.update(dict.fromkeys(stage.entrants, stage.number))
    records = {stage.number: stage_record(plan, entrants, results, stage, seed) for stage in begun}

    def in_stage(value: Callable[[Record, int], Fraction]) -> Callable[[Sequence[int]], Values]:
        return lambda group: {
            entrant: value(records[came_to[entrant]], entrant) if came_to[entrant] else Fraction() for entrant in group
        }

    rules = [
        ("stage", lambda group: {entrant: Fraction(came_to[entrant]) for entrant in group}),
        ("stage_points", in_stage(lambda stage, entrant: stage.total(entrant))),
        ("stage_places", in_stage(lambda stage, entrant: TIE_BREAKS["places"](stage, [entrant])[entrant])),
        *tie_break_rules(plan, past),
    ]
    lines = ranked([each.number for each in entrants], rules, past)
    return tuple(replace(line, stage=came_to[line.entrant]) for line in lines)
