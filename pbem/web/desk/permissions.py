"""Permissions at the desk: every page and every form names the act it is for.

Organisers sign in by passphrase, the host of a table by an emailed link. An organiser whose session has ended, or who has to
confirm the passphrase, is asked on the spot. The form they have filled in waits there and is sent on by the same button, so
nothing is lost. The actor is determined for each request, and for the table or person in its address.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from flask import Response, after_this_request, g, request

from pbem.domain.acts import NEEDS_PASSPHRASE, Act, Actor, Role
from pbem.domain.errors import NotFound, Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.desk import devices, organisers, sign_in as desk_sign_in
from pbem.service.people import sessions
from pbem.service.people.sessions import SessionProof
from pbem.web import client, site
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, server

View = Callable[..., Response]

OWN_FIELDS: Final = "desk-"
"""The prefix of the fields for signing in. They may be part of another form, which never gets them."""

MOST: Final = 2**62
"""No row has a larger number, and the databases could not be asked for one."""


def needs(act: Act) -> Callable[[View], View]:
    """Guard a view: only people who may do this, to the `game_id` or `person_id` of the address, get to it."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(**values: Any) -> Response:
            if any(isinstance(value, int) and value > MOST for value in values.values()):
                raise NotFound(_("There is nothing at this address."))
            if request.method == "POST":
                return _post(view, act, values)
            return _get(view, act, values)

        return guarded

    return guard


def actor() -> Actor:
    allowed: Actor = g.actor
    return allowed


def organiser_session() -> sessions.Session:
    session = session_cookie.session(Cookie.ORGANISER)
    assert session is not None, "only organisers get to this page"
    return session


def sign_in() -> None:
    """Sign in the organiser who typed a name and a passphrase, whatever becomes of the rest of this request."""
    name, passphrase, code = field(f"{OWN_FIELDS}name"), field(f"{OWN_FIELDS}passphrase"), field(f"{OWN_FIELDS}code")
    browser, earlier = session_cookie.this_device(), session_cookie.value(Cookie.DEVICE)
    secret = desk_sign_in.sign_in(
        server(),
        name,
        passphrase,
        code,
        browser,
        network=client.network(),
        device=earlier,
        person_id=session_cookie.reader(),
    )
    session_cookie.refresh(Cookie.ORGANISER, secret)

    @after_this_request
    def keep(response: Response) -> Response:
        session_cookie.set_on(response, Cookie.DEVICE, devices.issue(server(), name))
        return session_cookie.set_on(response, Cookie.ORGANISER, secret)


def form_key() -> str:
    """A key for a new form, which works once. It is a hidden field of the form, and goes to `audit.record`."""
    return server().randomness.bytes(16).hex()


def _get(view: View, act: Act, values: dict[str, Any]) -> Response:
    actor = _actor(act, values)
    if actor is None:
        return site.go("desk_account.sign_in_page", to=_here())
    g.actor = actor
    return view(**values)


def _post(view: View, act: Act, values: dict[str, Any]) -> Response:
    try:
        _check_passphrase()
    except Refusal as refused:
        return _ask(refused)
    actor = _actor(act, values)
    if actor is None or (actor.role is Role.ORGANISER and act in NEEDS_PASSPHRASE and not _fresh()):
        return _ask()
    g.actor = actor
    session = session_cookie.session(Cookie.ORGANISER if actor.role is Role.ORGANISER else Cookie.PERSON)
    assert session is not None, "it says who acts"
    site.act_with(SessionProof(session))
    if actor.role is Role.ORGANISER:
        sessions.note_use(server(), session)
    return view(**values)


def _actor(act: Act, values: dict[str, Any]) -> Actor | None:
    cookies = session_cookie.session(Cookie.ORGANISER), session_cookie.session(Cookie.PERSON)
    about = {name: values.get(name) for name in ("game_id", "person_id")}
    return server().read(organisers.acting, act, *cookies, **about)


def _fresh() -> bool:
    return desk_sign_in.fresh(server(), organiser_session())


def _here() -> str:
    """The address of this request, as this site names it."""
    return request.path + (f"?{request.query_string.decode()}" if request.query_string else "")


def _check_passphrase() -> None:
    """Check the passphrase in a form, if there is one: to sign in, or to confirm that it is still the same person."""
    if f"{OWN_FIELDS}passphrase" not in request.form:
        return
    session = session_cookie.session(Cookie.ORGANISER)
    if session is None:
        sign_in()
        return
    site.act_with(SessionProof(session))
    desk_sign_in.check_again(server(), session, field(f"{OWN_FIELDS}passphrase"))
    session_cookie.refresh(Cookie.ORGANISER)


def _ask(refused: Refusal | None = None) -> Response:
    """Ask the organiser to sign in, or to confirm the passphrase, and keep the fields of the form meanwhile."""
    fields = [pair for pair in request.form.items(multi=True) if not pair[0].startswith(OWN_FIELDS)]
    return site.page(
        "desk/sign_in.html",
        403 if refused is None else None,
        action=_here(),
        kept=fields,
        again=session_cookie.session(Cookie.ORGANISER) is not None,
        to="",
        refused=refused,
    )
