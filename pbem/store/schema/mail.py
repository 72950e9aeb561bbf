"""Mails on their way out and in, the links in them, and what keeps them within bounds."""

from datetime import date, datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of


class Outbox(Base):
    """One mail: what it is about, then its very bytes, then what became of it.

    `body` holds placeholders where the links go; a token is never stored. A mail about a game is there once for each
    row of the log, seat and kind. One of status `digest` waits to be told in its reader's next digest, one that is
    `withheld` its reader does not want.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("game_id", "seq", "seat", "kind"),
        one_of("status", "queued", "digest", "sent", "withheld", "superseded", "parked", "undeliverable"),
        Index("ix_outbox_due", "status", "due_at"),
        Index(None, "person_id", "queued_at"),
    )

    id: Mapped[Id]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    seq: Mapped[int | None]
    seat: Mapped[int | None]
    turn: Mapped[int | None]
    kind: Mapped[str]
    facts: Mapped[str]
    status: Mapped[str]
    queued_at: Mapped[datetime]
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]
    attempts: Mapped[int]
    message_id: Mapped[str | None]
    rendered_at: Mapped[datetime | None]
    body: Mapped[bytes | None]
    accepted_at: Mapped[datetime | None]


class Ledger(Base):
    """What happened to a mail, one line each time: queued, rendered, accepted, retried, bounced, superseded, parked."""

    __tablename__ = "ledger"
    __table_args__ = (Index(None, "outbox_id"),)

    id: Mapped[Id]
    outbox_id: Mapped[int] = mapped_column(ForeignKey("outbox.id"))
    at: Mapped[datetime]
    what: Mapped[str]
    detail: Mapped[str]


_OF_NOBODY: Final = "person_id IS NULL AND game_id IS NULL"


class Link(Base):
    """What a token stands for. The token itself is derived from the row and stored nowhere.

    There is one row for each purpose, turn, seat and person; `generation` is raised to revoke. `outbox_id` is there
    where a link belongs to one mail. Of those that are nobody's and no table's there is one for each purpose.
    """

    __tablename__ = "link"
    __table_args__ = (
        UniqueConstraint("game_id", "seat", "turn", "purpose", "person_id"),
        Index(None, "person_id"),
        Index(None, "outbox_id"),
        Index(
            "ix_link_of_nobody",
            "purpose",
            unique=True,
            sqlite_where=text(_OF_NOBODY),
            postgresql_where=text(_OF_NOBODY),
        ),
    )

    id: Mapped[Id]
    purpose: Mapped[str]
    generation: Mapped[int]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    turn: Mapped[int | None]
    seat: Mapped[int | None]
    outbox_id: Mapped[int | None] = mapped_column(ForeignKey("outbox.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]


class Received(Base):
    """A mail that came to one of our addresses: kept before anything is done about it, so that it is not lost or done twice.

    `fingerprint` is the same however often the mail is handed in. `link_id` is what the token in its address stands for;
    the token itself is nowhere, neither here nor in `raw`, which is gone once the mail has been dealt with. A mail that is
    `doubted` waits for the person whom its address belongs to. `acts` is what each line of a reply has led to, written
    together with what it led to.
    """

    __tablename__ = "received"
    __table_args__ = (
        UniqueConstraint("fingerprint"),
        one_of("status", "waiting", "doubted", "done", "parked"),
        Index("ix_received_due", "status", "due_at"),
        Index(None, "link_id", "received_at"),
    )

    id: Mapped[Id]
    fingerprint: Mapped[bytes]
    link_id: Mapped[int] = mapped_column(ForeignKey("link.id"))
    message_id: Mapped[str]
    raw: Mapped[bytes | None]
    received_at: Mapped[datetime]
    status: Mapped[str]
    outcome: Mapped[str]
    acts: Mapped[str]
    attempts: Mapped[int]
    due_at: Mapped[datetime]
    claimed_until: Mapped[datetime | None]


class Arrival(Base):
    """How many mails of each kind came in on one day, those included that nothing is kept of."""

    __tablename__ = "arrival"

    day: Mapped[date] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]


class Traffic(Base):
    """What became of the mails of one day to one domain, in numbers and without anybody's address."""

    __tablename__ = "traffic"

    day: Mapped[date] = mapped_column(primary_key=True)
    domain: Mapped[str] = mapped_column(primary_key=True)
    sent: Mapped[int]
    deferred: Mapped[int]
    bounced: Mapped[int]
    complained: Mapped[int]


class Quota(Base):
    """Until when a share is used up: of what may be sent, that of all mails or of one domain; of tries to sign in, that of
    all or of one name."""

    __tablename__ = "quota"

    bucket: Mapped[str] = mapped_column(primary_key=True)
    used_until: Mapped[datetime]


class Alarm(Base):
    """Something that the organisers have to hear of; `told_at` is when a mail to them was queued that says it."""

    __tablename__ = "alarm"
    __table_args__ = (Index(None, "told_at", "id"),)

    id: Mapped[Id]
    at: Mapped[datetime]
    what: Mapped[str]
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    says: Mapped[str]
    told_at: Mapped[datetime | None]


class Rate(Base):
    """How often something was tried in one minute."""

    __tablename__ = "rate"

    bucket: Mapped[str] = mapped_column(primary_key=True)
    minute: Mapped[Part]
    count: Mapped[int]
