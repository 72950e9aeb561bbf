"""A reply that may not be its player's own: the page that asks the player, with a button for yes and one for no."""

from flask import Blueprint, Response

from pbem.i18n.speech import gettext as _
from pbem.service.incoming import unverified_replies
from pbem.web import csrf, site

pages = Blueprint("unverified_reply", __name__)


@pages.get("/w/<token>")
def show(token: str, *, sure_of: int | None = None) -> Response:
    return site.page("written.html", found=unverified_replies.read(site.server(), token), token=token, sure_of=sure_of)


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
    return site.row("number", _("a reply number"))
