"""The ledger: what happened to each outgoing email, line by line. Lines are added, never changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select

from pbem.store import prefetch
from pbem.store.schema import LEDGER

_NOTE = insert(LEDGER)
# Asked for every email, so these are built once.
_LINES = select(LEDGER).where(LEDGER.c.outbox_id.in_(bindparam("these", expanding=True))).order_by(LEDGER.c.id)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of an email's ledger."""

    at: datetime
    what: str
    detail: str


def note(tx: Connection, outbox_id: int, at: datetime, what: str, detail: str = "") -> None:
    """Add a line to an email's ledger."""
    tx.execute(_NOTE, {"outbox_id": outbox_id, "at": at, "what": what, "detail": detail})


def note_all(tx: Connection, at: datetime, what: str, details: Mapping[int, str]) -> None:
    """Add a line to the ledgers of these emails, each with its own detail."""
    note_each(tx, what, {outbox_id: (at, detail) for outbox_id, detail in details.items()})


def note_each(tx: Connection, what: str, details: Mapping[int, tuple[datetime, str]]) -> None:
    """Add a line to the ledgers of these emails, each with its own moment and detail."""
    rows = [
        {"outbox_id": outbox_id, "at": at, "what": what, "detail": detail}
        for outbox_id, (at, detail) in details.items()
    ]
    if rows:
        tx.execute(_NOTE, rows)


def lines(tx: Connection, outbox_ids: Iterable[int]) -> dict[int, list[LedgerRow]]:
    """The ledgers of these emails, oldest line first; emails without a line are left out."""
    ledgers: dict[int, list[LedgerRow]] = {}
    for row in tx.execute(_LINES, {"these": list(outbox_ids)}):
        ledgers.setdefault(row.outbox_id, []).append(LedgerRow(row.at, row.what, row.detail))
    return ledgers


def lines_of(tx: Connection, outbox_id: int) -> list[LedgerRow]:
    """The ledger of an email, oldest line first."""
    return prefetch.get_or_read(tx, ("lines", outbox_id), lambda: lines(tx, [outbox_id]).get(outbox_id, []))
