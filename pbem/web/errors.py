"""Errors become pages, and answers of the API, here and nowhere else.

A refusal says what happened, why, and what to do now; a fault of ours says so, and what the log holds of it names no
token and no address.
"""

from typing import Any, Final

import structlog
from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException, SecurityError

from pbem.domain.errors import (
    BadInput,
    Fault,
    Forbidden,
    Gone,
    NotFound,
    PbemError,
    Refusal,
    Stale,
    TooMany,
    Unavailable,
)
from pbem.i18n.speech import gettext as _
from pbem.store.database_errors import for_visitors
from pbem.web.site import config, page

STATUS: Final[dict[type[PbemError], int]] = {
    BadInput: 400,
    Forbidden: 403,
    NotFound: 404,
    Gone: 410,
    Stale: 409,
    TooMany: 429,
    Unavailable: 503,
    Fault: 500,
}

_log = structlog.get_logger(__name__)


def answer_errors(app: Flask) -> None:
    """Let every error of an application end in a page or an answer that says what to do."""
    app.register_error_handler(PbemError, _of_ours)
    app.register_error_handler(HTTPException, _of_the_framework)
    app.register_error_handler(Exception, _of_nobody)


def status_of(error: PbemError | None) -> int:
    """The HTTP status of an error; 200 where there is none."""
    return 200 if error is None else next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def as_data(error: PbemError, **more: Any) -> dict[str, Any]:
    """An error as the API tells it."""
    named = {"kind": type(error).__name__, "what": error.what, "why": error.why, "remedy": error.remedy}
    return {"error": named | more}


def _of_ours(error: PbemError) -> Response:
    if not isinstance(error, Refusal):
        _log.error("request_failed", endpoint=request.endpoint, exc_info=error)
    return _told(error, status_of(error))


def _of_the_framework(error: HTTPException) -> Response:
    if isinstance(error, SecurityError):
        # Asked for under a name that is not ours: there is no address that a page of ours could name.
        words = f"This is not the site that you asked for. Ours is at {config().base_url} and nowhere else.\n"
        return Response(words, 400, mimetype="text/plain")
    if error.code is None or error.code < 400:
        response: Response = error.get_response()  # type: ignore[assignment]  # Flask has it make its own kind
        return response
    if error.code == 401:
        told = _told(_of_code(401), 401)
        told.headers["WWW-Authenticate"] = "Bearer"
        return told
    told = _told(_of_code(error.code), error.code)
    if error.code == 405 and getattr(error, "valid_methods", None):
        told.headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]  # asked above
    return told


def _of_code(code: int) -> PbemError:
    """What the framework has refused before any of our code was asked."""
    match code:
        case 400:
            return BadInput(_("This request cannot be read."))
        case 401:
            return Forbidden(
                _("This needs the token of a seat."),
                why=_("Without one we do not know which seat is meant."),
                remedy=_("The page of your seat shows it; send it as “Authorization: Bearer”."),
            )
        case 404:
            return NotFound(_("There is nothing at this address."))
        case 405:
            return BadInput(
                _("This address cannot be used like that."),
                remedy=_("Please open the link again and use its button."),
            )
        case 413:
            return BadInput(_("That is too much at once."), remedy=_("Nothing was changed; please send less."))
        case 415:
            return BadInput(_("This kind of data is not read here."))
        case _other:
            return BadInput(_("This request cannot be answered."))


def _of_nobody(error: Exception) -> Response:
    _log.error("request_failed", endpoint=request.endpoint, exc_info=error)
    fault = for_visitors(error)
    return _told(fault, status_of(fault))


def _told(error: PbemError, status: int) -> Response:
    if request.path.startswith("/api/"):
        response = jsonify(as_data(error))
        response.status_code = status
        return response
    lost = isinstance(error, (NotFound, Gone))
    # A call to the organiser would have to be written down, too.
    broken = not isinstance(error, (Refusal, Unavailable))
    return page("error.html", status, error=error, lost=lost, broken=broken)
