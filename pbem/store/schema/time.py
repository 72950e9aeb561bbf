"""Deadlines, and the times in which clocks stand still."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from sqlalchemy import Index, UniqueConstraint, text

from pbem.domain.states import TurnStatus
from pbem.store.schema.base import KEY, GameId, Id, Part, one_of, table

_IS_OPEN: Final = text("status = 'open'")
_IS_REMINDED: Final = text("status = 'open' AND remind_at IS NOT NULL")


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """The deadline of one seat in one turn. `due_at` is empty until its clock has started, `closed_at` until it has stopped.

    It is `open` until the seat decides, then `closed`, or `missed` if the time ran out first; `rewound` if the turn no
    longer counts. `attempts` counts how often a worker has begun to act on it, and `claimed_until` keeps other workers
    away meanwhile. `undelivered` says that the email about the turn came back. A second chance names the
    `missed_turn` before it, and is counted with that as one turn. `week` is that of the player when they were asked.
    """

    game_id: Annotated[GameId, KEY]
    turn: Part
    seat: Part
    status: str
    asked_at: datetime
    rendered_at: datetime | None
    accepted_at: datetime | None
    promised_at: datetime | None
    due_at: datetime | None
    closed_at: datetime | None
    remind_at: datetime | None
    reminded: int
    extensions: str
    week: str | None
    attempts: int
    claimed_until: datetime | None
    undelivered: bool
    missed_turn: int | None


DEADLINE = table(
    "deadline",
    DeadlineRow,
    one_of("status", *TurnStatus),
    # Partial, because open deadlines are few and a move then writes to fewer indexes. The status is a column all the
    # same: SQLite plans without knowing its rows, and would choose another index if this one had only the moment.
    Index("ix_deadline_due", "status", "due_at", sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN),
    Index("ix_deadline_remind", "status", "remind_at", sqlite_where=_IS_REMINDED, postgresql_where=_IS_REMINDED),
)


@dataclass(frozen=True, slots=True)
class PauseRow:
    """A time in which all clocks of a table stand still; open while it lasts."""

    id: Id
    game_id: GameId
    start_at: datetime
    end_at: datetime | None


PAUSE = table("pause", PauseRow, Index(None, "game_id"), Index(None, "end_at", "game_id"))


@dataclass(frozen=True, slots=True)
class HeartbeatRow:
    """A worker process, and when it was last seen."""

    worker: Annotated[str, KEY]
    started_at: datetime
    beat_at: datetime


HEARTBEAT = table("heartbeat", HeartbeatRow)


@dataclass(frozen=True, slots=True)
class WebServerRow:
    """A process that answers requests, and when it was last seen."""

    name: Annotated[str, KEY]
    beat_at: datetime


WEB_SERVER = table("web_server", WebServerRow)


@dataclass(frozen=True, slots=True)
class OutageRow:
    """A time without workers, web servers or outgoing email, which has no end while email is paused.

    `applied_at` is when all deadlines had moved, `why` empty if the server found it.
    """

    id: Id
    start_at: datetime
    end_at: datetime | None
    email_paused: bool
    why: str
    applied_at: datetime | None


OUTAGE = table("outage", OutageRow, UniqueConstraint("start_at"), Index(None, "end_at"))


@dataclass(frozen=True, slots=True)
class ClockStepRow:
    """A step of the server's clock that was noted: `at` is just after it, `seconds` is negative for a step back."""

    id: Id
    at: datetime
    seconds: int


CLOCK_STEP = table("clock_step", ClockStepRow)


@dataclass(frozen=True, slots=True)
class TaskRunRow:
    """A task of one period, such as a day, taken by the one worker that inserted the row."""

    task: Annotated[str, KEY]
    period: Annotated[str, KEY]


TASK_RUN = table("task_run", TaskRunRow)
