"""A person's channels: other services that tell them of their turns, and those of tables they host."""

from datetime import datetime

from flask import Blueprint, Response

from pbem.domain.channels import ChannelKind
from pbem.domain.errors import BadInput, Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.account import channels
from pbem.web import site
from pbem.web.people import my_page, session_cookie
from pbem.web.people.my_page import person_id
from pbem.web.site import field, row, server

pages = Blueprint("channels", __name__, url_prefix="/my")
pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)


@pages.get("/channels")
def show(refused: Refusal | None = None) -> Response:
    found = server().read(channels.mine, person_id())
    return site.page("own/channels.html", found=found, given=field, refused=refused)


@pages.post("/channels")
@site.shows_refusals_on(show)
def enter() -> Response:
    """Enter a channel, and send a code through it."""
    game_id = row("game", _("a table number"), _hosted().get) if field("game") else None
    server().run(
        channels.enter,
        person_id(),
        field("kind"),
        field("address"),
        field("token"),
        game_id,
        device=session_cookie.this_device(),
    )
    return site.go("channels.show", done="browser" if field("kind") == ChannelKind.BROWSER else "channel")


@pages.post("/channels/code")
@site.shows_refusals_on(show)
def prove() -> Response:
    """Switch a channel on by the code that was sent through it."""
    if not server().run(channels.prove, person_id(), _channel(), field("code")):
        wrong = BadInput(_("That isn't the code."), remedy=_("Copy the code from the newest message in this channel."))
        wrong.fields = {"code": wrong}
        raise wrong
    return site.go("channels.show", done="channel proved")


@pages.post("/channels/again")
@site.shows_refusals_on(show)
def send_again() -> Response:
    """Send the code again."""
    server().run(channels.send_again, person_id(), _channel())
    return site.go("channels.show", done="channel")


@pages.post("/channels/remove")
@site.shows_refusals_on(show)
def remove() -> Response:
    server().run(channels.remove, person_id(), _channel())
    return site.go("channels.show", done="channel removed")


def _hosted() -> dict[int, datetime]:
    """When each table that may have a channel was made."""
    return {number: made_at for number, _title, made_at in server().read(channels.mine, person_id()).tables}


def _channel() -> int:
    since = {each.id: each.made_at for each in server().read(channels.mine, person_id()).listed}
    return row("channel", _("a channel number"), since.get)
