"""“Send me my games”: the form that emails someone links to all their tables."""

from flask import Blueprint, Response

from pbem.domain.errors import BadInput
from pbem.service.people import send_links
from pbem.web import security, site
from pbem.web.errors import status_of
from pbem.web.site import field, server

pages = Blueprint("send_links", __name__)


@pages.get("/mine")
def show() -> Response:
    """The form."""
    return site.page("mine.html", refused=None)


@pages.post("/mine")
def send() -> Response:
    """Email the links. The answer is the same for every address, so it tells nobody which are known."""
    security.must_be_ours()
    try:
        server().run(send_links.send, field("address"))
    except BadInput as refused:
        return site.page("mine.html", status_of(refused), refused=refused)
    return site.go("front.sent")
