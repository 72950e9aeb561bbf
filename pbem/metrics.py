"""Metrics of a process for Prometheus: requests, log rows, emails, ticks, retries.

Numbers that can be read from the database are not counted here. The rows of a transaction count when it is committed, and
not if it is rolled back.

Labels must have few values and hold nothing personal: the route of a request and never its path; a kind and never a name,
an id or a person's input. Nothing may be decided by a metric.
"""

import threading
from collections import Counter as Tally
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, Summary, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types

REGISTRY: Final = CollectorRegistry()
"""The metrics of this process."""

REQUESTS: Final = Counter("pbem_requests", "Requests answered.", ("route", "method", "status"), registry=REGISTRY)
REQUEST_SECONDS: Final = Histogram(
    "pbem_request_seconds",
    "How long answers took.",
    ("route",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=REGISTRY,
)
LOG_ROWS: Final = Counter(
    "pbem_log_rows", "Rows added to the logs of games: every move is one.", ("kind", "by"), registry=REGISTRY
)
EMAILS: Final = Counter("pbem_emails", "Emails dealt with, by outcome.", ("outcome",), registry=REGISTRY)
TICK_SECONDS: Final = Summary("pbem_tick_seconds", "How long a worker's tick took.", ("tick",), registry=REGISTRY)
TICK_FAILURES: Final = Counter("pbem_tick_failures", "Ticks that failed.", ("tick",), registry=REGISTRY)
RETRIES: Final = Counter("pbem_transaction_retries", "Transactions retried because of a conflict.", registry=REGISTRY)


class _Pending(threading.local):
    """The rows of the open transaction in this thread."""

    rows: Tally[tuple[str, str]]

    def __init__(self) -> None:
        self.rows = Tally()


_pending = _Pending()


# There are few labels, and looking them up takes longer than counting.
_requests, _request_seconds, _log_rows = cache(REQUESTS.labels), cache(REQUEST_SECONDS.labels), cache(LOG_ROWS.labels)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request and the time of its response."""
    _requests(route, method, status).inc()
    _request_seconds(route).observe(seconds)


def drop_pending_rows() -> None:
    """Drop the rows that an earlier try of this transaction has counted."""
    _pending.rows.clear()


def count_row(kind: str, by: str) -> None:
    """Count a row of a game's log, once its transaction is committed."""
    _pending.rows[kind, by] += 1


def count_pending_rows() -> None:
    """Add the rows of a committed transaction to the metrics."""
    for (kind, by), number in _pending.rows.items():
        _log_rows(kind, by).inc(number)
    _pending.rows.clear()
