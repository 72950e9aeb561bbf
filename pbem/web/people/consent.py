"""Confirming by email: another address, deleting the account, or joining a group. Opening the link does nothing; its button confirms."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.domain.states import EmailKind
from pbem.service.account import consent
from pbem.web import csrf, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server

pages = Blueprint("consent", __name__)


@pages.get("/y/<token>")
def show(token: str, refused: Refusal | None = None, *, ask_again: bool = False) -> Response:
    """What is to be confirmed, and the button."""
    found = server().read(consent.consent_request, token)
    return site.page("consent.html", found=found, token=token, refused=refused, ask_again=ask_again)


@pages.post("/y/<token>")
@site.shows_refusals_on(show)
def confirm(token: str) -> Response:
    """Do what is confirmed."""
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    kind = server().run(consent.give_consent, token, field("name"))
    if kind == EmailKind.GROUP_INVITATION:
        return site.go("consent.group_joined")
    done = "consent.account_deleted" if kind == EmailKind.DELETION else "consent.address_changed"
    # Either of them signs every browser out.
    return session_cookie.delete_from(site.go(done), Cookie.PERSON)


@pages.get("/joined")
def group_joined() -> Response:
    """The confirmation that someone is in a group."""
    return site.page("consent_done.html", what="joined")


@pages.get("/left")
def account_deleted() -> Response:
    """The confirmation that an account was deleted."""
    return site.page("consent_done.html", what="left")


@pages.get("/moved")
def address_changed() -> Response:
    """The confirmation that an address was changed."""
    return site.page("consent_done.html", what="moved")
