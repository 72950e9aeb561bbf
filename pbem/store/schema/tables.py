"""Tables where games are played: who sits there, everything that happened, and what is said."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of


class Game(Base):
    """One table, from its announcement to its end. `key` names it for ever, on whatever server it lies.

    A table that was asked for from an address which has not said yes is `planned`; nobody else sees it. One that its host
    closed before the start is `closed`; one that ended without a result is `void`.

    `state`, `box` and `orders` are the snapshot after row `seq` of the log; `turn` is the number of the entry that is to
    come, which none has had but one that was undone; `head` is the hash of the last row, `entry_head` that at the last
    entry, which is what mails may show. `halted` says why the server itself has stopped a `frozen` table: its rules are not
    there, or have failed.
    """

    __tablename__ = "game"
    __table_args__ = (
        UniqueConstraint("key"),
        one_of("status", "planned", "open", "playing", "over", "void", "closed", "expired", "frozen"),
        one_of("successor", "substitute", "bot"),
        one_of("halted", "gone", "failed"),
        Index(None, "status", "created_at"),
        Index(None, "status", "kind", "created_at"),
        Index(None, "host_id"),
        Index(None, "ended_at"),
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
    missed_limit: Mapped[int]
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
    turn: Mapped[int]
    head: Mapped[bytes]
    entry_head: Mapped[bytes]
    state: Mapped[str]
    box: Mapped[str]
    orders: Mapped[str]
    halted: Mapped[str | None]


class Player(Base):
    """Who takes part. `place` is the order of joining; `seat` is drawn when the game begins."""

    __tablename__ = "player"
    __table_args__ = (UniqueConstraint("game_id", "seat"), Index(None, "person_id"))

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    number: Mapped[Part]
    seat: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    bot: Mapped[str | None]
    name: Mapped[str]
    word: Mapped[str]
    joined_at: Mapped[datetime]
    missed: Mapped[int]


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


class JoinRequest(Base):
    """A request to join a table with a typed address; becomes a seat when that address is confirmed."""

    __tablename__ = "join_request"
    __table_args__ = (Index(None, "person_id"),)

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    person_id: Mapped[Part] = mapped_column(ForeignKey("person.id"))
    name: Mapped[str]
    word: Mapped[str]
    created_at: Mapped[datetime]


class Log(Base):
    """One row of a game's history. Rows are added and never changed; `domain.chain` says how they are hashed."""

    __tablename__ = "log"
    # What happened lately is counted by the hour, at all tables together.
    __table_args__ = (Index(None, "at"),)

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


class Talk(Base):
    """One line of table talk, in a hash chain of its own per game; a redacted line has no text."""

    __tablename__ = "talk"

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
    """What a seat knew after turn `turn`, with all rows up to `seq`: kept, so that nobody begins at the first row.

    The spectator is seat -1. Every so many rows all readers of a game get one at once.
    """

    __tablename__ = "view"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[Part]
    turn: Mapped[Part]
    seq: Mapped[int]
    body: Mapped[str]


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
        Index(None, "person_id"),
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
