"""The hall: public tables to join, to watch, or to look up once they're over, page by page.

It tells what a table's own pages tell everyone: who plays, and who won. A name leads to its player's profile for those who may see it.
Nobody learns here who is reading or when a player was last seen, and private tables are left out.
"""

from dataclasses import dataclass
from typing import Final

from pbem.domain.errors import Unplayable
from pbem.domain.states import TableStatus
from pbem.service.play.endings import ranking_at_end
from pbem.service.server import Server
from pbem.service.tables import listing
from pbem.service.tables.listing import TableSummary
from pbem.store import players as player_rows, profiles, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

ON_A_PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class HallTable:
    """A public table. `winners` are the names of who won, several if they share the win; none before the end.

    `profiles` are the ends of the addresses of its players' profiles, in their order; empty where the reader may see none.
    """

    summary: TableSummary
    winners: tuple[str, ...]
    profiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HallPage:
    """Tables, the newest first. `last` is the key of the last one if there are older ones, else empty."""

    tables: tuple[HallTable, ...]
    last: str


def hall_page(tx: Tx, server: Server, status: TableStatus, kind: str, last: str, reader: int | None) -> HallPage:
    """The tables of a status, of a kind of game or of all, that are older than the one with the key `last`.

    The reader is a person who is signed in, or None. Without such a public table it's the first page.
    """
    below = tables.by_key(tx, last) if last else None
    if below is not None and below.private:
        below = None
    rows = tables.public_games(tx, status, kind=kind, below=below, limit=ON_A_PAGE + 1)
    shown = rows[:ON_A_PAGE]
    return HallPage(with_winners(tx, server, shown, reader), last=shown[-1].key if len(rows) > ON_A_PAGE else "")


def with_winners(tx: Tx, server: Server, rows: list[GameRow], reader: int | None) -> tuple[HallTable, ...]:
    """These tables as lists show them to this reader."""
    players = player_rows.of_games(tx, [row.id for row in rows])
    seated = {player.person_id for each in players.values() for player in each if player.person_id is not None}
    keys = profiles.keys_seen_by(tx, reader, seated)
    found = zip(rows, listing.summaries(tx, server, rows), strict=True)
    return tuple(
        HallTable(
            summary, _winners(tx, row, players[row.id]), tuple(keys.get(each or 0, "") for each in summary.people)
        )
        for row, summary in found
    )


def _winners(tx: Tx, row: GameRow, players: list[PlayerRow]) -> tuple[str, ...]:
    if row.status != TableStatus.OVER:
        return ()
    try:
        first = ranking_at_end(tx, row)[0]
    except Unplayable:
        return ()
    names = {player.seat: player.name for player in players}
    return tuple(names[seat] for seat in first.seats)
