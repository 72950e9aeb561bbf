"""The door to tournaments: the tables of a round, the standings, and when it is over."""

from collections.abc import Sequence
from dataclasses import replace

from pbem.domain.tournaments.history import rounds, unseated
from pbem.domain.tournaments.knockout import knockout_round
from pbem.domain.tournaments.league import divisions_next_season, league_round
from pbem.domain.tournaments.plan import FORMATS, Entrant, Format, Plan, Round, Sizes, Table, TableResult
from pbem.domain.tournaments.pods import pods_round
from pbem.domain.tournaments.points import BYES, SCALES
from pbem.domain.tournaments.stage_standings import stage_standings
from pbem.domain.tournaments.stages import final_size, going_on, group_sizes
from pbem.domain.tournaments.standings import Standing, ranked, tie_break_rules, total
from pbem.domain.tournaments.swiss import swiss_round
from pbem.domain.tournaments.table_sizes import table_sizes
from pbem.domain.tournaments.tie_breaks import TIE_BREAKS, record

__all__ = [
    "BYES",
    "FORMATS",
    "SCALES",
    "TIE_BREAKS",
    "Entrant",
    "Format",
    "Plan",
    "Round",
    "Sizes",
    "Standing",
    "Table",
    "TableResult",
    "divisions_next_season",
    "is_over",
    "pair",
    "rounds_of",
    "standings",
    "table_sizes",
]


def pair(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], round_number: int, seed: str
) -> Round:
    """The tables of a round in seat order, and who has a bye, from the results of all rounds before it.

    The same input gives the same round, whatever the order of entrants and results. A table that ended without a result counts as
    one where all tied: give it as such. After the last round of a tournament the round is empty. Who came or left since this round
    makes no difference, so it can be made again at any time.
    """
    everyone = sorted((each.as_of(round_number) for each in entrants if each.since <= round_number), key=_number)
    if plan.format == "knockout":
        return knockout_round(plan, everyone, results, round_number, seed)
    if plan.format == "pods":
        return pods_round(plan, everyone, results, round_number, seed)
    if round_number > plan.rounds:
        return Round(())
    if plan.format == "league":
        return league_round(plan, everyone, results, round_number, seed)
    return swiss_round(plan, everyone, results, round_number, seed)


def standings(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], seed: str
) -> tuple[Standing, ...]:
    """Everyone who ever took part, from the first place to the last; in a league, division after division.

    Where some go on and others don't, those who came to a later stage are ahead; of one stage, those with more points in it, then
    with more opponents beaten in it. Then, as in all formats, the tie-breaks of the plan decide.
    """
    everyone, played = sorted(entrants, key=_number), rounds(results)
    if plan.format in ("pods", "knockout"):
        return stage_standings(plan, everyone, results, seed)
    past = record(plan, played, unseated(everyone, played), seed)
    rules = [total(past), *tie_break_rules(plan, past)]
    return tuple(
        replace(line, division=division)
        for division in sorted({each.division for each in everyone})
        for line in ranked([each.number for each in everyone if each.division == division], rules, past)
    )


def rounds_of(plan: Plan, number_of_entrants: int) -> int:
    """The number of rounds with this number of entrants, if nobody leaves."""
    if plan.format in ("swiss", "league"):
        return plan.rounds
    count, alive = 0, number_of_entrants
    while not final_size(plan, alive):
        groups = group_sizes(plan, alive)
        if not groups:
            return count
        count += 1 if plan.format == "knockout" else plan.rounds
        alive = going_on(plan, groups, alive - sum(groups))
    return count + 1


def is_over(plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], seed: str) -> bool:
    """Whether no round follows those that were played. Give only whole rounds."""
    next_round = max((result.round for result in results), default=0) + 1
    return not pair(plan, entrants, results, next_round, seed).tables


def _number(entrant: Entrant) -> int:
    return entrant.number
