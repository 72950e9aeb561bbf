"""The fingerprints of the keys that this database was ever used with, by which the keys of another server are told."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from pbem.store import queries
from pbem.store.schema import KNOWN_KEY


def all_of_them(tx: Connection) -> frozenset[str]:
    """All fingerprints; none before a worker ran."""
    return frozenset(tx.execute(select(KNOWN_KEY.c.fingerprint)).scalars())


def newest(tx: Connection) -> frozenset[str]:
    """The fingerprints that were added last, as far as one moment can be told from the next; none before a worker ran."""
    last = select(func.max(KNOWN_KEY.c.used_since)).scalar_subquery()
    return frozenset(tx.execute(select(KNOWN_KEY.c.fingerprint).where(KNOWN_KEY.c.used_since == last)).scalars())


def add(tx: Connection, fingerprints: Collection[str], now: datetime) -> None:
    """Add the fingerprints that are not there yet."""
    for each in sorted(fingerprints):
        queries.add_once(tx, KNOWN_KEY, {"fingerprint": each, "used_since": now})


def forget(tx: Connection, fingerprints: Collection[str]) -> None:
    """Forget keys that are used no more, so that they are not taken for this server's again."""
    tx.execute(delete(KNOWN_KEY).where(KNOWN_KEY.c.fingerprint.in_(fingerprints)))
