"""What programs ask every site for: the rules for search engines, and the icon under its oldest name."""

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
    """What search engines may ask for."""
    return _kept(Response(ROBOTS, mimetype="text/plain"))


@pages.get("/favicon.ico")
def icon() -> Response:
    """The icon for those who do not read which one a page names."""
    return _kept(current_app.send_static_file("icon.png"))


def _kept(response: Response) -> Response:
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
