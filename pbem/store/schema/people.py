"""People: who they are, how they want to be emailed, and whether email reaches them."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of


class Person(Base):
    """A person with an address. `mailbox` is the normalised address, unique for each person.

    `delivery` is how they want to be emailed, `digest_at` the time of day of their digest, `digest_on` the last day
    whose digest was dealt with, `sealed` whether they get an email when a sealed choice is in.
    """

    __tablename__ = "person"
    __table_args__ = (UniqueConstraint("mailbox"), UniqueConstraint("key"))

    id: Mapped[Id]
    key: Mapped[str]
    address: Mapped[str]
    mailbox: Mapped[str]
    name: Mapped[str]
    zone: Mapped[str]
    quiet: Mapped[str | None]
    cadence: Mapped[str]
    delivery: Mapped[str]
    digest_at: Mapped[str]
    digest_on: Mapped[date | None]
    sealed: Mapped[bool]
    created_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]


class Preference(Base):
    """How a person wants to be emailed about one table, if not as about all."""

    __tablename__ = "preference"
    __table_args__ = (Index(None, "person_id"),)

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    delivery: Mapped[str]


class Vacation(Base):
    """A time in which a person's clocks stand still.

    `first` and `last` are the days booked, which the yearly budget counts; the moments are those days in the person's
    zone at that time, so that a change of zone moves no deadline.
    """

    __tablename__ = "vacation"
    __table_args__ = (Index(None, "person_id"),)

    id: Mapped[Id]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    first: Mapped[date]
    last: Mapped[date]
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]


class Unreachable(Base):
    """A time in which email to a person failed; open while it still does.

    `cause` is what told us: our relay when it took an email, a bounce, or the person's mail program, which reported an
    email as spam.
    """

    __tablename__ = "unreachable"
    __table_args__ = (
        UniqueConstraint("person_id", "start_at"),
        Index(None, "end_at", "start_at"),
        one_of("cause", "refused", "bounced", "complained"),
    )

    id: Mapped[Id]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]
    cause: Mapped[str]
    why: Mapped[str]


class Bounce(Base):
    """A day on which emails to a person bounced. A day counts once, by the worst bounce."""

    __tablename__ = "bounce"

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    day: Mapped[date] = mapped_column(primary_key=True)
    points: Mapped[int]


class Ban(Base):
    """A ban from new seats, until a moment or until it is lifted. The audit says who banned the person."""

    __tablename__ = "ban"
    __table_args__ = (Index(None, "person_id"),)

    id: Mapped[Id]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    at: Mapped[datetime]
    until: Mapped[datetime | None]
    reason: Mapped[str]
    lifted_at: Mapped[datetime | None]


class Volunteer(Base):
    """A person ready to take over seats whose players are gone."""

    __tablename__ = "volunteer"

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    since: Mapped[datetime]


class Block(Base):
    """A player blocked by a person, with the name they were met under."""

    __tablename__ = "block"
    __table_args__ = (Index(None, "blocked_id"),)

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    blocked_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    name: Mapped[str]
    since: Mapped[datetime]


class Organiser(Base):
    """An organiser, who may sign in to the desk.

    `totp` is the secret of their one-time codes, if they use them, and `totp_step` the time step of the last code
    accepted, because none is accepted twice.
    """

    __tablename__ = "organiser"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[Id]
    name: Mapped[str]
    address: Mapped[str]
    passphrase: Mapped[str]
    created_at: Mapped[datetime]
    totp: Mapped[str | None]
    totp_step: Mapped[int | None]


class Session(Base):
    """A browser in which a person, by an emailed link, or an organiser, by a passphrase, is signed in.

    The browser holds a secret whose hash is stored here. `label` names the device, `used_on` is the last day a button
    was pressed, `checked_at` when a passphrase was last asked for, `ended_at` when the session was ended early.
    """

    __tablename__ = "session"
    __table_args__ = (
        UniqueConstraint("secret_hash"),
        CheckConstraint("(person_id IS NULL) <> (organiser_id IS NULL)", name="whose"),
        Index(None, "person_id"),
        Index(None, "organiser_id"),
    )

    id: Mapped[Id]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    organiser_id: Mapped[int | None] = mapped_column(ForeignKey("organiser.id", ondelete="CASCADE"))
    secret_hash: Mapped[bytes]
    label: Mapped[str]
    made_at: Mapped[datetime]
    used_on: Mapped[date]
    checked_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
