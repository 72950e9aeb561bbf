"""The ledger: what became of each outgoing email, line by line. Lines are added and never changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    Connection,
    bindparam,
    insert,
    select,
)

from pbem.store import prefetch
from pbem.store.schema import Ledger, table_of

_LEDGER = table_of(Ledger)

_NOTE = insert(_LEDGER)
# Asked for every mail that is written, so these are built once.
_LINES = select(_LEDGER).where(_LEDGER.c.outbox_id.in_(bindparam("these", expanding=True))).order_by(_LEDGER.c.id)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One thing that happened to a mail."""

    at: datetime
    what: str
    detail: str


def note(tx: Connection, outbox_id: int, at: datetime, what: str, detail: str = "") -> None:
    """One more line in the ledger of a mail."""
    tx.execute(_NOTE, {"outbox_id": outbox_id, "at": at, "what": what, "detail": detail})


def note_all(tx: Connection, at: datetime, what: str, details: Mapping[int, str]) -> None:
    """One more line in the ledgers of several mails, with what is particular to each."""
    note_each(tx, what, {each: (at, detail) for each, detail in details.items()})


def note_each(tx: Connection, what: str, details: Mapping[int, tuple[datetime, str]]) -> None:
    """The same, each line with a moment of its own."""
    told = [{"outbox_id": each, "at": at, "what": what, "detail": said} for each, (at, said) in details.items()]
    if told:
        tx.execute(_NOTE, told)


def lines(tx: Connection, outbox_ids: Iterable[int]) -> dict[int, list[LedgerRow]]:
    """What happened to these mails, line by line, the first first; nothing of those to which nothing has."""
    found: dict[int, list[LedgerRow]] = {}
    for row in tx.execute(_LINES, {"these": list(outbox_ids)}):
        found.setdefault(row.outbox_id, []).append(LedgerRow(row.at, row.what, row.detail))
    return found


def lines_of(tx: Connection, outbox_id: int) -> list[LedgerRow]:
    """What happened to one mail, the first first."""
    return prefetch.one(tx, ("lines", outbox_id), lambda: lines(tx, [outbox_id]).get(outbox_id, []))
