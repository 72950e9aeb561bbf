"""The front page: open tables, the games of this server, and a button for a demo."""

from flask import Blueprint, Response

from engine import game
from pbem.i18n import speech
from pbem.service.tables import demo, listing
from pbem.web import site
from pbem.web.site import server
from pbem.web.tables.joining import table_values

pages = Blueprint("front", __name__)


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
    return site.go("seat.show", token=demo.begin(server()))
