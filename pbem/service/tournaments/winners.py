"""The winners of a tournament that is over: noted at its end and at each correction since, for lists, which work out no standings."""

import json

from pbem.domain.tournaments import pairing
from pbem.service.tournaments.plans import entrants_of, plan_of, results_of
from pbem.store import tournaments
from pbem.store.database import Tx
from pbem.store.schema import TournamentRow


def note(tx: Tx, row: TournamentRow) -> None:
    """Note who has won a tournament, which is locked: the first of the standings, in a league of the highest division."""
    entrants, results = tournaments.entrants(tx, row.id), results_of(tournaments.tables(tx, row.id))
    lines = pairing.standings(plan_of(row), entrants_of(entrants), results, row.seed)
    first = [line.entrant for line in lines if line.place == 1 and line.division == 1]
    tournaments.change(tx, row.id, winners=json.dumps(first))
