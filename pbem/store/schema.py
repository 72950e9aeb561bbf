"""The tables of the house.

Bodies of the log, states, boxes and orders are canonical JSON kept as text, never as a database's own JSON type: hashes
need the very bytes. Every moment is in UTC. A constraint has a name, so that a migration can speak of it on both
databases. What one game owns leads its key with the game, so that its rows lie together.

This module must never hold a query.
"""

from datetime import date, datetime
from typing import Annotated

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from pbem.store.types import Moment, Number

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

Id = Annotated[int, mapped_column(Number, primary_key=True, autoincrement=True)]
Part = Annotated[int, mapped_column(Number, primary_key=True, autoincrement=False)]


def one_of(column: str, *values: str) -> CheckConstraint:
    """A column that holds one of a few words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


class Base(DeclarativeBase):
    """All tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Moment, int: Number, str: Text, bytes: LargeBinary}  # noqa: RUF012 - SQLAlchemy's


def table_of(kind: type[Base]) -> Table:
    """The table of a class, for statements that are built once."""
    table = kind.__table__
    assert isinstance(table, Table)
    return table


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


class Game(Base):
    """One table, from its announcement to its end. `key` names it for ever, on whatever server it lies.

    A table that was asked for from an address which has not said yes is `planned`; nobody else sees it. One that its host
    closed before the start is `closed`; one that ended without a result is `void`.

    `state`, `box` and `orders` are the snapshot after row `seq` of the log; `window` is the number of entries ever made;
    `head` is the hash of the last row, `entry_head` that at the last entry, which is what mails may show.
    """

    __tablename__ = "game"
    __table_args__ = (
        UniqueConstraint("key"),
        one_of("status", "planned", "open", "playing", "over", "void", "closed", "expired", "frozen"),
        one_of("successor", "substitute", "bot"),
        Index(None, "status", "created_at"),
    )

    id: Mapped[Id]
    key: Mapped[str]
    kind: Mapped[str]
    rules: Mapped[int]
    seats: Mapped[int]
    options: Mapped[str]
    title: Mapped[str]
    pace: Mapped[str]
    host_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    private: Mapped[bool]
    doubles: Mapped[bool]
    silent_limit: Mapped[int]
    successor: Mapped[str]
    status: Mapped[str]
    paused: Mapped[bool]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    commitment: Mapped[str]
    secret: Mapped[bytes]
    seed: Mapped[bytes | None]
    seq: Mapped[int]
    window: Mapped[int]
    head: Mapped[bytes]
    entry_head: Mapped[bytes]
    state: Mapped[str]
    box: Mapped[str]
    orders: Mapped[str]


class Place(Base):
    """Who takes part. `place` is the order of joining; `seat` is drawn when the game begins."""

    __tablename__ = "place"
    __table_args__ = (UniqueConstraint("game_id", "seat"), Index(None, "person_id"))

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    place: Mapped[Part]
    seat: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    bot: Mapped[str | None]
    name: Mapped[str]
    word: Mapped[str]
    joined_at: Mapped[datetime]
    silent: Mapped[int]


class Invitation(Base):
    """An address that was asked to a table, and what came of it."""

    __tablename__ = "invitation"
    __table_args__ = (
        UniqueConstraint("game_id", "person_id"),
        one_of("status", "open", "accepted", "declined"),
    )

    id: Mapped[Id]
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    status: Mapped[str]
    created_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]


class Wish(Base):
    """Somebody typed an address to join a table with; it becomes a place when that address says yes by its mail."""

    __tablename__ = "wish"
    __table_args__ = (Index(None, "person_id"),)

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    name: Mapped[str]
    word: Mapped[str]
    created_at: Mapped[datetime]


class Log(Base):
    """One row of a game's history. Rows are added and never changed; `domain.chain` says how they are hashed."""

    __tablename__ = "log"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seq: Mapped[Part]
    kind: Mapped[str]
    seat: Mapped[int | None]
    by: Mapped[str]
    at: Mapped[datetime]
    rules: Mapped[int]
    body: Mapped[bytes]
    nonce: Mapped[bytes]
    body_hash: Mapped[bytes]
    hash: Mapped[bytes]


class Said(Base):
    """What a player said to the table. The rows of a game are a chain of their own; one that was redacted has no text."""

    __tablename__ = "said"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seq: Mapped[Part]
    seat: Mapped[int]
    at: Mapped[datetime]
    rules: Mapped[int]
    body: Mapped[bytes | None]
    nonce: Mapped[bytes | None]
    body_hash: Mapped[bytes]
    hash: Mapped[bytes]


