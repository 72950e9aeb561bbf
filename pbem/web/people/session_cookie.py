"""The cookies of people who are signed in, and the sessions behind them.

People and organisers have different cookies, so one browser can be signed in as both. A cookie holds the secret of its
session and nothing else. A third says that an organiser has signed in here before (see `pbem.service.desk.devices`). It is sent by pages of this site alone, and scripts cannot read it.
"""

from enum import StrEnum
from typing import Final

from flask import Response, g, request

from pbem.service.desk import devices
from pbem.service.people import sessions
from pbem.service.people.sessions import ORGANISER_LIFETIME, PERSON_LIFETIME, Session
from pbem.web import csrf
from pbem.web.site import config, server


class Cookie(StrEnum):
    """The cookies, by their names."""

    PERSON = "pbem-person"
    ORGANISER = "pbem-organiser"
    DEVICE = "pbem-device"


_LIFETIMES: Final = {
    Cookie.PERSON: PERSON_LIFETIME,
    Cookie.ORGANISER: ORGANISER_LIFETIME,
    Cookie.DEVICE: devices.LIFETIME,
}

# The first match counts: most browsers also claim to be those further down.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
    ("Lynx/", "Lynx"),
    ("w3m/", "w3m"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
)


def session(cookie: Cookie) -> Session | None:
    """The session behind a cookie of this request, or None. It is read once in a request."""
    known: dict[Cookie, Session | None] = g.setdefault("sessions", {})
    if cookie not in known:
        found = _find(value(cookie))
        matches = found is not None and (found.holder.organiser_id is not None) == (cookie is Cookie.ORGANISER)
        known[cookie] = found if matches else None
    return known[cookie]


def reader() -> int | None:
    """The person who is signed in, or None."""
    found = session(Cookie.PERSON)
    return None if found is None else found.holder.person_id


def is_of(person_id: int) -> bool:
    """Whether this browser is signed in as this person."""
    found = session(Cookie.PERSON)
    return found is not None and found.holder.person_id == person_id


def refresh(cookie: Cookie, secret: str | None = None) -> None:
    """Forget what this request knew of a session, because it was changed; with a secret it is of the one just opened."""
    known: dict[Cookie, Session | None] = g.setdefault("sessions", {})
    known.pop(cookie, None)
    if secret is not None:
        known[cookie] = _find(secret)


def value(cookie: Cookie) -> str:
    """The text of a cookie of this request; empty if it has none."""
    return request.cookies.get(_name(cookie), "")


def set_on(response: Response, cookie: Cookie, secret: str) -> Response:
    """Give the browser the secret of its session, or the device it is. Raises Forbidden if another site asks for that."""
    csrf.refuse_other_pages()
    response.set_cookie(
        _name(cookie), secret, max_age=_LIFETIMES[cookie], secure=_secure(), httponly=True, samesite="Lax", path="/"
    )
    return response


def delete_from(response: Response, cookie: Cookie) -> Response:
    """Make the browser forget the secret. Raises Forbidden if another site asks for that."""
    csrf.refuse_other_pages()
    response.delete_cookie(_name(cookie), secure=_secure(), httponly=True, samesite="Lax", path="/")
    return response


def may_work_at_desk() -> bool:
    """Whether this browser has the cookie of an organiser, for a link to the desk; the desk itself decides.

    False in a page that is cached, because everyone who opens it next gets the same one.
    """
    return not g.get("cached") and _name(Cookie.ORGANISER) in request.cookies


def device_name(user_agent: str) -> str:
    """A guess at a device, such as `Firefox on Linux`, so that people recognise theirs; empty if unknown. Decides nothing."""
    browser = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return " on ".join(filter(None, (browser, system)))


def this_device() -> str:
    return device_name(request.headers.get("User-Agent", ""))


def _find(secret: str) -> Session | None:
    # Whatever else says who acts in this request: that has no say in this.
    with server().store.read() as tx:
        return sessions.find(tx, server(), secret)


def _name(cookie: Cookie) -> str:
    # With this prefix a browser accepts the cookie only over https and from exactly this host.
    return f"__Host-{cookie}" if _secure() else cookie


def _secure() -> bool:
    return config().base_url.startswith("https:")
