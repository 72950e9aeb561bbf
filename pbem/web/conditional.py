"""Answers that are the same for everyone: a tag of what they say lets programs ask whether anything is new.

Caches may store them, but ask each time: what people no longer show is gone at once.
"""

import hashlib
from typing import Final

from flask import Response, request

_HEADERS: Final = {
    "Cache-Control": "public, no-cache",
    # Nothing here depends on who asks, so pages of other sites may read it.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}

_TAG_LENGTH: Final = 32


def answer(text: str, mimetype: str) -> Response:
    """A text, or 304 for a program that has it already."""
    response = Response(text, mimetype=mimetype)
    response.set_etag(hashlib.sha256(response.data).hexdigest()[:_TAG_LENGTH])
    return for_everyone(response).make_conditional(request)  # type: ignore[return-value]  # it returns the same response


def for_everyone(response: Response) -> Response:
    """An answer with the headers of one that is the same for everyone."""
    response.headers.update(_HEADERS)
    return response
