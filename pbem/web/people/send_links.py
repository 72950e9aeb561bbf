"""“Send me my games”: the form that emails someone links to all their tables."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.service.people import sign_in
from pbem.web import site
from pbem.web.site import field, server

pages = Blueprint("send_links", __name__)


@pages.get("/mine")
def show(refused: Refusal | None = None) -> Response:
    return site.page("mine.html", refused=refused)


@pages.post("/mine")
@site.shows_refusals_on(show)
def send() -> Response:
    """Email the links. The answer is the same for every address, so it tells nobody which are known."""
    server().run(sign_in.send_link, field("address"))
    return site.go("front.sent")
