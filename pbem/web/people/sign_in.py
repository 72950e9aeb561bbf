"""Signing in: “Send me my games” emails someone their links, and the button on the page of a link opens a session."""

from flask import Blueprint, Response

from pbem.domain.errors import Gone, Refusal
from pbem.service.people import sign_in as link_email
from pbem.web import client, csrf, form_time, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server

pages = Blueprint("sign_in", __name__)


@pages.get("/mine")
def show_form(refused: Refusal | None = None) -> Response:
    return site.page("mine.html", refused=refused)


@pages.post("/mine")
@site.shows_refusals_on(show_form, about="address")
def send_links() -> Response:
    """Ask for the links. What happens is the same for every address, so it tells nobody which are known."""
    form_time.check()
    server().run(link_email.ask_for_link, field("address"), network=client.network())
    return site.go("front.sent")


@pages.get("/l/<token>")
def show(token: str, *, ask_again: bool = False) -> Response:
    name = server().read(link_email.name_of_link, token)
    return site.page("sign_in.html", name=name, token=token, ask_again=ask_again)


@pages.post("/l/<token>")
def sign_in(token: str) -> Response:
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    try:
        secret = server().run(link_email.sign_in, token, session_cookie.this_device(), network=client.network())
    except Gone:
        if session_cookie.session(Cookie.PERSON) is None:
            raise
        # The second half of a double click.
        return site.go("my_page.show")
    return session_cookie.set_on(site.go("my_page.show"), Cookie.PERSON, secret)
