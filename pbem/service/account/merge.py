"""Two people become one: everything of one of them moves to the other, at an organiser's word or with an address that comes back.

Whether the two may be merged is decided by those who call.
"""

from collections.abc import Iterable
from typing import Final

from pbem.domain.states import TableStatus, TournamentStatus
from pbem.service.server import Server
from pbem.service.tournaments import sign_up
from pbem.store import games, merge, people, tournaments
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow

_CURRENT: Final = frozenset({TableStatus.PLANNED, TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN})


def lock_tournaments(tx: Tx, person_ids: Iterable[int]) -> set[int]:
    """Lock the current tournaments that any of these people takes part in or hosts. Returns their ids.

    Tournaments are locked before games, games before people, people before groups, each in the order of their ids.
    """
    entered = {row.id for each in person_ids for row in tournaments.own(tx, each)}
    for number in sorted(entered):
        tournaments.lock(tx, number)
    return entered


def lock_games(tx: Tx, person_id: int, also: Iterable[int] = ()) -> dict[int, GameRow]:
    """Lock a person's current tables, and some others before, between and after them. Returns the person's by their ids."""
    own = {number for number, status in merge.tables_of(tx, person_id).items() if status in _CURRENT}
    locked = {number: games.lock(tx, number) for number in sorted({*own, *also})}
    return {number: row for number, row in locked.items() if number in own}


def lock_people(tx: Tx, person_ids: Iterable[int]) -> dict[int, PersonRow]:
    """Lock these people."""
    return {number: people.lock(tx, number) for number in sorted(person_ids)}


def move_rows(tx: Tx, server: Server, old: int, new: int) -> None:
    """Move everything of one person to another. All that they take part in is locked."""
    for number in merge.move_rows(tx, old, new):
        # One of two entries has given up its place.
        tournament = tournaments.read(tx, number)
        if tournament.status == TournamentStatus.OPEN:
            sign_up.fill_places(tx, server, tournament)
