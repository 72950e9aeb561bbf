"""Contacting the organiser: the form for everyone, and the same form behind the links of a seat and of an email."""

from flask import Blueprint, Response, url_for

from pbem.domain.errors import Refusal
from pbem.service.desk import calls
from pbem.service.outgoing import unsubscribe
from pbem.service.play import seat_view
from pbem.tokens import Purpose
from pbem.web import client, form_time, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server

pages = Blueprint("contact", __name__)


@pages.get("/call")
def show(refused: Refusal | None = None) -> Response:
    """The form, with a field for an address to answer unless the visitor is signed in."""
    return _page("contact.send", refused=refused)


@pages.post("/call")
@site.shows_refusals_on(show, about="text")
def send() -> Response:
    """Send a message from someone without a link, who may be signed in."""
    if (session := session_cookie.session(Cookie.PERSON)) and session.holder.person_id is not None:
        server().run(calls.call, session.holder.person_id, field("text"))
    else:
        form_time.check()
        server().run(calls.call_from_address, field("address"), field("text"), network=client.network())
    return site.go("contact.sent")


@pages.get("/s/<token>/call")
def show_for_seat(token: str) -> Response:
    """The form for the player of a seat."""
    server().read(seat_view.view_seat, token)
    return _page("contact.send_for_seat", token, back=url_for("seat.show", token=token))


@pages.post("/s/<token>/call")
def send_for_seat(token: str) -> Response:
    """Send a message about a game, by the link of a seat."""
    return _send(token, Purpose.SEAT)


@pages.post("/m/<token>/<option>/call")
def send_for_move(token: str, option: str) -> Response:
    """Send a message about a game, by the link of one choice, whose page has the form."""
    return _send(token, Purpose.MOVE)


@pages.get("/u/<token>/call")
def show_for_email(token: str) -> Response:
    """The form for the reader of an email."""
    server().read(unsubscribe.read, token)
    return _page("contact.send_for_email", token, back=url_for("unsubscribe.show", token=token))


@pages.post("/u/<token>/call")
def send_for_email(token: str) -> Response:
    """Send a message by the unsubscribe link of an email."""
    return _send(token, Purpose.STOP)


@pages.get("/called")
def sent() -> Response:
    """The organiser has the message."""
    return site.page("called.html")


def _send(token: str, purpose: Purpose) -> Response:
    calls.call_by_link(server(), token, purpose, field("text"))
    return site.go("contact.sent")


def _page(action: str, token: str = "", refused: Refusal | None = None, back: str = "") -> Response:
    known = bool(token) or session_cookie.session(Cookie.PERSON) is not None
    return site.page("call.html", refused=refused, action=action, token=token, known=known, back=back)
