"""What a process counts while it runs, for whoever watches it: requests, rows of logs, mails, ticks, repeats.

Numbers that stand in the database are not counted here, because they can be asked for when somebody wants to know. What a
transaction has done counts when it is kept, and not at all if it is not.

A label holds what there is little of and everybody may know: the template of an address and never an address of a page, a
kind and never a name, a number or anything that somebody typed. Nothing is decided by what is counted.
"""

import threading
from collections import Counter as Tally
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, Summary, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # it says no types

COUNTED: Final = CollectorRegistry()
"""Everything that this process counts."""

REQUESTS: Final = Counter(
    "pbem_requests", "Requests that were answered.", ("route", "method", "status"), registry=COUNTED
)
REQUEST_SECONDS: Final = Histogram(
    "pbem_request_seconds",
    "How long an answer took.",
    ("route",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=COUNTED,
)
LOG_ROWS: Final = Counter(
    "pbem_log_rows", "Rows added to the logs of games: every move is one.", ("kind", "by"), registry=COUNTED
)
MAILS: Final = Counter(
    "pbem_mails", "Mails that were dealt with, by what became of them.", ("outcome",), registry=COUNTED
)
TICK_SECONDS: Final = Summary("pbem_tick_seconds", "How long a worker's tick took.", ("tick",), registry=COUNTED)
TICK_FAILURES: Final = Counter("pbem_tick_failures", "Ticks that ended in a fault.", ("tick",), registry=COUNTED)
RETRIES: Final = Counter(
    "pbem_transaction_retries", "Transactions run again, because another was in the way.", registry=COUNTED
)


class _Pending(threading.local):
    """The rows of the transaction that is under way in this thread."""

    rows: Tally[tuple[str, str]]

    def __init__(self) -> None:
        self.rows = Tally()


_pending = _Pending()


# There are few labels, and looking them up takes longer than counting.
_requests, _request_seconds, _log_rows = cache(REQUESTS.labels), cache(REQUEST_SECONDS.labels), cache(LOG_ROWS.labels)


def request_answered(route: str, method: str, status: int, seconds: float) -> None:
    """A request was answered."""
    _requests(route, method, status).inc()
    _request_seconds(route).observe(seconds)


def transaction_begun() -> None:
    """What an earlier try of this transaction has done does not count."""
    _pending.rows.clear()


def row_added(kind: str, by: str) -> None:
    """A row of a game's log, which counts when the transaction is kept."""
    _pending.rows[kind, by] += 1


def transaction_kept() -> None:
    """What the transaction has done is done."""
    for (kind, by), number in _pending.rows.items():
        _log_rows(kind, by).inc(number)
    _pending.rows.clear()
