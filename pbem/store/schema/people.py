"""People: who they are, how they want to be mailed, and whether mail reaches them."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of


class Person(Base):
    """Somebody with an address. `mailbox` is the address as it is compared: one row an address.

    `delivery` is how they want to be mailed, `digest_at` the time of day of their digest, `digest_on` the last day of
    theirs on which it was looked after, `sealed` whether they are told that a sealed choice is in.
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
    """How a person wants to be mailed about one table, where that is not as about all."""

    __tablename__ = "preference"
    __table_args__ = (Index(None, "person_id"),)

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    delivery: Mapped[str]


class Vacation(Base):
    """A time in which a person's clocks stand still.

    `first` and `last` are the days that were booked, which the yearly budget counts; the moments are what they meant in
    the person's zone then, so that a change of zone moves no deadline.
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
    """A time in which mail to a person's address failed; open while it still does.

    `cause` is what said so: our relay when it was handed a mail, reports of mails that came back, or the person's own
    mail program, which called a mail of ours spam.
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
    """A day on which mails to a person came back. A day counts once, by the worst that happened on it."""

    __tablename__ = "bounce"

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    day: Mapped[date] = mapped_column(primary_key=True)
    points: Mapped[int]


class Ban(Base):
    """Why and until when a person takes no new seat; without an end, until it is lifted. The audit says who did it."""

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
    """Somebody does not want to hear somebody else, whom they have met under that name."""

    __tablename__ = "block"
    __table_args__ = (Index(None, "blocked_id"),)

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    blocked_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    name: Mapped[str]
    since: Mapped[datetime]


class Organiser(Base):
    """Somebody who may sign in to the desk.

    `totp` is the secret of their codes, where they want to be asked for one, and `totp_step` the span of time of the last
    code that was taken: none is taken twice.
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
    """Somebody who has signed in with one browser: a person by a mailed link, or an organiser by a passphrase.

    The browser holds a secret, of which only the hash is here. `label` says which device it was, in words; `used_on` is the
    last day on which a button was pressed, `checked_at` when a passphrase was asked for last, `ended_at` when it was ended
    before its time.
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
