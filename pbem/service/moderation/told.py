"""What moderators did at a table, for its players, and which outages moved a deadline: the rows of the log that say so."""

from dataclasses import dataclass
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from pbem.links import Purpose
from pbem.service import play
from pbem.service.house import House
from pbem.service.links import open_in
from pbem.service.looks import seat_of
from pbem.service.moderation.desk import LoggedRow, row_told
from pbem.service.record import Kind
from pbem.store import games, people

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


def by_link(house: House, token: str) -> Told:
    """What was done at the table of whoever holds the link of a seat."""
    with house.store.read() as tx:
        game_id, _, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
        game = games.read(tx, game_id)
        rules = play.rules_of(game)
        chain = games.chain_back(tx, game.id, game.key)
        rows = (row for row in chain if row.by in _MODERATORS or row.kind == Kind.DELAYED)
        return Told(
            title=game.title,
            names={place.seat: place.name for place in games.places(tx, game_id) if place.seat is not None},
            zone=ZoneInfo(people.read(tx, person_id).zone),
            rows=tuple(row_told(rules, row) for row in islice(rows, MOST_TOLD)),
        )
