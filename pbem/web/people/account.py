"""One's account: where one is signed in, everything that is kept about one, another address, and leaving for good."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address as account_change_address
from pbem.service.account import delete, personal_data
from pbem.service.people import addresses, blocks, sessions
from pbem.web import site
from pbem.web.errors import status_of
from pbem.web.people import my_page, session_cookie
from pbem.web.people.my_page import person_id
from pbem.web.people.session_cookie import Who
from pbem.web.site import field, server, whole_number

pages = Blueprint("account", __name__, url_prefix="/my")
pages.before_request(my_page.let_in)
pages.after_request(my_page.with_script)


@pages.get("/account")
def show() -> Response:
    """Where one is signed in, and what can be done with one's account."""
    return _page()


@pages.post("/sessions")
def end_session() -> Response:
    """Sign another browser out, or all others."""
    here = session_cookie.session(Who.PERSON)
    assert here is not None
    try:
        if field("others"):
            server().run(sessions.end_others, here.holder, here.id)
        else:
            server().run(sessions.end, here.holder, whole_number("session", _("the number of a sign-in")))
    except Refusal as refused:
        return _page(refused)
    return site.go("account.show")


@pages.post("/out")
def sign_out() -> Response:
    """Sign this browser out."""
    here = session_cookie.session(Who.PERSON)
    assert here is not None
    server().run(sessions.end, here.holder, here.id)
    return session_cookie.forget(site.go("front.show"), Who.PERSON)


@pages.get("/data.json")
def data() -> Response:
    """Everything that is kept about one, as one file."""
    response = Response(personal_data.export_person(server(), person_id()), mimetype="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@pages.post("/address")
def change_address() -> Response:
    """Ask for another address; it counts when the mail that goes there has got its yes."""
    try:
        server().run(account_change_address.ask, person_id(), field("address"))
    except Refusal as refused:
        return _page(refused)
    return site.go("front.sent")


@pages.post("/blocks")
def unblock() -> Response:
    """Hear somebody again whom one has not wanted to hear."""
    server().run(blocks.unblock, person_id(), whole_number("person", _("the number of a person")))
    return site.go("account.show")


@pages.post("/leave")
def leave() -> Response:
    """Ask to leave for good; it happens when the mail about it has got its yes."""
    try:
        server().run(delete.ask, person_id())
    except Refusal as refused:
        return _page(refused)
    return site.go("front.sent")


def _page(refused: Refusal | None = None) -> Response:
    here = session_cookie.session(Who.PERSON)
    assert here is not None
    return site.page(
        "own/account.html",
        status_of(refused),
        here=here,
        sessions=server().read(sessions.listed, here.holder),
        address=server().read(addresses.read, person_id()).address,
        blocked=server().read(blocks.of_person, person_id()),
        given=field,
        refused=refused,
    )
