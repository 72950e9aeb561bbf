"""Links that programs have changed on their way, led back to what was mailed.

Mail programs and filters write addresses in capitals, quote them twice, double their slashes or leave one at the end. What
is put right here is only how an address is written: whether its token is worth anything is asked where it leads.
"""

import re
from typing import Final
from urllib.parse import quote, unquote

from flask import Flask, Response, request

from pbem.tokens import Purpose

_LINK: Final = re.compile(rf"/+[{''.join(Purpose)}](?:/+[^/]+)+/*", re.IGNORECASE)


def lead_back(app: Flask) -> None:
    """Let an application lead whoever looks at such a link to the one that was mailed."""
    app.before_request(_lead_back)


def as_mailed(path: str) -> str | None:
    """How a link was written that came like this; None if it came so, or is none."""
    came = unquote(unquote(path)).strip()
    plain = "/" + "/".join(filter(None, came.split("/")))
    # Only where the first letter is a capital are all: a choice may be typed with some, and is read like that.
    if _LINK.fullmatch(came) is None or (plain == path and plain[1].islower()):
        return None
    return quote(plain.lower())


def _lead_back() -> Response | None:
    if request.method not in ("GET", "HEAD") or (mailed := as_mailed(request.path)) is None:
        return None
    return Response(status=303, headers={"Location": mailed})
