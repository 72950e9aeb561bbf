"""Quotas, as rows: until when each share of sending, or of attempts to sign in, is used up.

Rows are locked from reading to writing, the quota of all emails first, so that workers can share them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Quota, table_of

_QUOTA = table_of(Quota)


def lock(tx: Connection, names: Iterable[str]) -> dict[str, datetime]:
    """Lock these quotas; returns until when each is used up."""
    query = select(_QUOTA).where(_QUOTA.c.bucket.in_(sorted(set(names)))).order_by(_QUOTA.c.bucket)
    return {row.bucket: row.used_until for row in tx.execute(query.with_for_update())}


def write(tx: Connection, used: Mapping[str, datetime]) -> None:
    """Store until when these quotas are used up."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_QUOTA)
    upsert = insertion.on_conflict_do_update(
        index_elements=["bucket"], set_={"used_until": insertion.excluded.used_until}
    )
    rows = [{"bucket": name, "used_until": until} for name, until in sorted(used.items())]
    if rows:
        tx.execute(upsert, rows)


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop quotas that were free again before this moment."""
    tx.execute(delete(_QUOTA).where(_QUOTA.c.used_until < moment))
