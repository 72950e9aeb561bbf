"""The replay of a game: its course in charts, and every moment of it, one after the other.

There are three ways to the same pages: the link of a seat, which shows what that seat saw; the name of a public table; and
the link to a finished game that its players pass on. Every moment has an address.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from flask import Blueprint, Response, make_response, render_template, url_for

from pbem.domain.causes import tell_turn
from pbem.service.archive import replay, reviews
from pbem.service.archive.replay import Access, ReplayMoment, ReplayTable, WholeGame
from pbem.service.archive.reviews import ReviewedMoment
from pbem.web import page_cache, site
from pbem.web.result import page_result
from pbem.web.seat.board import BoardPart, draw
from pbem.web.site import server
from pbem.web.tables import charts
from pbem.web.tables.review import judged

pages = Blueprint("replay", __name__)

_LINKS: Final = 8
"""The number of links to moments that fit on a phone in two lines."""


@dataclass(frozen=True, slots=True)
class MomentLink:
    """A link to a moment of a game, and whether the page shows that moment."""

    turn: int
    address: str
    here: bool


@pages.post("/s/<token>/share")
def share(token: str) -> Response:
    """Make the link to a finished game, and lead to it."""
    return site.go(".shared_whole", token=server().run(replay.share, token), _anchor="keep")


@pages.post("/s/<token>/share/stop")
def stop_sharing(token: str) -> Response:
    """Revoke the link to a finished game."""
    server().run(replay.stop_sharing, token)
    return site.go(".seat_whole", token=token, _anchor="keep")


def _whole(way: Access, *, token: str = "", key: str = "") -> Response:
    which = token or key
    found = server().read(replay.whole, way, which)
    return make_response(page_cache.drawn_once(("replay", way, which), found, partial(_draw_whole, way, which)))


def _draw_whole(way: Access, which: str, found: WholeGame) -> str:
    table, teller = found.table, found.table.teller

    address_of = partial(_address, way, which)
    return render_template(
        "replay/whole.html",
        table=table,
        way=way,
        which=which,
        back=_back(way, which),
        shared=found.shared,
        stops=_links(way, which, table, None),
        end=page_result(found.ending, table.names, table.teller_in, table.seat, address_of) if found.ending else None,
        scores=charts.score_chart(found.course.scores, table.names, teller, address_of),
        auctions=charts.auction_chart(found.course.auctions, table.names, teller, address_of),
    )


def _moment(way: Access, *, turn: int, token: str = "", key: str = "") -> Response:
    """A moment of a game, as the reader may see it; at a seat also what the coach says of it, if the reader may read that."""
    which = token or key
    if way is Access.SEAT:
        found = server().read(reviews.moment, which, turn)
    else:
        found = ReviewedMoment(server().read(replay.moment, way, which, turn), ())
    name = ("replay", way, which, found.moment.scene.turn)
    return make_response(page_cache.drawn_once(name, found, partial(_draw_moment, way, which)))


for _way, _path in (
    (Access.SEAT, "/s/<token>/replay"),
    (Access.PUBLIC, "/t/<key>/replay"),
    (Access.SHARED, "/h/<token>"),
):
    pages.add_url_rule(_path, f"{_way}_whole", partial(_whole, _way))
    pages.add_url_rule(f"{_path}/<int:turn>", f"{_way}_moment", partial(_moment, _way))


def _draw_moment(way: Access, which: str, reviewed: ReviewedMoment) -> str:
    found = reviewed.moment
    table, scene, teller = found.table, found.scene, found.table.teller_in(found.scene.turn)
    return render_template(
        "replay/moment.html",
        table=table,
        back=_back(way, which),
        whole=_address(way, which),
        turn=scene.turn,
        board=draw(scene.board, teller, table.seat),
        story=tell_turn(scene.turn_facts, teller),
        sealed=scene.turn_facts.sealed,
        hands=_hands(found),
        judged=[judged(each, table, which) for each in reviewed.verdicts],
        stops=_links(way, which, table, scene.turn),
        first=None if scene.earlier is None else _address(way, which, 0),
        earlier=None if scene.earlier is None else _address(way, which, scene.earlier),
        later=None if scene.later is None else _address(way, which, scene.later),
        last=None if scene.later is None else _address(way, which, table.turn),
    )


def _hands(found: ReplayMoment) -> list[tuple[str, tuple[BoardPart, ...]]]:
    """What each other player held, as their board showed it."""
    table = found.table
    names = table.names_in(found.scene.turn)
    drawn = ((seat, draw(board, table.teller_for(seat), seat)) for seat, board in found.scene.hands)
    return [(names[seat], each.mine) for seat, each in drawn if each.mine]


def _links(way: Access, which: str, table: ReplayTable, here: int | None) -> list[MomentLink]:
    """Links to moments all along the game, so that readers need not go through it turn by turn."""
    last = max(table.turn - 1, 0)
    numbers = sorted({round(last * place / _LINKS) for place in range(_LINKS + 1)})
    return [MomentLink(turn, _address(way, which, turn), turn == here) for turn in numbers]


def _address(way: Access, which: str, turn: int | None = None) -> str:
    values: dict[str, Any] = {"key" if way is Access.PUBLIC else "token": which}
    if turn is None:
        return url_for(f".{way}_whole", **values)
    return url_for(f".{way}_moment", **values, turn=turn)


def _back(way: Access, which: str) -> str:
    """The address of the table's own page; empty for a reader who came by a link that was passed on."""
    if way is Access.SEAT:
        return url_for("seat.show", token=which)
    return url_for("joining.show", key=which) if way is Access.PUBLIC else ""
