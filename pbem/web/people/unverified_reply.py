"""A reply that may not be its player's own: the page that asks the player, with a button for yes and one for no."""

from datetime import datetime

from flask import Blueprint, Response

from pbem.i18n.speech import gettext as _
from pbem.service.incoming import unverified_replies
from pbem.store import received
from pbem.web import csrf, site

pages = Blueprint("unverified_reply", __name__)


@pages.get("/w/<token>")
def show(token: str, *, sure_of: int | None = None) -> Response:
    found = unverified_replies.read(site.server(), token)
    received_at = None if sure_of is None else _received_at(sure_of)
    return site.page("written.html", found=found, token=token, sure_of=sure_of, received_at=received_at)


@pages.post("/w/<token>")
def confirm(token: str) -> Response:
    if not csrf.a_person_clicked():
        return show(token, sure_of=_number())
    unverified_replies.confirm(site.server(), token, _number())
    return site.go("unverified_reply.show", token=token)


@pages.post("/w/<token>/no")
def reject(token: str) -> Response:
    """Drop the reply."""
    site.server().run(unverified_replies.reject, token, _number())
    return site.go("unverified_reply.show", token=token)


def _number() -> int:
    return site.row("number", _("a reply number"), _received_at)


def _received_at(number: int) -> datetime | None:
    row = site.server().query(received.read, number)
    return None if row is None else row.received_at
