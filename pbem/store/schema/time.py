"""Deadlines, and the times in which clocks stand still."""

from datetime import datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from pbem.domain.states import TurnStatus
from pbem.store.schema.base import Base, Id, Part, one_of

_IS_OPEN: Final = text("status = 'open'")
_IS_REMINDED: Final = text("status = 'open' AND remind_at IS NOT NULL")


class Deadline(Base):
    """The deadline of one seat in one turn. `due_at` is empty until its clock has started.

    It is `open` until the seat decides, then `closed`, or `missed` if the time ran out first; `rewound` if the turn no
    longer counts. `attempts` counts how often a worker has begun to act on it, and `claimed_until` keeps other workers
    away meanwhile.
    """

    __tablename__ = "deadline"
    __table_args__ = (
        one_of("status", *TurnStatus),
        # Partial, because open deadlines are few and a move then writes to fewer indexes. The status is a column all the
        # same: SQLite plans without knowing its rows, and would choose another index if this one had only the moment.
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


class Heartbeat(Base):
    """A worker process, and when it was last seen."""

    __tablename__ = "heartbeat"

    worker: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    beat_at: Mapped[datetime]


class Outage(Base):
    """A time in which no worker ran: it counts for no deadline. `applied_at` is when all open deadlines had been moved.

    `why` is empty if the server found the outage itself.
    """

    __tablename__ = "outage"
    __table_args__ = (UniqueConstraint("start_at"), Index(None, "end_at"))

    id: Mapped[Id]
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]
    why: Mapped[str]
    applied_at: Mapped[datetime | None]


class TaskRun(Base):
    """A task of one period, such as a day, taken by the one worker that inserted the row."""

    __tablename__ = "task_run"

    task: Mapped[str] = mapped_column(primary_key=True)
    period: Mapped[str] = mapped_column(primary_key=True)
