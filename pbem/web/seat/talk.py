"""Talk at a table, by the link of a seat: messages, a form for a new one, and muting players."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.desk import calls
from pbem.service.people import blocks, friends
from pbem.service.tables import talk
from pbem.web import phrases, site
from pbem.web.site import field, server, whole_number

pages = Blueprint("talk", __name__)


@pages.get("/s/<token>/talk")
def show(token: str, refused: Refusal | None = None) -> Response:
    """The messages, and the form for a new one."""
    room, now = server().read(talk.talk_page, token), server().now()
    return site.page(
        "talk.html",
        room=room,
        token=token,
        lines=[(line, phrases.moment(line.at, room.zone, now)) for line in room.lines],
        typed=field("text") if refused else "",
        refused=refused,
    )


@pages.post("/s/<token>/talk")
@site.shows_refusals_on(show, about="text")
def say(token: str) -> Response:
    """Send a message to everyone at the table."""
    server().run(talk.say_by_link, token, field("text"))
    return site.go("talk.show", token=token, done="talk")


@pages.post("/s/<token>/talk/report")
@site.shows_refusals_on(show)
def report(token: str) -> Response:
    """Report a message to the organiser."""
    times = {line.seq: line.at for line in server().read(talk.talk_page, token).lines}
    server().run(calls.report, token, site.row("line", _("a message number"), times.get))
    return site.go("contact.sent")


@pages.post("/s/<token>/talk/hear")
@site.shows_refusals_on(show)
def mute(token: str) -> Response:
    muting = field("hear") == "no"
    choose = blocks.block if muting else blocks.unblock_seat
    server().run(choose, token, whole_number("seat", _("a seat number")), field("who"))
    return site.go("talk.show", token=token, done="muted" if muting else "unmuted")


@pages.post("/s/<token>/talk/friend")
@site.shows_refusals_on(show)
def befriend(token: str) -> Response:
    """Add a player to one's friends, or remove one."""
    removing = field("friend") == "no"
    choose = friends.remove_seat if removing else friends.add
    server().run(choose, token, whole_number("seat", _("a seat number")), field("who"))
    return site.go("talk.show", token=token, done="friend removed" if removing else "friend added")
