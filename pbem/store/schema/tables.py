"""Tables where games are played: their players, everything that happened, and what is said."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.domain.states import CallStatus, InvitationStatus, OfferStatus, TableStatus
from pbem.store.schema.base import Base, Id, Part, one_of


class Game(Base):
    """A table, from its announcement to its end. `key` names it for ever, on any server.

    A table asked for from an unconfirmed address is `planned`, and nobody else sees it. One that its host closed before
    the start is `closed`; one that ended without a result is `void`.

    `state`, `box` and `orders` are the snapshot after row `seq` of the log. `turn` is the number of the next entry,
    never used before unless that entry was undone. `head` is the hash of the last row, `entry_head` that of the last
    entry, which emails may show. `halted` says why the server has stopped a `frozen` table: its rules are missing or
    have failed.
    """

    __tablename__ = "game"
    __table_args__ = (
        UniqueConstraint("key"),
        one_of("status", *TableStatus),
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
    """A player of a game. `number` is the order of joining; `seat` is drawn when the game begins."""

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
    """An invitation to a table, and its answer."""

    __tablename__ = "invitation"
    __table_args__ = (UniqueConstraint("game_id", "person_id"), one_of("status", *InvitationStatus))

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
    """A row of a game's history. Rows are added, never changed; `domain.hash_chain` says how they are hashed."""

    __tablename__ = "log"
    # Recent rows are counted by the hour, for all tables together.
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
    """What a seat knew after turn `turn`, with all rows up to `seq`, so that nobody has to start at the first row.

    The spectator is seat -1. All readers of a game are stored together, every so often.
    """

    __tablename__ = "view"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[Part]
    turn: Mapped[Part]
    seq: Mapped[int]
    body: Mapped[str]


class Offer(Base):
    """A seat whose player is gone: the player, the reason and the outcome.

    It is `open` while the seat can change hands: `successor` says whether others were asked to take it or a bot plays
    on. Until then the player may come back.
    """

    __tablename__ = "offer"
    __table_args__ = (
        one_of("successor", "substitute", "bot"),
        one_of("status", *OfferStatus),
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
    """A call for the organiser."""

    __tablename__ = "call"
    __table_args__ = (one_of("status", *CallStatus), Index(None, "status", "at"))

    id: Mapped[Id]
    at: Mapped[datetime]
    game_id: Mapped[int | None] = mapped_column(ForeignKey("game.id"))
    seat: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    text: Mapped[str]
    status: Mapped[str]
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]
