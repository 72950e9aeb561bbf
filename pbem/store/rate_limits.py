"""Rate limits, as rows: until when a share of sending, or of what strangers may ask for, is used up.

Rows are locked from reading to writing, the limit of all emails first, so that workers can share them. A limit that may be
used a number of times within any hour or day has a row for each use: a numbered share.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, delete, func, select

from pbem.store import queries
from pbem.store.schema import QUOTA

_NEVER_USED: Final = datetime.fromtimestamp(0, UTC)
"""Until when a quota was used up that was only locked so far: a clock that is set back doesn't come before it."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of a limit that are used up: how many, when the first is free again, and the next number."""

    count: int
    first_free: datetime | None
    next_number: int


def read(tx: Connection, names: Iterable[str]) -> dict[str, datetime]:
    """Until when each of these quotas is used up."""
    return {row.bucket: row.used_until for row in tx.execute(_these(names))}


def lock(tx: Connection, names: Iterable[str]) -> dict[str, datetime]:
    """Lock these quotas; returns until when each is used up."""
    names = sorted(set(names))
    these = _these(names).with_for_update()
    used = {row.bucket: row.used_until for row in tx.execute(these)}
    if len(used) < len(names) and tx.dialect.name == "postgresql":
        # Of several at once, only one may be the first to use a quota, and what isn't there can't be locked.
        new = queries.insertion(tx.dialect.name, QUOTA).on_conflict_do_nothing()
        tx.execute(new, [{"bucket": name, "used_until": _NEVER_USED} for name in names if name not in used])
        used = {row.bucket: row.used_until for row in tx.execute(these)}
    return used


def write(tx: Connection, used: Mapping[str, datetime]) -> None:
    """Store until when these quotas are used up."""
    insertion = queries.insertion(tx.dialect.name, QUOTA)
    upsert = insertion.on_conflict_do_update(
        index_elements=["bucket"], set_={"used_until": insertion.excluded.used_until}
    )
    rows = [{"bucket": name, "used_until": until} for name, until in sorted(used.items())]
    if rows:
        tx.execute(upsert, rows)


def shares(tx: Connection, name: str, now: datetime) -> Shares:
    """The shares of a limit that are used up now. Their names are this one, which ends with a slash, and ten digits."""
    used = select(func.count(), func.min(QUOTA.c.used_until), func.max(QUOTA.c.bucket)).where(
        QUOTA.c.bucket.startswith(name, autoescape=True), QUOTA.c.used_until > now
    )
    count, first_free, last = tx.execute(used).one()
    return Shares(count, first_free, 0 if last is None else int(last.removeprefix(name)) + 1)


def forget_before(tx: Connection, moment: datetime) -> None:
    """Drop quotas that were free again before this moment."""
    tx.execute(delete(QUOTA).where(QUOTA.c.used_until < moment))


def _these(names: Iterable[str]) -> Select[Any]:
    return select(QUOTA).where(QUOTA.c.bucket.in_(sorted(set(names)))).order_by(QUOTA.c.bucket)
