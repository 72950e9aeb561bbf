"""Emails to each domain in a day, in numbers only. Count last in a transaction: others who email the domain wait."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from sqlalchemy import Connection, Insert, delete, func, select

from pbem.store import queries
from pbem.store.schema import DOMAIN_TRAFFIC

KINDS = ("sent", "deferred", "bounced", "complained")


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """What became of the emails to one domain."""

    domain: str
    sent: int
    deferred: int
    bounced: int
    complained: int


def count(tx: Connection, day: date, kind: str, domains: Mapping[str, int]) -> None:
    """Count emails of this kind to each of these domains."""
    rows = [
        {"day": day, "domain": domain} | {name: more if name == kind else 0 for name in KINDS}
        # Always in the same order, so that two transactions cannot wait for each other.
        for domain, more in sorted(domains.items())
    ]
    if rows:
        tx.execute(_counting(tx.dialect.name, kind), rows)


def since(tx: Connection, day: date) -> list[TrafficRow]:
    """All domains with their counts since this day, most emails first."""
    sums = [func.sum(DOMAIN_TRAFFIC.c[kind]).label(kind) for kind in KINDS]
    query = select(DOMAIN_TRAFFIC.c.domain, *sums).where(DOMAIN_TRAFFIC.c.day >= day).group_by(DOMAIN_TRAFFIC.c.domain)
    rows = [
        TrafficRow(row.domain, int(row.sent), int(row.deferred), int(row.bounced), int(row.complained))
        for row in tx.execute(query)
    ]
    return sorted(rows, key=lambda row: (-row.sent - row.deferred, row.domain))


def known_domains(tx: Connection, domains: Collection[str], today: date) -> set[str]:
    """Those of these domains that emails went to before today."""
    before = (DOMAIN_TRAFFIC.c.domain.in_(domains), DOMAIN_TRAFFIC.c.day < today, DOMAIN_TRAFFIC.c.sent > 0)
    return set(tx.execute(select(DOMAIN_TRAFFIC.c.domain).where(*before).distinct()).scalars())


def forget_before(tx: Connection, day: date) -> None:
    """Drop counts from before this day. A domain without counts is new again."""
    tx.execute(delete(DOMAIN_TRAFFIC).where(DOMAIN_TRAFFIC.c.day < day))


@cache
def _counting(dialect_name: str, kind: str) -> Insert:
    # Cached because every email is counted.
    insertion = queries.insertion(dialect_name, DOMAIN_TRAFFIC)
    more = DOMAIN_TRAFFIC.c[kind] + insertion.excluded[kind]
    upsert: Insert = insertion.on_conflict_do_update(index_elements=["day", "domain"], set_={kind: more})
    return upsert
