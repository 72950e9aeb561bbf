"""Each request is counted and told to the operator when it was answered: by the template of its address.

The address itself, which may hold a token, who asked, and what was sent are written down nowhere.
"""

import time
from typing import Final

import structlog
from flask import Flask, Response, g, request

from pbem import metrics

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
"""Those that have a name here; a program can ask with any other word."""

_log = structlog.get_logger(__name__)


def watch(app: Flask) -> None:
    """Tell of every request to an application. Registered first, it measures all the others."""
    app.before_request(_begin)
    app.after_request(_tell)


def _begin() -> None:
    g.begun = time.perf_counter()


def _tell(response: Response) -> Response:
    # A request that the framework turns away at once was never begun.
    seconds = time.perf_counter() - g.get("begun", time.perf_counter())
    rule, method, status = request.url_rule, request.method, response.status_code
    route = "none" if rule is None else rule.rule
    method = method if method in _METHODS else "other"
    metrics.count_request(route, method, status, seconds)
    _log.info("request_answered", method=method, route=route, status=status, milliseconds=round(seconds * 1000, 1))
    return response
