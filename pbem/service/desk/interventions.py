"""Rows of the log about acts of organisers and hosts and about outages, as players see them."""

from dataclasses import dataclass
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from pbem.service.desk.table import LogLine, public_line
from pbem.service.links import follow_seat
from pbem.service.play.log import Kind
from pbem.service.server import Server
from pbem.store import games, log, people, players as player_rows
from pbem.store.database import Tx

MOST_SHOWN: Final = 60
"""The most rows on the page."""

_MODERATORS: Final = ("organiser", "host")

_BY_SERVER: Final = (Kind.DELAYED, Kind.FROZEN, Kind.UNFROZEN)


@dataclass(frozen=True, slots=True)
class Interventions:
    """Interventions at the table of a seat, newest first."""

    title: str
    names: dict[int, str]
    zone: ZoneInfo
    rows: tuple[LogLine, ...]


def by_link(tx: Tx, server: Server, token: str) -> Interventions:
    """The interventions at the table of a seat's link."""
    link = follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    chain = log.chain_back(tx, game.id, game.key)
    rows = (row for row in chain if row.by in _MODERATORS or row.kind in _BY_SERVER)
    return Interventions(
        title=game.title,
        names={player.seat: player.name for player in player_rows.of_game(tx, game.id) if player.seat is not None},
        zone=ZoneInfo(people.read(tx, link.person_id).zone),
        rows=tuple(public_line(row) for row in islice(rows, MOST_SHOWN)),
    )
