"""The organisers' desk: what was done there, by which organiser and why."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Index, UniqueConstraint

from pbem.store.schema.base import GameId, Part, PersonId, table


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An act of an organiser, a host or an operator at the command line. Rows are added, never changed.

    The rows are one chain, hashed like the log of a game over every column, so that no row can be altered unnoticed.
    `form` is the key of the form, which works once. No column ever holds an address.
    """

    seq: Part
    at: datetime
    actor: str
    act: str
    game_id: GameId | None
    person_id: PersonId | None
    reason: str
    form: str | None
    body: str
    nonce: bytes
    body_hash: bytes
    hash: bytes


# For each way to search, the newest acts are the end of an index.
AUDIT = table(
    "audit",
    AuditRow,
    UniqueConstraint("form"),
    Index(None, "game_id", "seq"),
    Index(None, "person_id", "seq"),
    Index(None, "act", "seq"),
    Index(None, "actor", "seq"),
)


@dataclass(frozen=True, slots=True)
class AuditHeadRow:
    """The end of the audit chain. Its one row is locked by every act, so that acts are in order."""

    id: Part
    seq: int
    head: bytes


AUDIT_HEAD = table("audit_head", AuditHeadRow)
