"""What programs ask of every site: the rules for search engines, and the icon at its oldest address."""

from typing import Final

from flask import Blueprint, Response, current_app

pages = Blueprint("robots", __name__)

ROBOTS: Final = """\
# Pages that are not for search engines say so themselves, in a header. What is forbidden here would not be asked for that
# header, and its address could be listed all the same. So only what is no page is left out.
User-agent: *
Disallow: /api/
"""


@pages.get("/robots.txt")
def robots() -> Response:
    """The addresses that search engines may fetch."""
    return _cached(Response(ROBOTS, mimetype="text/plain"))


@pages.get("/favicon.ico")
def icon() -> Response:
    """The icon, for programs that do not look for the one named by a page."""
    return _cached(current_app.send_static_file("icon.png"))


def _cached(response: Response) -> Response:
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
