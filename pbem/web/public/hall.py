"""The page of all public tables: to join, in progress, and finished. Its address holds what is shown, so that it can be shared."""

from typing import Final

from flask import Blueprint, Response, request

from engine import registry
from pbem.domain.errors import NotFound
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _, mark, translate
from pbem.service.play.rules import title_of
from pbem.service.tables import hall
from pbem.web import site
from pbem.web.people import session_cookie
from pbem.web.public.rules import game_called
from pbem.web.site import server
from pbem.web.tables.joining import table_values

pages = Blueprint("hall", __name__)

SHOWN: Final = {
    "open": (TableStatus.OPEN, mark("Open")),
    "playing": (TableStatus.PLAYING, mark("In progress")),
    "over": (TableStatus.OVER, mark("Finished")),
}
"""The values of `show` in the address, with the words for them."""


@pages.get("/tables")
def show() -> Response:
    """A page of tables. Raises NotFound for another state, or a game that there isn't."""
    state, kind = request.args.get("show", "playing"), request.args.get("game", "")
    if state not in SHOWN:
        raise NotFound(_("There's no such list of tables."), remedy=_("Choose one from the page of all tables."))
    slug = game_called(kind).slug if kind else ""
    reader = session_cookie.reader()
    found = server().read(hall.hall_page, SHOWN[state][0], slug, request.args.get("after", ""), reader)
    return site.page(
        "hall.html",
        state=state,
        states={name: translate(words) for name, (_status, words) in SHOWN.items()},
        kind=slug,
        kinds={name: title_of(name) for name in registry.names()},
        tables=[(table_values(each.summary), each.winners, each.profiles) for each in found.tables],
        last=found.last,
    )
