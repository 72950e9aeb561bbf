"""The talk at a table by the link of a seat: reading what was said, and saying something.

Whom the reader does not want to hear is left out by seat, so that the page can say that there is something more.
"""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from engine.game import Game
from pbem.links import Purpose
from pbem.service import talk
from pbem.service.house import House
from pbem.service.links import open_in
from pbem.service.looks import seat_of
from pbem.service.play import rules_of
from pbem.service.talk import Line
from pbem.store import blocks, games, people
from pbem.store.database import Tx

MOST_SHOWN = 200
"""Lines on one page; what was said before them stands in the mails and in the file of the game."""


@dataclass(frozen=True, slots=True)
class Room:
    """What one seat hears. `others` are the other people at the table by seat, `unheard` those of them left out.

    `left_out` is how many lines were said by those; `before`, how many are too old for the page.
    """

    title: str
    rules: Game[object]
    window: int
    status: str
    seat: int
    names: tuple[str, ...]
    others: tuple[int, ...]
    unheard: frozenset[int]
    lines: tuple[Line, ...]
    left_out: int
    before: int
    zone: ZoneInfo

    @property
    def may_speak(self) -> bool:
        """Whether something can be said at this table now."""
        return self.status == "playing" and bool(self.others)


def at(house: House, token: str) -> Room:
    """What the holder of a seat's link hears."""
    with house.store.read() as tx:
        game_id, seat, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
        row = games.read(tx, game_id)
        places = {place.seat: place for place in games.places(tx, game_id) if place.seat is not None}
        unheard = blocks.seats(tx, game_id, seat)
        lines = talk.heard_in(tx, row)
        heard = [line for line in lines if line.seat not in unheard]
        return Room(
            title=row.title,
            rules=rules_of(row),
            window=row.window,
            status=row.status,
            seat=seat,
            names=tuple(places[each].name for each in sorted(places)),
            others=tuple(each for each in sorted(places) if places[each].person_id not in (None, person_id)),
            unheard=unheard,
            lines=tuple(heard[-MOST_SHOWN:]),
            left_out=len(lines) - len(heard),
            before=max(len(heard) - MOST_SHOWN, 0),
            zone=ZoneInfo(people.read(tx, person_id).zone),
        )


def say(house: House, token: str, text: str) -> None:
    """Say something to everybody at the table."""
    house.write(lambda tx: _say(tx, house, token, text))


def _say(tx: Tx, house: House, token: str, text: str) -> None:
    game_id, seat, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
    talk.say_in(tx, house, game_id, seat, person_id, text)
