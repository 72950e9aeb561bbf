"""Who is ahead, by what, and by how much."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pbem.domain.tournaments.plan import Plan
from pbem.domain.tournaments.tie_breaks import TIE_BREAKS, Record

Values = dict[int, Fraction]
Rule = tuple[str, Callable[[Sequence[int]], Values]]
"""The name of what is compared, and its values for a group of entrants who are equal so far; the higher comes first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant's line. Ties that nothing parts share a place.

    `values` are what was compared after `first`, in order: the tie-breaks by name, up to the one that parted this entrant from all
    others. `ahead_by` is what puts them ahead of the next line: "points", the name of a tie-break, "stage" for those who came
    further, "division", or None where they are tied with the next or are the last. `by_round` are the points of each round.
    """

    place: int
    entrant: int
    points: Fraction
    values: tuple[tuple[str, Fraction], ...] = ()
    ahead_by: str | None = None
    division: int = 1
    stage: int = 0
    by_round: tuple[tuple[int, Fraction], ...] = ()


def tie_break_rules(plan: Plan, past: Record) -> list[Rule]:
    """The tie-breaks of a plan as rules."""

    def rule(name: str) -> Rule:
        return name, lambda group: TIE_BREAKS[name](past, group)

    return [rule(name) for name in plan.tie_breaks]


def total(past: Record) -> Rule:
    """The rule of most points."""
    return "points", lambda group: {entrant: past.total(entrant) for entrant in group}


def ranked(entrants: Sequence[int], rules: Sequence[Rule], past: Record) -> tuple[Standing, ...]:
    """The entrants in order by rules, the first rule first."""
    lines: list[Standing] = []
    values: dict[int, list[tuple[str, Fraction]]] = {entrant: [] for entrant in entrants}

    def part(group: list[int], depth: int, then: str | None) -> None:
        """Add the lines of a group; `then` is what puts its last ahead of the next."""
        if len(group) == 1 or depth == len(rules):
            for position, entrant in enumerate(group, 1):
                lines.append(
                    Standing(
                        place=1 + len(lines) - (position - 1),
                        entrant=entrant,
                        points=past.total(entrant),
                        values=tuple(values[entrant]),
                        ahead_by=then if position == len(group) else None,
                        by_round=tuple(past.by_round.get(entrant, {}).items()),
                    )
                )
            return
        name, rule = rules[depth]
        found = rule(group)
        for entrant in group:
            values[entrant].append((name, found[entrant]))
        levels = sorted({found[entrant] for entrant in group}, reverse=True)
        for level in levels:
            part(
                [entrant for entrant in group if found[entrant] == level],
                depth + 1,
                then if level == levels[-1] else name,
            )

    if entrants:
        part(sorted(entrants), 0, None)
    return tuple(lines)


def order(entrants: Sequence[int], rules: Sequence[Rule], past: Record) -> list[int]:
    """The entrants from the first to the last; the draw decides where nothing else does."""
    last: Rule = ("lots", lambda group: TIE_BREAKS["lots"](past, group))
    return [line.entrant for line in ranked(entrants, [*rules, last], past)]
