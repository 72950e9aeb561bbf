"""Data of the desk's overview, and jobs that act on many tables at once.

Counts, search words and flaws are stored so that no page has to read a log or a whole table.
"""

from datetime import date, datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.domain.states import JobStatus
from pbem.store.schema.base import Base, Id, Part, one_of


class Tally(Base):
    """How often something of a kind happened in one hour, in numbers and without names."""

    __tablename__ = "tally"

    day: Mapped[date] = mapped_column(primary_key=True)
    hour: Mapped[Part]
    kind: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]


class TaskProgress(Base):
    """The progress of a task that goes through the rows of a table by id."""

    __tablename__ = "task_progress"

    task: Mapped[str] = mapped_column(primary_key=True)
    last_id: Mapped[int]


class Flaw(Base):
    """A table whose log failed its last check; deleted when it passes again."""

    __tablename__ = "flaw"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    found_at: Mapped[datetime]
    seq: Mapped[int]
    says: Mapped[str]


class SearchWord(Base):
    """A word by which a table or person is found. Stored as bytes, which both databases sort alike."""

    __tablename__ = "search_word"
    __table_args__ = (one_of("about", "table", "person"), Index(None, "about", "subject_id"))

    about: Mapped[str] = mapped_column(primary_key=True)
    word: Mapped[bytes] = mapped_column(primary_key=True)
    subject_id: Mapped[Part]


class Job(Base):
    """An act on many tables, people or emails, one after the other by id.

    `last_id` is the last one dealt with; it changes in the same transaction, so that nothing is done twice. `total` was
    counted at the start. `failures` lists the last targets that failed, and why. `key` is that of the form, so that
    pressing the button twice starts one job.
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("key"),
        one_of("what", "pause", "resume", "extend", "announce", "resend"),
        one_of("status", *JobStatus),
        Index(None, "status", "id"),
    )

    id: Mapped[Id]
    key: Mapped[str]
    what: Mapped[str]
    facts: Mapped[str]
    reason: Mapped[str]
    actor: Mapped[str]
    status: Mapped[str]
    last_id: Mapped[int]
    total: Mapped[int]
    done: Mapped[int]
    failed: Mapped[int]
    failures: Mapped[str]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
