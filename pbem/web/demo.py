"""The demo: one button on the front page, and a visitor sits at a table."""

from flask import Blueprint, Response

from pbem.service import demo
from pbem.web import guard, site
from pbem.web.site import house

pages = Blueprint("demo", __name__)


@pages.post("/demo")
def begin() -> Response:
    """Begin a short game against bots, and lead to its seat."""
    guard.must_be_ours()
    return site.go("seat.show", token=demo.begin(house()))
