"""Errors as pages and as answers of the API. The log entry of a fault has no token and no address."""

from typing import Any

import structlog
from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException, SecurityError

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, PbemError, Refusal, Unavailable
from pbem.i18n.speech import gettext as _
from pbem.store.database_errors import for_visitors
from pbem.web.site import config, page, status_of

_log = structlog.get_logger(__name__)


def handle_errors(app: Flask) -> None:
    """Answer every error of an application with a page, or an answer of the API, that says what to do."""
    app.register_error_handler(PbemError, _answer_own)
    app.register_error_handler(HTTPException, _answer_framework)
    app.register_error_handler(Exception, _answer_unexpected)


def as_data(error: PbemError, **more: Any) -> dict[str, Any]:
    """An error as the API returns it."""
    values = {"kind": type(error).__name__, "what": error.what, "why": error.why, "remedy": error.remedy}
    return {"error": values | more}


def _answer_own(error: PbemError) -> Response:
    if not isinstance(error, Refusal):
        _log.error("request_failed", endpoint=request.endpoint, exc_info=error)
    return _answer(error, status_of(error))


def _answer_framework(error: HTTPException) -> Response:
    if isinstance(error, SecurityError):
        # The request names another host, so no page of this site could give an address that works there.
        words = f"There is no such site here. Ours is at {config().base_url}.\n"
        return Response(words, 400, mimetype="text/plain")
    if error.code is None or error.code < 400:
        response: Response = error.get_response()  # type: ignore[assignment]  # with Flask it is its own kind
        return response
    if error.code == 401:
        answer = _answer(_error_of(401), 401)
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer
    answer = _answer(_error_of(error.code), error.code)
    if error.code == 405 and getattr(error, "valid_methods", None):
        answer.headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]  # looked at above
    return answer


def _error_of(code: int) -> PbemError:
    """The error for a request that the framework has refused."""
    match code:
        case 400:
            return BadInput(_("This request can't be read."))
        case 401:
            return Forbidden(
                _("This needs a seat's token."),
                why=_("Without it, we don't know which seat you mean."),
                remedy=_("Find it on your seat's page, and send it as “Authorization: Bearer”."),
            )
        case 404:
            return NotFound(_("There is nothing at this address."))
        case 405:
            return BadInput(_("That didn't work."), remedy=_("Open the link again and press the button on its page."))
        case 413:
            return BadInput(_("That's too much at once."), remedy=_("Nothing changed. Send less."))
        case 415:
            return BadInput(_("We can't read this kind of data here."))
        case _other:
            return BadInput(_("This request can't be answered."))


def _answer_unexpected(error: Exception) -> Response:
    _log.error("request_failed", endpoint=request.endpoint, exc_info=error)
    fault = for_visitors(error)
    return _answer(fault, status_of(fault))


def _answer(error: PbemError, status: int) -> Response:
    if request.path.startswith("/api/"):
        response = jsonify(as_data(error))
        response.status_code = status
        return response
    lost = isinstance(error, (NotFound, Gone))
    # Where the records cannot be written, a message to the organiser cannot be either.
    broken = not isinstance(error, (Refusal, Unavailable))
    table, tournament = (error.table, error.tournament) if isinstance(error, Gone) else ("", "")
    return page("error.html", status, error=error, lost=lost, broken=broken, table=table, tournament=tournament)
