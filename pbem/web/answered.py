"""Each request is counted and told to the operator when it was answered: by the template of its address.

The address itself, which may hold a token, who asked, and what was sent are written down nowhere.
"""

import time

import structlog
from flask import Flask, Response, g, request

from pbem import metrics

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
    route = None if request.url_rule is None else request.url_rule.rule
    metrics.request_answered(route, request.method, response.status_code, seconds)
    _log.info(
        "request_answered",
        method=request.method,
        route=route,
        status=response.status_code,
        milliseconds=round(seconds * 1000, 1),
    )
    return response
