"""What a mail asks a yes for: another address, or leaving for good. Looking at its link does nothing; the button says yes."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.service.account import consent
from pbem.web import security, site
from pbem.web.errors import status_of
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Who
from pbem.web.site import server

pages = Blueprint("consent", __name__)


@pages.get("/y/<token>")
def show(token: str) -> Response:
    """What is asked, and the button."""
    return _page(token)


@pages.post("/y/<token>")
def say_yes(token: str) -> Response:
    """Do what was asked."""
    security.must_not_be_foreign()
    if not security.a_person_clicked():
        return _page(token, ask_again=True)
    try:
        kind = server().run(consent.say_yes, token)
    except Refusal as refused:
        return _page(token, refused)
    # Every browser is signed out by either.
    return session_cookie.forget(site.go("consent.left" if kind == "farewell" else "consent.moved"), Who.PERSON)


@pages.get("/left")
def left() -> Response:
    """Somebody has left for good."""
    return site.page("consent_done.html", left=True)


@pages.get("/moved")
def moved() -> Response:
    """Somebody has another address."""
    return site.page("consent_done.html", left=False)


def _page(token: str, refused: Refusal | None = None, *, ask_again: bool = False) -> Response:
    found = server().read(consent.at, token)
    status = status_of(refused)
    return site.page("consent.html", status, found=found, token=token, refused=refused, ask_again=ask_again)
