"""Signing in by a mailed link: the link shows a button, and the button opens a session and leads to one's own page."""

from flask import Blueprint, Response

from pbem.service import signing_in
from pbem.web import guard, signed_in, site
from pbem.web.signed_in import Who
from pbem.web.site import house

pages = Blueprint("signing_in", __name__)


@pages.get("/l/<token>")
def show(token: str) -> Response:
    """The button that signs in."""
    return _page(token)


@pages.post("/l/<token>")
def sign_in(token: str) -> Response:
    """Sign this browser in."""
    guard.must_not_be_foreign()
    if not guard.a_person_clicked():
        return _page(token, ask_again=True)
    secret = signing_in.sign_in(house(), token, signed_in.this_device())
    return signed_in.keep(site.go("own.show"), Who.PERSON, secret)


def _page(token: str, *, ask_again: bool = False) -> Response:
    found = signing_in.at(house(), token)
    return site.page("sign_in.html", found=found, token=token, ask_again=ask_again)
