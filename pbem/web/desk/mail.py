"""Mail at the desk: how it gets through, who is left alone, and what came in."""

from flask import Blueprint, Response

from pbem.domain.acts import Act
from pbem.service import deliverability
from pbem.store.overview import COUNTED
from pbem.web import site
from pbem.web.desk import door
from pbem.web.desk.overview import live
from pbem.web.site import house

pages = Blueprint("desk_mail", __name__)


@pages.get("/desk/mail")
@door.needs(Act.OVERVIEW)
def show() -> Response:
    """What waits, what became of mails, and what came in."""
    found = deliverability.look(house(), door.actor())
    return live(site.page("desk/mail.html", found=found, most=COUNTED))
