"""The demo: one button on the front page, and a visitor sits at a table."""

from flask import Blueprint, Response

from pbem.service.tables import demo
from pbem.web import security, site
from pbem.web.site import server

pages = Blueprint("demo", __name__)


@pages.post("/demo")
def begin() -> Response:
    """Begin a short game against bots, and lead to its seat."""
    security.must_be_ours()
    return site.go("seat.show", token=demo.begin(server()))
