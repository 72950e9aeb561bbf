"""Looking back at a table: its course in charts, and every moment of it, one after the other.

The same pages stand under the link of a seat, which sees what that seat saw, under the public name of a public table, and
under the link that the players of a finished game pass on. Every moment has an address of its own.
"""

from dataclasses import dataclass

from flask import Blueprint, Response, url_for

from pbem.service import replays
from pbem.service.replays import Moment, Watched, Way, Whole
from pbem.web import charts, guard, said, site
from pbem.web.drawn import Section, draw
from pbem.web.site import house

pages = Blueprint("replay", __name__)


@dataclass(frozen=True, slots=True)
class Stop:
    """A place on the way through a game: where it leads, and whether one is there."""

    number: int
    address: str
    here: bool


@pages.get("/s/<token>/replay")
def seat_whole(token: str) -> Response:
    """The course of a game, for the player of a seat."""
    return _whole(Way.SEAT, token)


@pages.get("/s/<token>/replay/<int:number>")
def seat_moment(token: str, number: int) -> Response:
    """A moment of a game as a seat saw it."""
    return _moment(Way.SEAT, token, number)


@pages.get("/t/<key>/replay")
def public_whole(key: str) -> Response:
    """The course of a public game."""
    return _whole(Way.PUBLIC, key)


@pages.get("/t/<key>/replay/<int:number>")
def public_moment(key: str, number: int) -> Response:
    """A moment of a public game, as far as everybody was told."""
    return _moment(Way.PUBLIC, key, number)


@pages.get("/h/<token>")
def shared_whole(token: str) -> Response:
    """The course of a finished game whose link was passed on."""
    return _whole(Way.SHARED, token)


@pages.get("/h/<token>/<int:number>")
def shared_moment(token: str, number: int) -> Response:
    """A moment of such a game."""
    return _moment(Way.SHARED, token, number)


@pages.post("/s/<token>/share")
def share(token: str) -> Response:
    """Lead to the address by which anybody can look back at a finished game."""
    guard.must_not_be_foreign()
    return site.go(".shared_whole", token=replays.share(house(), token))


def _whole(way: Way, which: str) -> Response:
    found = replays.whole(house(), way, which)
    table = found.table
    places = said.places(found.standing, table.teller)
    return site.page(
        "replay/whole.html",
        table=table,
        way=way,
        which=which,
        back=_back(way, which),
        stops=_stops(way, which, table, None),
        places=places,
        reasons=[table.teller(reason) for reason in found.standing.reasons],
        **_charts(found, way, which),
    )


def _moment(way: Way, which: str, number: int) -> Response:
    found = replays.moment(house(), way, which, number)
    table, teller = found.table, found.table.teller
    return site.page(
        "replay/moment.html",
        table=table,
        way=way,
        which=which,
        back=_back(way, which),
        whole=_address(way, which),
        number=found.number,
        board=draw(found.board, teller, table.seat),
        story=[sentence for each in found.told if (sentence := teller.tell(each))],
        hands=_hands(found),
        stops=_stops(way, which, table, found.number),
        first=None if found.earlier is None else _address(way, which, 0),
        earlier=None if found.earlier is None else _address(way, which, found.earlier),
        later=None if found.later is None else _address(way, which, found.later),
        last=None if found.later is None else _address(way, which, table.window),
    )


def _hands(found: Moment) -> list[tuple[str, Section]]:
    """What each other player held, as that player's board said it."""
    drawn = ((seat, draw(board, found.table.teller_for(seat), seat)) for seat, board in found.hands)
    return [(found.table.names[seat], part) for seat, each in drawn for part in each.sections if part.name == "mine"]


def _stops(way: Way, which: str, table: Watched, here: int | None) -> list[Stop]:
    """A few places all along the game, so that nobody has to go through it turn by turn."""
    last = max(table.window - 1, 0)
    numbers = sorted({round(last * place / _STOPS) for place in range(_STOPS + 1)})
    return [Stop(number, _address(way, which, number), number == here) for number in numbers]


_STOPS = 8
"""So many places fit beside each other on a phone in two lines."""


def _charts(found: Whole, way: Way, which: str) -> dict[str, object]:
    table, chronicle = found.table, found.chronicle

    def turn(number: int) -> str:
        return _address(way, which, number)

    word = table.rules.word
    return {
        "scores": charts.of_scores(chronicle.scores, table.names, table.teller, turn),
        "auctions": charts.of_auctions(chronicle.auctions, table.names, table.teller, word, turn),
    }


def _address(way: Way, which: str, number: int | None = None) -> str:
    endpoint = f".{way}_whole" if number is None else f".{way}_moment"
    name = "key" if way is Way.PUBLIC else "token"
    return url_for(endpoint, **{name: which}, **({} if number is None else {"number": number}))


def _back(way: Way, which: str) -> str:
    """The table's own page; whoever came by a link that was passed on has none."""
    if way is Way.SEAT:
        return url_for("seat.show", token=which)
    return url_for("lobby.table", key=which) if way is Way.PUBLIC else ""
