"""Our mail server as test emails showed it: where it writes its results."""

from datetime import datetime

from sqlalchemy import Connection, select

from pbem.store import queries
from pbem.store.schema import MAIL_SERVER, MailServerRow


def received_above(tx: Connection, authserv_id: str) -> int | None:
    """How many `Received` headers stand above the results of a mail server; None if that was never measured."""
    row = queries.one(tx, MailServerRow, select(MAIL_SERVER).where(MAIL_SERVER.c.authserv_id == authserv_id))
    return None if row is None else row.received_above


def keep(tx: Connection, authserv_id: str, received_above: int, now: datetime) -> None:
    """Store a measurement in the place of the one before."""
    measured = {"received_above": received_above, "measured_at": now}
    new = queries.insertion(tx.dialect.name, MAIL_SERVER).values(authserv_id=authserv_id, **measured)
    tx.execute(new.on_conflict_do_update(index_elements=["authserv_id"], set_=measured))
