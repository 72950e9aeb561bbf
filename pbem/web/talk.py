"""The talk at a table, by the link of a seat: what was said, a form to say something, and whom one does not want to hear."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.domain.speech import gettext as _
from pbem.service import blocks, talk_by_link
from pbem.web import guard, said, site
from pbem.web.errors import status_of
from pbem.web.site import field, house, whole_number

pages = Blueprint("talk", __name__)


@pages.get("/s/<token>/talk")
def show(token: str) -> Response:
    """What was said at the table, and a form to say something."""
    return _page(token)


@pages.post("/s/<token>/talk")
def say(token: str) -> Response:
    """Say something to everybody at the table."""
    guard.must_not_be_foreign()
    try:
        talk_by_link.say(house(), token, field("text"))
    except Refusal as refused:
        return _page(token, refused)
    return site.go("talk.show", token=token)


@pages.post("/s/<token>/talk/hear")
def hear(token: str) -> Response:
    """Hear a player no longer, or again."""
    guard.must_not_be_foreign()
    choose = blocks.block if field("hear") == "no" else blocks.unblock_seat
    choose(house(), token, whole_number("seat", _("the number of a seat")))
    return site.go("talk.show", token=token)


def _page(token: str, refused: Refusal | None = None) -> Response:
    room, now = talk_by_link.at(house(), token), house().now()
    return site.page(
        "talk.html",
        200 if refused is None else status_of(refused),
        room=room,
        token=token,
        lines=[(line, said.moment(line.at, room.zone, now)) for line in room.lines],
        typed=field("text") if refused else "",
        refused=refused,
    )
