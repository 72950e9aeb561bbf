"""Rate limits, as rows: until when a share of sending, or of what strangers may ask for, is used up.

Rows are locked from reading to writing, the limit of all emails first, so that workers can share them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, select

from pbem.store import queries
from pbem.store.schema import QUOTA


def lock(tx: Connection, names: Iterable[str]) -> dict[str, datetime]:
    """Lock these quotas; returns until when each is used up."""
    query = select(QUOTA).where(QUOTA.c.bucket.in_(sorted(set(names)))).order_by(QUOTA.c.bucket)
    return {row.bucket: row.used_until for row in tx.execute(query.with_for_update())}


def write(tx: Connection, used: Mapping[str, datetime]) -> None:
    """Store until when these quotas are used up."""
    insertion = queries.insertion(tx.dialect.name, QUOTA)
    upsert = insertion.on_conflict_do_update(
        index_elements=["bucket"], set_={"used_until": insertion.excluded.used_until}
    )
    rows = [{"bucket": name, "used_until": until} for name, until in sorted(used.items())]
    if rows:
        tx.execute(upsert, rows)


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop quotas that were free again before this moment."""
    tx.execute(delete(QUOTA).where(QUOTA.c.used_until < moment))
