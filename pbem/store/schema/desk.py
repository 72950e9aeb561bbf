"""The organisers' desk: what was done there, by which organiser and why."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Part


class Audit(Base):
    """An act of an organiser, a host or an operator at the command line. Rows are added, never changed.

    The rows are one chain, hashed like the log of a game over every column, so that no row can be altered unnoticed.
    `form` is the key of the form, which works once. No column ever holds an address.
    """

    __tablename__ = "audit"
    # For each way to search, the newest acts are the end of an index.
    __table_args__ = (
        UniqueConstraint("form"),
        Index(None, "game_id", "seq"),
        Index(None, "person_id", "seq"),
        Index(None, "act", "seq"),
        Index(None, "actor", "seq"),
    )

    seq: Mapped[Part]
    at: Mapped[datetime]
    actor: Mapped[str]
    act: Mapped[str]
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    reason: Mapped[str]
    form: Mapped[str | None]
    body: Mapped[str]
    nonce: Mapped[bytes]
    body_hash: Mapped[bytes]
    hash: Mapped[bytes]


class AuditHead(Base):
    """The end of the audit chain. Its one row is locked by every act, so that acts are in order."""

    __tablename__ = "audit_head"

    id: Mapped[Part]
    seq: Mapped[int]
    head: Mapped[bytes]
