"""An organiser's account: signing in and out, other sign-ins, one-time codes, and another passphrase."""

import re
from typing import Final

from flask import Blueprint, Response, make_response, redirect, request

from pbem.domain.acts import Act
from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.desk import one_time_codes, sign_in as desk_sign_in
from pbem.service.people import sessions
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server

pages = Blueprint("desk_account", __name__)

HOME: Final = "/desk"
"""The page after signing in, where no other was asked for."""

_DESK_PAGE: Final = re.compile(r"/desk(/[\w/-]*)?(\?[\w.:=&%+-]*)?", re.ASCII)
"""A page of the desk. Any other address could come from someone who wants to lead an organiser to another site."""


def _page(refused: Refusal | None = None, secret: str = "") -> Response:
    session = permissions.organiser_session()
    return site.page(
        "desk/account.html",
        open=server().read(sessions.open_sessions, session.holder),
        here=session.id,
        with_codes=server().read(desk_sign_in.has_codes, session),
        secret=secret,
        address=one_time_codes.address(secret, permissions.actor().name, site.config().site.name) if secret else "",
        refused=refused,
    )


@pages.get("/desk/sign-in")
def sign_in_page(to: str = "", refused: Refusal | None = None) -> Response:
    """The form to sign in; `to` is the page to go to afterwards."""
    to = to or request.args.get("to", "")
    return site.page("desk/sign_in.html", action=request.path, kept=[], again=False, to=to, refused=refused)


@pages.post("/desk/sign-in")
def sign_in() -> Response:
    """Sign in, and lead to the page that was asked for."""
    to = field("to")
    try:
        permissions.sign_in()
    except Refusal as refused:
        return sign_in_page(to, refused)
    return make_response(redirect(to if _DESK_PAGE.fullmatch(to) else HOME, 303))


@pages.post("/desk/sign-out")
@permissions.needs(Act.ACCOUNT)
def sign_out() -> Response:
    """End the session of this browser."""
    session = permissions.organiser_session()
    server().run(sessions.end, session.holder, session.id)
    return session_cookie.delete_from(site.go("desk_account.sign_in_page", done="here signed out"), Cookie.ORGANISER)


@pages.get("/desk/account")
@permissions.needs(Act.ACCOUNT)
def show() -> Response:
    return _page()


@pages.post("/desk/account/end")
@permissions.needs(Act.ACCOUNT)
def end() -> Response:
    """Sign out another browser, or all others."""
    session = permissions.organiser_session()
    if field("session"):
        since = {each.id: each.made_at for each in server().read(sessions.open_sessions, session.holder)}
        server().run(sessions.end, session.holder, site.row("session", _("a sign-in number"), since.get))
        return site.go("desk_account.show", done="signed out")
    server().run(sessions.end_all, session.holder, session.id)
    return site.go("desk_account.show", done="others signed out")


@pages.post("/desk/account/codes")
@permissions.needs(Act.CODES_ON)
def turn_codes_on() -> Response:
    """Show a secret for one-time codes; with a secret and a right code, ask for codes from now on."""
    secret = field("secret")
    if not secret:
        return _page(secret=one_time_codes.new_secret(server().randomness))
    try:
        server().run(desk_sign_in.ask_for_codes, permissions.organiser_session(), secret, field("code"))
    except Refusal as refused:
        return _page(refused, secret)
    return site.go("desk_account.show", done="codes on")


@pages.post("/desk/account/no-codes")
@permissions.needs(Act.CODES_OFF)
def turn_codes_off() -> Response:
    """Ask for the passphrase alone from now on."""
    server().run(desk_sign_in.ask_for_no_codes, permissions.organiser_session())
    return site.go("desk_account.show", done="codes off")


@pages.post("/desk/account/passphrase")
@permissions.needs(Act.PASSPHRASE)
@site.shows_refusals_on(_page, about=f"{permissions.OWN_FIELDS}new")
def change_passphrase() -> Response:
    old, new = (field(f"{permissions.OWN_FIELDS}{name}") for name in ("old", "new"))
    desk_sign_in.change(server(), permissions.organiser_session(), old, new)
    return site.go("desk_account.show", done="passphrase")
