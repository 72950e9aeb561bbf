"""Outgoing and incoming emails, their links, and what limits them."""

from datetime import date, datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from pbem.domain.states import EmailStatus, ReceivedStatus
from pbem.store.schema.base import Base, Id, one_of


class Outbox(Base):
    """An outgoing email: what it is about, then its bytes, then its outcome.

    `body` has placeholders for the links; a token is never stored. An email about a game exists once for each row of
    the log, seat and kind. One of status `digest` waits for its reader's next digest; one that is `withheld` its reader
    does not want.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("game_id", "seq", "seat", "kind"),
        one_of("status", *EmailStatus),
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
    """A line about an email: queued, rendered, accepted, retried, bounced, superseded, parked."""

    __tablename__ = "ledger"
    __table_args__ = (Index(None, "outbox_id"),)

    id: Mapped[Id]
    outbox_id: Mapped[int] = mapped_column(ForeignKey("outbox.id"))
    at: Mapped[datetime]
    what: Mapped[str]
    detail: Mapped[str]


_OF_NOBODY: Final = "person_id IS NULL AND game_id IS NULL"


class Link(Base):
    """The meaning of a token. The token is derived from the row and stored nowhere.

    There is one row for each purpose, turn, seat and person. `nonce` is random: drawing it again revokes the token, and the
    `replaced` one tells the old token from a forged one. `outbox_id` is set if a link belongs to one email. Links without
    a person and a game exist once for each purpose.
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
    nonce: Mapped[int]
    replaced: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    turn: Mapped[int | None]
    seat: Mapped[int | None]
    outbox_id: Mapped[int | None] = mapped_column(ForeignKey("outbox.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]


class Received(Base):
    """An email that arrived at one of our addresses, stored before anything is done about it, so that it is neither
    lost nor handled twice.

    `fingerprint` is the same for every copy of an email. `link_id` is the link of the address's token; the token itself
    is not stored, not even in `raw`, which is deleted once the email is done. A `doubted` email waits for the person
    whose address it was sent from. `acts` is what each line of a reply led to, written in the same transaction.
    """

    __tablename__ = "received"
    __table_args__ = (
        UniqueConstraint("fingerprint"),
        one_of("status", *ReceivedStatus),
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


class ReceivedCount(Base):
    """The number of emails of each kind that arrived in a day, including those that are not stored."""

    __tablename__ = "received_count"

    day: Mapped[date] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]


class DomainTraffic(Base):
    """What became of a day's emails to one domain, in numbers and without addresses."""

    __tablename__ = "domain_traffic"

    day: Mapped[date] = mapped_column(primary_key=True)
    domain: Mapped[str] = mapped_column(primary_key=True)
    sent: Mapped[int]
    deferred: Mapped[int]
    bounced: Mapped[int]
    complained: Mapped[int]


class Quota(Base):
    """Until when a share is used up: of sending, for all emails or one domain; of attempts to sign in, for all or one
    name."""

    __tablename__ = "quota"

    bucket: Mapped[str] = mapped_column(primary_key=True)
    used_until: Mapped[datetime]


class Alarm(Base):
    """Something organisers must hear of; `emailed_at` is when an email about it was queued."""

    __tablename__ = "alarm"
    __table_args__ = (Index(None, "emailed_at", "id"),)

    id: Mapped[Id]
    at: Mapped[datetime]
    what: Mapped[str]
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    says: Mapped[str]
    emailed_at: Mapped[datetime | None]
