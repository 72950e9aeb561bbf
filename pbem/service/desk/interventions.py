"""What moderators did at a table, for its players, and which outages moved a deadline: the rows of the log that say so."""

from dataclasses import dataclass
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from pbem.service.desk.table import LoggedRow, row_told
from pbem.service.links import follow
from pbem.service.play import move
from pbem.service.play.log import Kind
from pbem.service.play.seat_view import seat_of
from pbem.service.server import Server
from pbem.store import games, log, people, players
from pbem.store.database import Tx
from pbem.tokens import Purpose

MOST_TOLD: Final = 60
"""So many stand on the page; a table at which more was done has other troubles."""

_MODERATORS: Final = ("organiser", "host")


@dataclass(frozen=True, slots=True)
class Told:
    """What was done at the table of a seat, the newest first."""

    title: str
    names: dict[int, str]
    zone: ZoneInfo
    rows: tuple[LoggedRow, ...]


def by_link(tx: Tx, server: Server, token: str) -> Told:
    """What was done at the table of whoever holds the link of a seat."""
    game_id, _, person_id = seat_of(follow(tx, server, token, Purpose.SEAT))
    game = games.read(tx, game_id)
    rules = move.rules_of(game)
    chain = log.chain_back(tx, game.id, game.key)
    rows = (row for row in chain if row.by in _MODERATORS or row.kind == Kind.DELAYED)
    return Told(
        title=game.title,
        names={place.seat: place.name for place in players.places(tx, game_id) if place.seat is not None},
        zone=ZoneInfo(people.read(tx, person_id).zone),
        rows=tuple(row_told(rules, row) for row in islice(rows, MOST_TOLD)),
    )
