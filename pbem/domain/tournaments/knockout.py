"""Single elimination of tables: the best of each table go on, until one table is left."""

from collections.abc import Sequence

from pbem.domain.tournaments.history import history, rounds
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Entrant, Plan, Round, TableResult
from pbem.domain.tournaments.seats import seat_orders
from pbem.domain.tournaments.stages import stages


def knockout_round(
    plan: Plan, entrants: Sequence[Entrant], results: Sequence[TableResult], number: int, seed: str
) -> Round:
    """The round's tables: the strongest spread over them, and those who have met kept apart where possible.

    Byes go to the strongest of those with the fewest. Seats are the fairest there are for the players of each table.
    """
    stage = stages(plan, entrants, results, number, seed)[-1]
    if stage.first != number:
        return Round(())
    past = history(rounds(results, number), {})
    return Round(
        seat_orders(past, (drawn(seed, f"knockout/{number}/seats", group) for group in stage.groups)), stage.byes
    )
