"""The front page, with open tables, games and a demo; and what programs ask of every site: search rules and an icon."""

from typing import Final

from flask import Blueprint, Response

from engine import game
from pbem.i18n import speech
from pbem.service.tables import demo, listing
from pbem.web import client, site, static_files
from pbem.web.site import server
from pbem.web.tables.joining import table_values

pages = Blueprint("front", __name__)

ROBOTS: Final = """\
# Pages that are not for search engines say so themselves, in a header. What is forbidden here would not be asked for that
# header, and its address could be listed all the same. So only what is no page is left out.
User-agent: *
Disallow: /api/
"""


@pages.get("/")
def show() -> Response:
    """The tables that wait for players, and the games."""
    waiting = [table_values(table) for table in server().read(listing.open_tables)]
    games = [game.load(name) for name in game.names()]
    return site.page("front.html", tables=waiting, games=[(each, speech.teller(each)(each.length)) for each in games])


@pages.get("/sent")
def sent() -> Response:
    """An email is on its way. The page is the same whether the address is known or not."""
    return site.page("sent.html")


@pages.post("/demo")
def start_demo() -> Response:
    """Start a short game against bots, and lead to its seat."""
    return site.go("seat.show", token=demo.begin(server(), client.network()))


@pages.get("/robots.txt")
def robots() -> Response:
    """The addresses that search engines may fetch."""
    return _cached(Response(ROBOTS, mimetype="text/plain"))


@pages.get("/favicon.ico")
def icon() -> Response:
    """The icon, for programs that do not look for the one named by a page."""
    return static_files.send("icon.png")


def _cached(response: Response) -> Response:
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
