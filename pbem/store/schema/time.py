"""Clocks, and the times in which they stand still."""

from datetime import datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of

_IS_OPEN: Final = text("status = 'open'")
_IS_REMINDED: Final = text("status = 'open' AND remind_at IS NOT NULL")


class Deadline(Base):
    """What one seat is asked in one turn, and until when. `due_at` is empty until its clock has started.

    It is `open` until it is answered, and then `closed`, or `silent` where the clock has answered; `rewound` where the turn
    no longer stands. `attempts` counts how often a worker has begun to act on it, and `claimed_until` keeps the others away meanwhile.
    """

    __tablename__ = "deadline"
    __table_args__ = (
        one_of("status", "open", "closed", "silent", "rewound"),
        # Of the open ones only, which are few, and a move writes to fewer places. The status is in them all the same: SQLite
        # plans without knowing its rows, and would begin elsewhere if only the moment were to be looked up here.
        Index("ix_deadline_due", "status", "due_at", sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN),
        Index("ix_deadline_remind", "status", "remind_at", sqlite_where=_IS_REMINDED, postgresql_where=_IS_REMINDED),
    )

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    turn: Mapped[Part]
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


class Pause(Base):
    """A time in which all clocks of a table stand still; open while it lasts."""

    __tablename__ = "pause"
    __table_args__ = (Index(None, "game_id"), Index(None, "end_at", "game_id"))

    id: Mapped[Id]
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"))
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]


class Beat(Base):
    """A running process and when it last said so."""

    __tablename__ = "beat"

    worker: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    beat_at: Mapped[datetime]


class Outage(Base):
    """A time in which nobody worked: it counts for no deadline. `applied_at` is when all open deadlines had heard of it.

    `why` is empty where no worker was running, and nobody had to say so.
    """

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
