"""Coming in after the first round, where the format allows it: from the waiting list, invited by the host, or back as a no-show.

Someone who comes in plays from the next round on. Rounds that they were not in stay without them.
"""

import json
from collections.abc import Collection
from typing import Any, Final

from pbem.domain.states import EntrantStatus, TournamentStatus
from pbem.service.tournaments.plans import plan_of
from pbem.store import tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow, TournamentRow

FORMATS: Final = ("swiss", "league")
"""Formats in which someone can take a free place after the first round."""


def takes_some(row: TournamentRow) -> bool:
    """Whether someone could come in now, in a round that is not the last."""
    plan = plan_of(row)
    return row.status == TournamentStatus.PLAYING and plan.format in FORMATS and 0 < row.round < plan.rounds


def may_come(tx: Tx, row: TournamentRow, person_id: int, earlier: EntrantRow | None) -> bool:
    """Whether this person can come in now: they missed a round, or the host has invited them since the start."""
    if not takes_some(row):
        return False
    if earlier is not None and earlier.status == EntrantStatus.ABSENT:
        return True
    invitations = tournaments.sign_ups(tx, row.id)
    return any(each.person_id == person_id and each.typed is not None and each.round for each in invitations)


def is_full(row: TournamentRow, entrants: Collection[EntrantRow]) -> bool:
    """Whether someone who signs up now must wait. After the start, others who wait come first."""
    statuses = [each.status for each in entrants]
    waits = row.status == TournamentStatus.PLAYING and EntrantStatus.WAITING in statuses
    return waits or statuses.count(EntrantStatus.IN) >= row.most


def from_next_round(row: TournamentRow, entrant: EntrantRow) -> dict[str, Any]:
    """The columns of an entrant who takes a place now."""
    if not entrant.rank or entrant.until is None:
        return {"status": EntrantStatus.IN, "since": row.round + 1, "until": None}
    away = [*json.loads(entrant.away), *range(entrant.until + 1, row.round + 1)]
    return {"status": EntrantStatus.IN, "until": None, "away": json.dumps(away)}
