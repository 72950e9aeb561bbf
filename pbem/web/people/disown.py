"""“This wasn't me”: the link of emails that warn of a stranger. Opening it does nothing; its button ends everything."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.service.account import disown
from pbem.web import csrf, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import server

pages = Blueprint("disown", __name__)


@pages.get("/d/<token>")
def show(token: str, refused: Refusal | None = None, *, ask_again: bool = False) -> Response:
    """What the button does, and the button."""
    server().read(disown.check, token)
    return site.page("disown.html", token=token, refused=refused, ask_again=ask_again)


@pages.post("/d/<token>")
@site.shows_refusals_on(show)
def end_everything(token: str) -> Response:
    """End everything outstanding, and email fresh links."""
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    refused = server().run(disown.disown, token)
    after = site.go("front.sent") if refused is None else show(token, refused)
    return session_cookie.delete_from(after, Cookie.PERSON)
