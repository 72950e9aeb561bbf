"""The cookies of whoever has signed in: setting them, and finding the session behind one.

A person's and an organiser's are two, so that somebody can be both in one browser. They hold the session's secret and
nothing else; only our own pages send them, and no script reads them.
"""

from enum import StrEnum
from typing import Final

from flask import Response, g, request

from pbem.domain.device import device_name
from pbem.service.people import sessions
from pbem.service.people.sessions import LASTS_OF_ORGANISER, LASTS_OF_PERSON, Session
from pbem.web.site import config, server


class Who(StrEnum):
    """Whose session a cookie is: its name."""

    PERSON = "pbem-person"
    ORGANISER = "pbem-organiser"


_LASTS: Final = {Who.PERSON: LASTS_OF_PERSON, Who.ORGANISER: LASTS_OF_ORGANISER}


def session(who: Who) -> Session | None:
    """The session of this request; None where nobody of that kind has signed in. It is looked for once a request."""
    found: dict[Who, Session | None] = g.setdefault("sessions", {})
    if who not in found:
        known = server().read(sessions.find, request.cookies.get(_name(who), ""))
        matches = known is not None and (known.holder.organiser_id is not None) == (who is Who.ORGANISER)
        found[who] = known if matches else None
    return found[who]


def look_again(who: Who, secret: str | None = None) -> None:
    """Forget what this request knew of a session, because it was changed; with a secret it is of the one just opened."""
    found: dict[Who, Session | None] = g.setdefault("sessions", {})
    found.pop(who, None)
    if secret is not None:
        found[who] = server().read(sessions.find, secret)


def keep(response: Response, who: Who, secret: str) -> Response:
    """Give the browser the secret of its session."""
    response.set_cookie(
        _name(who), secret, max_age=_LASTS[who], secure=_secure(), httponly=True, samesite="Lax", path="/"
    )
    return response


def forget(response: Response, who: Who) -> Response:
    """Take the secret back from the browser."""
    response.delete_cookie(_name(who), secure=_secure(), httponly=True, samesite="Lax", path="/")
    return response


def this_device() -> str:
    """The device that this request comes from, in words."""
    return device_name(request.headers.get("User-Agent", ""))


def _name(who: Who) -> str:
    # With this prefix a browser takes the cookie only over https and from this very host.
    return f"__Host-{who}" if _secure() else who


def _secure() -> bool:
    return config().base_url.startswith("https:")
