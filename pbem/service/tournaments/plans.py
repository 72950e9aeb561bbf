"""What pairing reads of a tournament: its plan, entrants and results, from their rows."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from pbem.domain.tournaments.plan import Entrant, Plan, Sizes, TableResult
from pbem.store.schema import EntrantRow, RoundTableRow, TournamentRow


def plan_text(plan: Plan) -> str:
    """A plan as it is stored, and as it stands in a tournament's file."""
    return json.dumps(asdict(plan), sort_keys=True)


def read_plan(text: str) -> Plan:
    """A stored plan. Raises ValueError, TypeError or KeyError if it is none."""
    fields: dict[str, Any] = json.loads(text)
    sizes = fields.pop("sizes")
    listed: dict[str, Any] = {
        "tie_breaks": tuple(fields.pop("tie_breaks")),
        "sizes": Sizes(sizes["preferred"], tuple(sizes["allowed"])),
    }
    return Plan(**listed, **fields)


def plan_of(row: TournamentRow) -> Plan:
    """The plan of a tournament."""
    return read_plan(row.plan)


def entrants_of(rows: Iterable[EntrantRow]) -> tuple[Entrant, ...]:
    """Those who have taken part in a round, or will, as pairing knows them."""
    return tuple(
        Entrant(
            number=row.number,
            rank=row.rank,
            since=row.since,
            until=row.until,
            division=row.division,
            away=tuple(json.loads(row.away)),
        )
        for row in rows
        if row.rank and (row.until is None or row.until >= row.since)
    )


def results_of(rows: Iterable[RoundTableRow], before: int | None = None) -> tuple[TableResult, ...]:
    """The results there are, as last corrected; or those that the pairing of one round was made from."""
    return tuple(
        TableResult(round=row.round, table=row.number, seats=seats_of(row), places=places)
        for row in rows
        if (before is None or row.round < before) and (places := places_of(row, before)) is not None
    )


def results_so_far(rows: Sequence[RoundTableRow], before: int | None = None) -> tuple[TableResult, ...]:
    """What the standings are made from: the results there are and, in rounds that have some, the tables that are still played."""
    found = results_of(rows, before)
    begun = {each.round for each in found}
    playing = [row for row in rows if row.places is None and row.round in begun]
    return (*found, *(TableResult(row.round, row.number, seats_of(row), ()) for row in playing))


def places_of(row: RoundTableRow, before: int | None = None) -> tuple[int, ...] | None:
    """The places at a table by seat, with the corrections there were before a round opened; None while it is played."""
    if row.places is None:
        return None
    places = [json.loads(row.places)]
    places += [each["places"] for each in json.loads(row.corrections) if before is None or each["in"] < before]
    return tuple(places[-1])


def in_order_of_seeds(seeds: Sequence[int], numbers: Iterable[int]) -> list[int]:
    """Entrants in the order that a host gave them; those who signed up since come last, in the order of signing up."""
    return sorted(numbers, key=lambda number: (seeds.index(number) if number in seeds else len(seeds), number))


def seats_of(row: RoundTableRow) -> tuple[int, ...]:
    """The numbers of the entrants at a table, in the order of seats."""
    return tuple(json.loads(row.seats))
