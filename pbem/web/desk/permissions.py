"""Who may come to a page of the desk: every page and every form there names the act that it is for.

An organiser comes by passphrase, the host of a table by the link that signs people in. Whoever is signed out, or has to
give the passphrase again, is asked on the spot: what was typed into a form waits there and is sent on by the same button,
so that nothing is lost and nothing is done unasked. The actor is worked out anew for each request, and for the table or the
person that its address names.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from flask import Response, after_this_request, g, request

from pbem.domain.acts import NEEDS_PASSPHRASE, Act, Actor, Role
from pbem.domain.errors import NotFound, Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.desk import organisers
from pbem.service.desk import sign_in as desk_sign_in
from pbem.service.people import sessions
from pbem.web import security, site
from pbem.web.errors import status_of
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Who
from pbem.web.site import field, server

View = Callable[..., Response]

OWN_FIELDS: Final = "desk-"
"""What the door asks for in somebody else's form begins like this, and is handed on to nobody."""

MOST: Final = 2**62
"""No row of any table has a larger number, and the databases could not be asked for one."""


def needs(act: Act) -> Callable[[View], View]:
    """A page or a form for whoever may do this: to the table `game_id` or the person `person_id` that the address names."""

    def guarded(view: View) -> View:
        @wraps(view)
        def asked(**values: Any) -> Response:
            if any(isinstance(value, int) and value > MOST for value in values.values()):
                raise NotFound(_("There is nothing at this address."))
            if request.method == "POST":
                return _sent(view, act, values)
            return _opened(view, act, values)

        return asked

    return guarded


def actor() -> Actor:
    """Who has been let in."""
    found: Actor = g.actor
    return found


def organiser_session() -> sessions.Session:
    """The session of an organiser who has been let in."""
    found = session_cookie.session(Who.ORGANISER)
    assert found is not None, "only organisers come to a page of their own"
    return found


def sign_in() -> None:
    """Sign in whoever has just typed a name and a passphrase, whatever comes of the rest of this request."""
    given = field(f"{OWN_FIELDS}name"), field(f"{OWN_FIELDS}passphrase"), field(f"{OWN_FIELDS}code")
    secret = desk_sign_in.sign_in(server(), *given, session_cookie.this_device())
    session_cookie.look_again(Who.ORGANISER, secret)

    @after_this_request
    def keep(response: Response) -> Response:
        return session_cookie.keep(response, Who.ORGANISER, secret)


def form_key() -> str:
    """The key of a new form, which works once: it goes with the form as a hidden field, and to `audit.record`."""
    return server().randomness.bytes(16).hex()


def _opened(view: View, act: Act, values: dict[str, Any]) -> Response:
    found = _who(act, values)
    if found is None:
        return site.go("desk_account.sign_in_page", to=_here())
    g.actor = found
    return view(**values)


def _sent(view: View, act: Act, values: dict[str, Any]) -> Response:
    security.must_be_ours()
    try:
        _take_passphrase()
    except Refusal as refused:
        return _ask(refused)
    found = _who(act, values)
    if found is None or (found.role is Role.ORGANISER and act in NEEDS_PASSPHRASE and not _fresh()):
        return _ask()
    g.actor = found
    if found.role is Role.ORGANISER:
        sessions.used(server(), organiser_session())
    return view(**values)


def _who(act: Act, values: dict[str, Any]) -> Actor | None:
    signed = session_cookie.session(Who.ORGANISER), session_cookie.session(Who.PERSON)
    about = {name: values.get(name) for name in ("game_id", "person_id")}
    return server().read(organisers.acting, act, *signed, **about)


def _fresh() -> bool:
    return desk_sign_in.fresh(server(), organiser_session())


def _here() -> str:
    """The address of this request, as this site names it."""
    return request.path + (f"?{request.query_string.decode()}" if request.query_string else "")


def _take_passphrase() -> None:
    """Take the passphrase that came with a form, if one did: to sign in, or to show that it is still the same person."""
    if f"{OWN_FIELDS}passphrase" not in request.form:
        return
    session = session_cookie.session(Who.ORGANISER)
    if session is None:
        sign_in()
        return
    desk_sign_in.check_again(server(), session, field(f"{OWN_FIELDS}passphrase"))
    session_cookie.look_again(Who.ORGANISER)


def _ask(refused: Refusal | None = None) -> Response:
    """Ask who it is, or for the passphrase once more, and keep what was typed meanwhile."""
    kept = [pair for pair in request.form.items(multi=True) if not pair[0].startswith(OWN_FIELDS)]
    return site.page(
        "desk/sign_in.html",
        403 if refused is None else status_of(refused),
        action=_here(),
        kept=kept,
        again=session_cookie.session(Who.ORGANISER) is not None,
        to="",
        refused=refused,
    )
