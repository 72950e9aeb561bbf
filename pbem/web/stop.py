"""The link to fewer mails that stands in every one of them; mail programs press its button too (RFC 8058).

It shows nothing about anybody's games, because it passes through many hands.
"""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.links import Purpose
from pbem.service import by_link, own
from pbem.web import guard, site
from pbem.web.errors import status_of
from pbem.web.site import field, house

pages = Blueprint("stop", __name__)


@pages.get("/u/<token>")
def show(token: str) -> Response:
    """What can be stopped, and a button."""
    return _page(token)


@pages.post("/u/<token>")
def stop(token: str) -> Response:
    """Stop what can be stopped: at once, because a mail program cannot be asked twice."""
    guard.must_not_be_foreign()
    own.stop(house(), token)
    return site.go("stop.show", token=token)


@pages.post("/u/<token>/reminders")
def remind(token: str) -> Response:
    """Choose when to be reminded."""
    guard.must_not_be_foreign()
    try:
        own.remind(house(), token, field("cadence"))
    except Refusal as refused:
        return _page(token, refused)
    return site.go("stop.show", token=token)


@pages.get("/u/<token>/call")
def call_page(token: str) -> Response:
    """The form by which the reader of a mail calls the organiser."""
    own.cadence(house(), token)
    return site.page("call.html", refused=None, action="stop.call", token=token)


@pages.post("/u/<token>/call")
def call(token: str) -> Response:
    """Call the organiser."""
    guard.must_not_be_foreign()
    by_link.call(house(), token, Purpose.STOP, field("text"))
    return site.go("lobby.called")


def _page(token: str, refused: Refusal | None = None) -> Response:
    status = 200 if refused is None else status_of(refused)
    cadence = own.cadence(house(), token)
    stopped = cadence == own.NO_REMINDERS
    return site.page("stop.html", status, cadence=cadence, stopped=stopped, token=token, refused=refused)
