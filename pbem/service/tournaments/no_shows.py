"""No-shows: players who made no choice of their own in their whole game of a round. They are out from the next round on.

Nobody is one who could not have known of their turns, or had no time for them: because email to them failed, because of a vacation
or because the server was down.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pbem.domain.hash_chain import Row
from pbem.domain.interval import Interval, overlap
from pbem.domain.states import EntrantStatus
from pbem.service.play.log import SECRET, Kind
from pbem.service.play.move import IN_PERSON
from pbem.service.server import Server
from pbem.service.tournaments import sign_up
from pbem.service.tournaments.plans import plan_of, seats_of
from pbem.store import games, log, outages, reachability, reliability, tournaments, vacations
from pbem.store.database import Tx
from pbem.store.schema import TournamentRow

_OWN_ACTS: Final = SECRET | {Kind.ENTRY, Kind.UNDONE, Kind.RESIGNED}
"""Kinds of rows by which the player of a seat acts, if they are by a person."""


def send_away(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Take out the no-shows of the round that has ended, and tell them how to come back."""
    present = {
        each.number: each
        for each in tournaments.entrants(tx, row.id)
        if each.status == EntrantStatus.IN and each.person_id is not None
    }
    last = plan_of(row).rounds
    for table in tournaments.tables(tx, row.id):
        if table.round != row.round or table.how == "void":
            continue
        game = games.read(tx, table.game_id)
        missed = reliability.missed_at(tx, game.id)
        acted = _seats_with_own_acts(log.chain(tx, game.id, game.key)) if missed else frozenset()
        for seat, number in enumerate(seats_of(table)):
            entrant = present.get(number)
            if entrant is None or entrant.person_id is None or seat in acted or not missed.get(seat):
                continue
            since, until = game.started_at or game.created_at, game.ended_at or server.now()
            if not _is_excused(tx, entrant.person_id, since, until):
                tournaments.change_entrant(tx, row.id, number, status=EntrantStatus.ABSENT, until=row.round)
                sign_up.tell(tx, server, row, [entrant], "no show", back=row.round + 1 < last)


def _seats_with_own_acts(rows: Iterable[Row]) -> frozenset[int]:
    """The seats at which a person has done something, a choice that was taken back and a standing order included."""
    return frozenset(row.seat for row in rows if row.seat is not None and row.kind in _OWN_ACTS and row.by in IN_PERSON)


def _is_excused(tx: Tx, person_id: int, since: datetime, until: datetime) -> bool:
    """Whether email to a person failed in this time, or a vacation or outages took most of it."""
    failures = reachability.since(tx, {person_id}, since)[person_id]
    bounced = reachability.points(tx, person_id, since.date(), until.date()) > 0
    if bounced or any(failure.start < until for failure in failures):
        return True
    stopped: list[tuple[Interval, ...]] = [vacations.since(tx, {person_id}, since)[person_id], outages.since(tx, since)]
    return any(2 * overlap(since, until, intervals) > until - since for intervals in stopped)
