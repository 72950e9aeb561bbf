"""Until when each share of what may be sent is used up: that of all mails, of a domain, of a domain that is new.

The rows are locked from reading to writing, that of all mails first, so that workers side by side share them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from pbem.store.schema import Quota, table_of

_QUOTA = table_of(Quota)


def locked(tx: Connection, names: Iterable[str]) -> dict[str, datetime]:
    """What is used up of these shares; nobody else uses them until this transaction ends."""
    wanted = select(_QUOTA).where(_QUOTA.c.bucket.in_(sorted(set(names)))).order_by(_QUOTA.c.bucket)
    return {row.bucket: row.used_until for row in tx.execute(wanted.with_for_update())}


def keep(tx: Connection, used: Mapping[str, datetime]) -> None:
    """Write down until when shares are used up."""
    dialect = sqlite if tx.dialect.name == "sqlite" else postgresql
    insertion = dialect.insert(_QUOTA)
    again = insertion.on_conflict_do_update(
        index_elements=["bucket"], set_={"used_until": insertion.excluded.used_until}
    )
    rows = [{"bucket": name, "used_until": until} for name, until in sorted(used.items())]
    if rows:
        tx.execute(again, rows)


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop shares that have long been free again."""
    tx.execute(delete(_QUOTA).where(_QUOTA.c.used_until < moment))
