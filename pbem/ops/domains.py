"""How other people's mail servers take our mails: what the doctor says of each domain, and of dead addresses.

It reads numbers of domains and days, never an address.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from pbem.clock import SystemClock
from pbem.domain.finding import Finding, Severity
from pbem.store import reachability, traffic
from pbem.store.database import Store
from pbem.store.traffic import TrafficRow

LATELY: Final = timedelta(days=7)

_FEW: Final = 5
"""Of fewer mails than this nothing can be said."""

_MOST_BOUNCED: Final = 0.05
_MOST_DEFERRED: Final = 0.5
_MOST_COMPLAINED: Final = 0.001
"""The share of complaints above which large providers begin to put mails away unseen."""

_MOST_SHOWN: Final = 5
_MOST_COUNTED: Final = 1000


def look_at_domains(store: Store) -> Iterator[Finding]:
    """What became of the mails of the last week, and which domains are in the way."""
    now = SystemClock().now()
    with store.read() as tx:
        rows = traffic.since(tx, now.date() - LATELY)
        dead = reachability.failing(tx, now, _MOST_COUNTED)
    sent = sum(row.sent for row in rows)
    troubled = [row for row in rows if _is_troubled(row)]
    if troubled:
        says = "; ".join(map(_said, troubled[:_MOST_SHOWN])) + (" and others." if troubled[_MOST_SHOWN:] else ".")
        remedy = "See `pbem mail check` for what the DNS lacks, and the ledger for what these servers say."
        yield Finding("domains", Severity.WARNING, f"Within a week, {says}", remedy)
    else:
        yield Finding("domains", Severity.OK, f"{sent} mails were taken for {len(rows)} domains within a week")
    if dead:
        remedy = "Their readers and the others at their tables know. They come back by themselves when a mail arrives."
        yield Finding("addresses", Severity.WARNING, f"{len(dead)} people cannot be reached by mail.", remedy)


def _is_troubled(row: TrafficRow) -> bool:
    tried = row.sent + row.deferred + row.bounced
    if tried < _FEW:
        return False
    return (
        row.bounced > _MOST_BOUNCED * tried
        or row.deferred > _MOST_DEFERRED * tried
        or row.complained > _MOST_COMPLAINED * tried
    )


def _said(row: TrafficRow) -> str:
    told = [
        f"{number} {what}"
        for number, what in (
            (row.sent, "taken"),
            (row.deferred, "put off"),
            (row.bounced, "refused"),
            (row.complained, "called spam"),
        )
        if number
    ]
    return f"{row.domain}: {', '.join(told)}"
