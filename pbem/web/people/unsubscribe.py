"""The unsubscribe link of every email, pressed by programs too (RFC 8058), for one table by name or for all.

Emails get forwarded, so the page says nothing about anyone's games.
"""

from flask import Blueprint, Response, request

from pbem.domain.delivery import Way
from pbem.domain.errors import Refusal
from pbem.service.outgoing import unsubscribe
from pbem.service.people import sign_in as link_email
from pbem.tokens import Purpose
from pbem.web import csrf, site
from pbem.web.people.my_page import ticked_topics
from pbem.web.site import field, server, ticked

pages = Blueprint("unsubscribe", __name__)


@pages.get("/u/<token>")
@pages.get("/u/<token>/<key>")
def show(token: str, key: str | None = None, *, refused: Refusal | None = None, ask_again: bool = False) -> Response:
    """When emails come, and buttons to change that."""
    found = server().read(unsubscribe.read, token, key)
    given = [(name, value) for name, value in request.form.items() if name in ("delivery", "minutes", "digest_at")]
    return site.page("stop.html", found=found, token=token, key=key, refused=refused, ask_again=ask_again, given=given)


@pages.post("/u/<token>")
@pages.post("/u/<token>/<key>")
@site.shows_refusals_on(show)
def choose(token: str, key: str | None = None) -> Response:
    """Stop emails, or choose when they come."""
    if csrf.is_one_click():
        # An email program cannot confirm or follow a redirect, and its request comes from its maker's servers.
        unsubscribe.stop(server(), token, key)
        return show(token, key)
    if not csrf.a_person_clicked():
        return show(token, key, ask_again=True)
    _choose(token, key)
    return site.go("unsubscribe.show", token=token, key=key, done="delivery")


@pages.post("/u/<token>/settings")
@site.shows_refusals_on(show)
def save_settings(token: str) -> Response:
    """Save when reminders come, the quiet hours, and whether sealed choices are acknowledged and reviews sent."""
    unsubscribe.save(
        server(),
        token,
        cadence=field("cadence"),
        quiet=field("quiet"),
        sealed=ticked("sealed"),
        reviews=ticked("reviews"),
    )
    return site.go("unsubscribe.show", token=token, done="settings")


@pages.post("/u/<token>/kinds")
def choose_topics(token: str) -> Response:
    """Choose the kinds of emails."""
    unsubscribe.set_topics(server(), token, ticked_topics())
    return site.go("unsubscribe.show", token=token, done="delivery")


@pages.post("/u/<token>/links")
def send_links(token: str) -> Response:
    """Email the links to everything this page cannot do."""
    server().run(link_email.send_by_link, token, Purpose.STOP)
    return site.go("front.sent")


def _choose(token: str, key: str | None) -> None:
    way = field("delivery")
    if way == "as for all" and key is not None:
        unsubscribe.reset(server(), token, key)
    elif way in ("", Way.NOTHING):
        unsubscribe.stop(server(), token, key)
    elif way == Way.DELAYED:
        unsubscribe.choose(server(), token, f"{Way.DELAYED} {field('minutes')}m", key=key)
    else:
        unsubscribe.choose(server(), token, way, field("digest_at") if way == Way.DAILY else "", key)
