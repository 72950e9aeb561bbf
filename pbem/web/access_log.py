"""The access log: each request is logged and counted by the template of its address.

The address itself, which may hold a token, is not logged, and neither is who sent the request or what it contained.
"""

import time
from typing import Final

import structlog
from flask import Flask, Response, g, request

from pbem import metrics

_NOT_MODIFIED: Final = 304
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
"""Methods logged by name. A request can use any other word."""

_log = structlog.get_logger(__name__)


def log_requests(app: Flask) -> None:
    """Log every request to an application. Registered first, it measures everything else that handles a request."""
    app.before_request(_start)
    app.after_request(_log_answer)


def _start() -> None:
    g.started = time.perf_counter()


def _log_answer(response: Response) -> Response:
    # A request that the framework refuses at once was never started.
    seconds = time.perf_counter() - g.get("started", time.perf_counter())
    rule, method, status = request.url_rule, request.method, response.status_code
    route = "none" if rule is None else rule.rule
    method = method if method in _METHODS else "other"
    metrics.count_request(route, method, status, seconds)
    if status == _NOT_MODIFIED:
        # An open page asks every few seconds, and nothing was done.
        return response
    _log.info("request_answered", method=method, route=route, status=status, milliseconds=round(seconds * 1000, 1))
    return response
