"""How other mail servers take our emails: the doctor's findings by domain, and failing addresses.

It reads counts by domain and day, never an address.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from pbem.clock import SystemClock
from pbem.domain import finding
from pbem.domain.finding import Finding
from pbem.store import reachability, traffic
from pbem.store.database import Store
from pbem.store.traffic import TrafficRow

PERIOD: Final = timedelta(days=7)

_FEW: Final = 5
"""Too few emails for a judgement."""

_MOST_BOUNCED: Final = 0.05
_MOST_DEFERRED: Final = 0.5
_MOST_COMPLAINED: Final = 0.001
"""Above this share of complaints large providers begin to hide emails."""

_MOST_SHOWN: Final = 5


def look_at_domains(store: Store) -> Iterator[Finding]:
    """What became of last week's emails, and which domains have problems."""
    now = SystemClock().now()
    with store.read() as tx:
        rows = traffic.since(tx, now.date() - PERIOD)
        dead = reachability.failing(tx, now)
    sent = sum(row.sent for row in rows)
    troubled = [row for row in rows if _is_troubled(row)]
    if troubled:
        says = "; ".join(map(_describe, troubled[:_MOST_SHOWN])) + (" and others." if troubled[_MOST_SHOWN:] else ".")
        remedy = "Run `pbem mail check` for the DNS, and see the ledger for what these servers say."
        yield finding.warning("domains", f"This week, {says}", remedy)
    else:
        yield finding.ok("domains", f"{sent} emails were accepted at {len(rows)} domains this week")
    if dead:
        remedy = "These people and the others at their tables have been told. It ends by itself when an email arrives."
        yield finding.warning("addresses", f"{len(dead)} people can't be reached by email.", remedy)


def _is_troubled(row: TrafficRow) -> bool:
    tried = row.sent + row.deferred + row.bounced
    if tried < _FEW:
        return False
    return (
        row.bounced > _MOST_BOUNCED * tried
        or row.deferred > _MOST_DEFERRED * tried
        or row.complained > _MOST_COMPLAINED * tried
    )


def _describe(row: TrafficRow) -> str:
    counts = {"accepted": row.sent, "delayed": row.deferred, "refused": row.bounced, "reported as spam": row.complained}
    return f"{row.domain}: {', '.join(f'{number} {what}' for what, number in counts.items() if number)}"