class View(Base):
    """What a seat knew after row `seq` of the log, kept so that the next look need not begin at the first row."""

    __tablename__ = "view"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[Part]
    seq: Mapped[int]
    body: Mapped[str]


class Deadline(Base):
    """What one seat is asked in one window, and until when. `due_at` is empty until its clock has started.

    `attempts` counts how often a worker has begun to act on it, and `claimed_until` keeps the others away meanwhile.
    """

    __tablename__ = "deadline"
    __table_args__ = (
        one_of("status", "open", "closed"),
        Index("ix_deadline_due", "status", "due_at"),
        Index("ix_deadline_remind", "status", "remind_at"),
    )

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    window: Mapped[Part]
    seat: Mapped[Part]
    status: Mapped[str]
    asked_at: Mapped[datetime]
    rendered_at: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]
    promised_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    remind_at: Mapped[datetime | None]
    reminded: Mapped[int]
    extensions: Mapped[str]
    attempts: Mapped[int]
    claimed_until: Mapped[datetime | None]


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
    window: Mapped[int | None]
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


class Link(Base):
    """What a token stands for. The token itself is derived from the row and stored nowhere.

    There is one row for each purpose, window, seat and person; `generation` is raised to revoke. `outbox_id` is there
    where a link belongs to one mail.
    """

    __tablename__ = "link"
    __table_args__ = (
        UniqueConstraint("game_id", "seat", "window", "purpose", "person_id"),
        Index(None, "person_id"),
    )

    id: Mapped[Id]
    purpose: Mapped[str]
    generation: Mapped[int]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    window: Mapped[int | None]
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


class Pause(Base):
    """A time in which all clocks of a table stand still; open while it lasts."""

    __tablename__ = "pause"
    __table_args__ = (Index(None, "game_id"),)

    id: Mapped[Id]
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"))
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]


class Willing(Base):
    """Somebody who would take over a seat at a table where a player is gone."""

    __tablename__ = "willing"

    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    since: Mapped[datetime]


class Offer(Base):
    """A seat whose player is gone: who that was, why, and what came of it.

    It is `open` while the seat can change hands: `successor` says whether others were asked to take it or a bot plays on.
    The player who left may come back as long as it is open.
    """

    __tablename__ = "offer"
    __table_args__ = (
        one_of("successor", "substitute", "bot"),
        one_of("status", "open", "taken", "back", "over"),
        Index(None, "game_id", "seat"),
        Index(None, "status"),
    )

    id: Mapped[Id]
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[int]
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    why: Mapped[str]
    successor: Mapped[str]
    status: Mapped[str]
    offered_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    taken_by: Mapped[int | None] = mapped_column(ForeignKey("person.id"))


class Vote(Base):
    """A seat's consent to end a game without a result."""

    __tablename__ = "vote"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[Part]
    at: Mapped[datetime]


class Call(Base):
    """Somebody called the organiser."""

    __tablename__ = "call"
    __table_args__ = (one_of("status", "open", "closed"), Index(None, "status", "at"))

    id: Mapped[Id]
    at: Mapped[datetime]
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    text: Mapped[str]
    status: Mapped[str]
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]


class Organiser(Base):
    """Somebody who may sign in to the desk."""

    __tablename__ = "organiser"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[Id]
    name: Mapped[str]
    address: Mapped[str]
    passphrase: Mapped[str]
    created_at: Mapped[datetime]


class Beat(Base):
    """A running process and when it last said so."""

    __tablename__ = "beat"

    worker: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    beat_at: Mapped[datetime]


class Outage(Base):
    """A time in which nobody worked: it counts for no deadline. `applied_at` is when all open deadlines had heard of it."""

    __tablename__ = "outage"
    __table_args__ = (UniqueConstraint("start_at"), Index(None, "end_at"))

    id: Mapped[Id]
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]
    why: Mapped[str]
    applied_at: Mapped[datetime | None]


class Slot(Base):
    """A task that only one worker does in each span of time, and who took it is whoever inserted the row."""

    __tablename__ = "slot"

    task: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[str] = mapped_column(primary_key=True)


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
    """Until when a share of what may be sent is used up: that of all mails, or that of one domain."""

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
