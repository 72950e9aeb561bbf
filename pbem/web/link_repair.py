"""Repairing links that email programs have changed.

Email programs and filters write addresses in capitals, quote them twice, double their slashes or add one at the end. Only
the spelling of an address is repaired here; whether its token is valid is checked by the page it leads to.
"""

import re
from typing import Final
from urllib.parse import quote, unquote

from flask import Flask, Response, request

from pbem.tokens import Purpose

_LINK: Final = re.compile(rf"/+[{''.join(Purpose)}](?:/+[^/]+)+/*", re.IGNORECASE)


def repair_links(app: Flask) -> None:
    """Let an application redirect requests for such a link to the link as it was sent."""
    app.before_request(_redirect)


def as_sent(path: str) -> str | None:
    """The path of a link as it was sent; None if it is unchanged, or not one of the links in an email."""
    unquoted = unquote(unquote(path)).strip()
    plain = "/" + "/".join(filter(None, unquoted.split("/")))
    # If the first letter is no capital, others were typed on purpose: a choice may be typed with capitals.
    if _LINK.fullmatch(unquoted) is None or (plain == path and plain[1].islower()):
        return None
    return quote(plain.lower())


def _redirect() -> Response | None:
    if request.method not in ("GET", "HEAD") or (link := as_sent(request.path)) is None:
        return None
    return Response(status=303, headers={"Location": link})
