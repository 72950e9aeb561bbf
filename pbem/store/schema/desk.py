"""The organisers' desk: what was done there, by whom and why."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Part


class Audit(Base):
    """Something that an organiser, a host or somebody at the machine did. Rows are added and never changed.

    They are one chain, hashed as the log of a game is: over every column, so that none can be altered unseen. `form` is
    the key of the form that was sent, which works once. No column ever holds an address.
    """

    __tablename__ = "audit"
    # By whatever acts are looked for, the newest of them are the end of an index.
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
    """Where the chain of the audit ends. Its one row is locked by whoever adds to the chain, so that acts stand in order."""

    __tablename__ = "audit_head"

    id: Mapped[Part]
    seq: Mapped[int]
    head: Mapped[bytes]
