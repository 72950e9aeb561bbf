"""What moderators did at a table, for its players, and which outages moved a deadline: the rows of the log that say so."""

from dataclasses import dataclass
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from pbem.service.desk.table import LoggedRow, row_told
from pbem.service.links import follow_seat
from pbem.service.play.log import Kind
from pbem.service.server import Server
from pbem.store import games, log, people
from pbem.store import players as player_rows
from pbem.store.database import Tx

MOST_TOLD: Final = 60
"""So many stand on the page; a table at which more was done has other troubles."""

_MODERATORS: Final = ("organiser", "host")

_BY_SERVER: Final = (Kind.DELAYED, Kind.FROZEN, Kind.UNFROZEN)


@dataclass(frozen=True, slots=True)
class Told:
    """What was done at the table of a seat, the newest first."""

    title: str
    names: dict[int, str]
    zone: ZoneInfo
    rows: tuple[LoggedRow, ...]


def by_link(tx: Tx, server: Server, token: str) -> Told:
    """What was done at the table of whoever holds the link of a seat."""
    link = follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    chain = log.chain_back(tx, game.id, game.key)
    rows = (row for row in chain if row.by in _MODERATORS or row.kind in _BY_SERVER)
    return Told(
        title=game.title,
        names={player.seat: player.name for player in player_rows.of_game(tx, game.id) if player.seat is not None},
        zone=ZoneInfo(people.read(tx, link.person_id).zone),
        rows=tuple(row_told(row) for row in islice(rows, MOST_TOLD)),
    )
