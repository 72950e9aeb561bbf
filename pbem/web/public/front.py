"""The front page, with the games, their demos and the public tables; and what programs ask of every site.

Those are search rules, an icon, and what browsers need to install the site and to show its notifications.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, current_app, url_for

from engine import registry
from engine.game import Game
from pbem.domain.states import TableStatus
from pbem.i18n import speech
from pbem.service.outgoing import ledger
from pbem.service.tables import demo, listing
from pbem.web import client, site, static_files
from pbem.web.public import example
from pbem.web.site import field, server
from pbem.web.tables.joining import table_values

pages = Blueprint("front", __name__)

ROBOTS: Final = """\
# Pages that are not for search engines say so themselves, in a header. What is forbidden here would not be asked for that
# header, and its address could be listed all the same. So only what is no page is left out.
User-agent: *
Disallow: /api/
"""


@dataclass(frozen=True, slots=True)
class Tile:
    """A game in the list of games, in words."""

    game: Game[Any]
    mood: str
    players: str
    length: str


@pages.get("/")
def show() -> Response:
    """The games, the tables that wait for players, and those that can be watched."""
    shown = [table_values(table) for table in server().read(listing.public_tables)]
    return site.page(
        "front.html",
        board=example.board(),
        games=[_tile(registry.load(name)) for name in registry.names()],
        tables=[each for each in shown if each["table"].status == TableStatus.OPEN],
        running=[each for each in shown if each["table"].status == TableStatus.PLAYING],
    )


@pages.get("/sent")
def sent() -> Response:
    """An email is on its way. The page is the same whether the address is known or not."""
    return site.page("sent.html", delayed=server().read(ledger.is_delayed))


@pages.post("/demo")
def start_demo() -> Response:
    """Start a game against bots, and lead to its seat."""
    return site.go("seat.show", token=demo.begin(server(), field("kind"), client.network()))


@pages.get("/robots.txt")
def robots() -> Response:
    """The addresses that search engines may fetch."""
    return _cached(Response(ROBOTS, mimetype="text/plain"))


@pages.get("/favicon.ico")
def icon() -> Response:
    """The icon, for programs that do not look for the one named by a page."""
    return static_files.send("icon.png")


@pages.get("/service-worker.js")
def service_worker() -> Response:
    """The script that shows notifications. Its address is in browsers for as long as they use it."""
    response = static_files.send("service-worker.js")
    response.headers["Cache-Control"] = "no-cache"
    return response


@pages.get("/manifest.webmanifest")
def manifest() -> Response:
    """What a browser needs to install the site as an app."""
    says = {
        "name": current_app.jinja_env.globals["site_name"],
        "id": "/my",
        "start_url": url_for("my_page.show"),
        "scope": "/",
        "display": "standalone",
        "theme_color": "#1b5a4b",
        "background_color": "#faf6ee",
        "icons": [
            {"src": static_files.address("favicon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": static_files.address("icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": static_files.address("icon-512.png"), "sizes": "512x512", "type": "image/png", "purpose": "any"},
            {
                "src": static_files.address("icon-512.png"),
                "sizes": "512x512",
                "type": "image/png",
                "purpose": "maskable",
            },
        ],
    }
    return _cached(Response(json.dumps(says), mimetype="application/manifest+json"))


def _tile(rules: Game[Any]) -> Tile:
    # Nothing is asked of the game: one that fails would be in the way of all others.
    tell = speech.render
    return Tile(rules, tell(rules.mood) if rules.mood else "", tell(rules.players), tell(rules.length))


def _cached(response: Response) -> Response:
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
