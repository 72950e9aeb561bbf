"""A person's account: sign-ins, stored data, another address, muted players, and deleting the account."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address as address_change, delete, personal_data
from pbem.service.people import addresses, blocks, sessions
from pbem.web import site
from pbem.web.errors import status_of
from pbem.web.people import my_page, session_cookie
from pbem.web.people.my_page import person_id
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server, whole_number

pages = Blueprint("account", __name__, url_prefix="/my")
pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)


@pages.get("/account")
def show() -> Response:
    """The account page."""
    return _page()


@pages.post("/sessions")
def end_session() -> Response:
    """Sign out another browser, or all others."""
    here = session_cookie.session(Cookie.PERSON)
    assert here is not None
    try:
        if field("others"):
            server().run(sessions.end_all, here.holder, here.id)
        else:
            server().run(sessions.end, here.holder, whole_number("session", _("the number of a sign-in")))
    except Refusal as refused:
        return _page(refused)
    return site.go("account.show")


@pages.post("/out")
def sign_out() -> Response:
    """Sign this browser out."""
    here = session_cookie.session(Cookie.PERSON)
    assert here is not None
    server().run(sessions.end, here.holder, here.id)
    return session_cookie.delete_from(site.go("front.show"), Cookie.PERSON)


@pages.get("/data.json")
def download_data() -> Response:
    """Everything stored about a person, as a file."""
    response = Response(personal_data.export_person(server(), person_id()), mimetype="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@pages.post("/address")
def change_address() -> Response:
    """Ask for another address. It takes effect once it is confirmed by the email that goes there."""
    try:
        server().run(address_change.ask, person_id(), field("address"))
    except Refusal as refused:
        return _page(refused)
    return site.go("front.sent")


@pages.post("/blocks")
def unblock() -> Response:
    """Unmute a player."""
    server().run(blocks.unblock, person_id(), whole_number("person", _("the number of a person")))
    return site.go("account.show")


@pages.post("/leave")
def delete_account() -> Response:
    """Ask for the account to be deleted. It is, once that is confirmed by an email."""
    try:
        server().run(delete.ask, person_id())
    except Refusal as refused:
        return _page(refused)
    return site.go("front.sent")


def _page(refused: Refusal | None = None) -> Response:
    here = session_cookie.session(Cookie.PERSON)
    assert here is not None
    return site.page(
        "own/account.html",
        status_of(refused),
        here=here,
        sessions=server().read(sessions.open_sessions, here.holder),
        address=server().read(addresses.read, person_id()).address,
        blocked=server().read(blocks.blocked_by, person_id()),
        given=field,
        refused=refused,
    )
