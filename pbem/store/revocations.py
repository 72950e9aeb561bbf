"""Revocations and acts: who revokes links or sessions waits for the acts that rest on them, and acts wait for revocations.

An act holds revocations of its actor off, and then looks whether its link or session still works. So every act is done before
a revocation, which then finds all that it has made, or is refused. On SQLite one transaction writes at a time, so nothing is
locked. On PostgreSQL this lock comes before that of any game or person where it can, against deadlocks.
"""

from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, func, select

if TYPE_CHECKING:
    from pbem.store.sessions import Holder

_SHARED = select(func.pg_advisory_xact_lock_shared(bindparam("key")))
_ALONE = select(func.pg_advisory_xact_lock(bindparam("key")))


def hold_off(tx: Connection, holder: "Holder") -> bool:
    """Keep the holder's links and sessions from being revoked until this transaction ends.

    Returns whether that can have taken time, so that what was read before has to be read again.
    """
    if not _takes_turns(tx):
        return False
    tx.execute(_SHARED, {"key": _key(holder)})
    return True


def begin(tx: Connection, holder: "Holder") -> None:
    """Wait for the acts of a holder that are under way, and keep others off until this transaction ends."""
    if _takes_turns(tx):
        tx.execute(_ALONE, {"key": _key(holder)})


def _takes_turns(tx: Connection) -> bool:
    return tx.dialect.name == "postgresql" and not tx.get_execution_options().get("postgresql_readonly")


def _key(holder: "Holder") -> int:
    """A key of a lock: negative, as no other lock's here is, and of another organiser or person never the same."""
    if holder.person_id is None:
        assert holder.organiser_id is not None, "a holder is a person or an organiser"
        return -2 * holder.organiser_id - 1
    return -2 * holder.person_id
