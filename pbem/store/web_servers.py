"""Web servers, as rows: when each was last seen, by which it's found that nobody could open a page."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from pbem.store.schema import WEB_SERVER

# Every web server runs these every few seconds.
_NEWEST = select(func.max(WEB_SERVER.c.beat_at))
_READ = select(WEB_SERVER.c.beat_at).where(WEB_SERVER.c.name == bindparam("of_name"))
_UPDATE = update(WEB_SERVER).where(WEB_SERVER.c.name == bindparam("of_name")).values(beat_at=bindparam("new_beat"))


def record(tx: Connection, name: str, now: datetime) -> None:
    """Record that a web server is up. Its row never goes back in time."""
    last = tx.execute(_READ, {"of_name": name}).scalar_one_or_none()
    if last is None:
        tx.execute(insert(WEB_SERVER), {"name": name, "beat_at": now})
    elif last < now:
        tx.execute(_UPDATE, {"of_name": name, "new_beat": now})


def newest(tx: Connection) -> datetime | None:
    """The newest sign of any web server; None if there has never been one."""
    return tx.execute(_NEWEST).scalar_one_or_none()


def forget_before(tx: Connection, before: datetime) -> None:
    """Drop web servers not seen since this moment, except the newest sign, from which an outage is measured."""
    old = (WEB_SERVER.c.beat_at < before, WEB_SERVER.c.beat_at < _NEWEST.scalar_subquery())
    tx.execute(delete(WEB_SERVER).where(*old))
