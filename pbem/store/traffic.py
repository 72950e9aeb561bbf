"""How much mail went to which domain and what became of it, day by day, in numbers only.

Whoever counts does it as the last thing of a transaction, because everybody who writes to the same domain waits for the row.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from sqlalchemy import Connection, Insert, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Traffic, table_of

_TRAFFIC = table_of(Traffic)
KINDS = ("sent", "deferred", "bounced", "complained")


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """What became of the mails to one domain."""

    domain: str
    sent: int
    deferred: int
    bounced: int
    complained: int


def count(tx: Connection, day: date, kind: str, domains: Mapping[str, int]) -> None:
    """So many more of a kind to each of these domains."""
    rows = [
        {"day": day, "domain": domain} | {name: more if name == kind else 0 for name in KINDS}
        # Always in the same order, so that no two who count several wait for each other.
        for domain, more in sorted(domains.items())
    ]
    if rows:
        tx.execute(_counting(tx.dialect.name, kind), rows)


def since(tx: Connection, day: date) -> list[TrafficRow]:
    """All domains with what became of their mails from a day on, those with the most mails first."""
    sums = [func.sum(_TRAFFIC.c[kind]).label(kind) for kind in KINDS]
    wanted = select(_TRAFFIC.c.domain, *sums).where(_TRAFFIC.c.day >= day).group_by(_TRAFFIC.c.domain)
    rows = [
        TrafficRow(row.domain, int(row.sent), int(row.deferred), int(row.bounced), int(row.complained))
        for row in tx.execute(wanted)
    ]
    return sorted(rows, key=lambda row: (-row.sent - row.deferred, row.domain))


def known(tx: Connection, domains: Collection[str], today: date) -> set[str]:
    """Those of some domains to which mails went on an earlier day."""
    before = (_TRAFFIC.c.domain.in_(domains), _TRAFFIC.c.day < today, _TRAFFIC.c.sent > 0)
    return set(tx.execute(select(_TRAFFIC.c.domain).where(*before).distinct()).scalars())


def forget_before(tx: Connection, day: date) -> None:
    """Add the numbers of old days to nothing: drop them. A domain that was dropped counts as new again."""
    tx.execute(delete(_TRAFFIC).where(_TRAFFIC.c.day < day))


@cache
def _counting(dialect_name: str, kind: str) -> Insert:
    # Every mail is counted, so it is built once for each database and kind.
    dialect = sqlite if dialect_name == "sqlite" else postgresql
    insertion = dialect.insert(_TRAFFIC)
    more = _TRAFFIC.c[kind] + insertion.excluded[kind]
    found: Insert = insertion.on_conflict_do_update(index_elements=["day", "domain"], set_={kind: more})
    return found
