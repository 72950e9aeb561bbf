"""Confirming by email: another address, or deleting the account. Opening the link does nothing; its button confirms."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.domain.states import EmailKind
from pbem.service.account import consent
from pbem.web import security, site
from pbem.web.errors import status_of
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import server

pages = Blueprint("consent", __name__)


@pages.get("/y/<token>")
def show(token: str) -> Response:
    """What is to be confirmed, and the button."""
    return _page(token)


@pages.post("/y/<token>")
def confirm(token: str) -> Response:
    """Do what is confirmed."""
    security.must_not_be_foreign()
    if not security.a_person_clicked():
        return _page(token, ask_again=True)
    try:
        kind = server().run(consent.give_consent, token)
    except Refusal as refused:
        return _page(token, refused)
    # Either of them signs every browser out.
    return session_cookie.delete_from(
        site.go("consent.account_deleted" if kind == EmailKind.DELETION else "consent.address_changed"), Cookie.PERSON
    )


@pages.get("/left")
def account_deleted() -> Response:
    """The confirmation that an account was deleted."""
    return site.page("consent_done.html", left=True)


@pages.get("/moved")
def address_changed() -> Response:
    """The confirmation that an address was changed."""
    return site.page("consent_done.html", left=False)


def _page(token: str, refused: Refusal | None = None, *, ask_again: bool = False) -> Response:
    found = server().read(consent.consent_request, token)
    status = status_of(refused)
    return site.page("consent.html", status, found=found, token=token, refused=refused, ask_again=ask_again)
