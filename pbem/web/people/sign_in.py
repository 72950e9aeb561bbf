"""Signing in by a link from an email: its page has a button, and the button opens a session and leads to “My games”."""

from flask import Blueprint, Response

from pbem.service.people import sign_in as link_email
from pbem.web import csrf, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import server

pages = Blueprint("sign_in", __name__)


@pages.get("/l/<token>")
def show(token: str, *, ask_again: bool = False) -> Response:
    """The page with the button."""
    name = server().read(link_email.name_of_link, token)
    return site.page("sign_in.html", name=name, token=token, ask_again=ask_again)


@pages.post("/l/<token>")
def sign_in(token: str) -> Response:
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    secret = server().run(link_email.sign_in, token, session_cookie.this_device())
    return session_cookie.set_on(site.go("my_page.show"), Cookie.PERSON, secret)
