"""What the desk's overview is made from, and what works through many tables at once.

Counts, words to search by and faults that were found are kept here so that no page has to read a log or a whole table.
"""

from datetime import date, datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pbem.store.schema.base import Base, Id, Part, one_of


class Tally(Base):
    """How often something of one kind happened in one hour of a day, in numbers and without anybody's name."""

    __tablename__ = "tally"

    day: Mapped[date] = mapped_column(primary_key=True)
    hour: Mapped[Part]
    kind: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]


class Mark(Base):
    """How far a task has come that goes through the rows of a table in the order of their numbers."""

    __tablename__ = "mark"

    task: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int]


class Flaw(Base):
    """A table whose record did not check when it was looked at last; gone when it checks again."""

    __tablename__ = "flaw"

    game_id: Mapped[Part] = mapped_column(ForeignKey("game.id"))
    found_at: Mapped[datetime]
    seq: Mapped[int]
    says: Mapped[str]


class Term(Base):
    """A word by which a table or a person is found. Kept as bytes, which both databases put into the same order."""

    __tablename__ = "term"
    __table_args__ = (one_of("about", "table", "person"), Index(None, "about", "number"))

    about: Mapped[str] = mapped_column(primary_key=True)
    word: Mapped[bytes] = mapped_column(primary_key=True)
    number: Mapped[Part]


class Job(Base):
    """One act on many tables, people or mails, done one after the other in the order of their numbers.

    `mark` is the last number that was dealt with; it moves in the transaction that deals with it, so that nothing is done
    twice. `total` was counted at the beginning. `said` tells of the last that could not be done, and why. `key` is that of
    the form, so that a second press is the same job.
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("key"),
        one_of("what", "pause", "resume", "extend", "announce", "resend"),
        one_of("status", "running", "done", "stopped"),
        Index(None, "status", "id"),
    )

    id: Mapped[Id]
    key: Mapped[str]
    what: Mapped[str]
    facts: Mapped[str]
    reason: Mapped[str]
    actor: Mapped[str]
    status: Mapped[str]
    mark: Mapped[int]
    total: Mapped[int]
    done: Mapped[int]
    failed: Mapped[int]
    said: Mapped[str]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
