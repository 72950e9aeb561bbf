"""The organisers' desk: what was done there and why, the data of its overview, and acts on many tables at once."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from sqlalchemy import Index, UniqueConstraint

from pbem.domain.states import JobStatus
from pbem.store.schema.base import KEY, GameId, Id, Part, PersonId, one_of, table


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An act of an organiser, a host or an operator at the command line. Rows are added, never changed.

    The rows are one chain, hashed like the log of a game over every column, so that no row can be altered unnoticed.
    `form` is the key of the form, which works once. No column ever holds an address.
    """

    seq: Part
    at: datetime
    actor: str
    act: str
    game_id: GameId | None
    person_id: PersonId | None
    reason: str
    form: str | None
    body: str
    nonce: bytes
    body_hash: bytes
    hash: bytes


# For each way to search, the newest acts are the end of an index.
AUDIT = table(
    "audit",
    AuditRow,
    UniqueConstraint("form"),
    Index(None, "game_id", "seq"),
    Index(None, "person_id", "seq"),
    Index(None, "act", "seq"),
    Index(None, "actor", "seq"),
)


@dataclass(frozen=True, slots=True)
class AuditHeadRow:
    """The end of the audit chain. Its one row is locked by every act, so that acts are in order."""

    id: Part
    seq: int
    head: bytes


AUDIT_HEAD = table("audit_head", AuditHeadRow)


@dataclass(frozen=True, slots=True)
class TallyRow:
    """How often something of a kind happened in one hour, in numbers and without names."""

    day: Annotated[date, KEY]
    hour: Part
    kind: Annotated[str, KEY]
    count: int


TALLY = table("tally", TallyRow)


@dataclass(frozen=True, slots=True)
class TaskProgressRow:
    """The progress of a task that goes through the rows of a table by id."""

    task: Annotated[str, KEY]
    last_id: int


TASK_PROGRESS = table("task_progress", TaskProgressRow)


@dataclass(frozen=True, slots=True)
class FlawRow:
    """A table whose log failed its last check; deleted when it passes again."""

    game_id: Annotated[GameId, KEY]
    found_at: datetime
    seq: int
    says: str


FLAW = table("flaw", FlawRow)


@dataclass(frozen=True, slots=True)
class SearchWordRow:
    """A word by which a table or person is found. Stored as bytes, which both databases sort alike."""

    about: Annotated[str, KEY]
    word: Annotated[bytes, KEY]
    subject_id: Part


SEARCH_WORD = table(
    "search_word", SearchWordRow, one_of("about", "table", "person"), Index(None, "about", "subject_id", "word")
)


@dataclass(frozen=True, slots=True)
class JobRow:
    """An act on many tables, people or emails, one after the other by id.

    `last_id` is the last one dealt with; it changes in the same transaction, so that nothing is done twice. `total` was
    counted at the start. `failures` lists the last targets that failed, and why. `key` is that of the form, so that
    pressing the button twice starts one job.
    """

    id: Id
    key: str
    what: str
    facts: str
    reason: str
    actor: str
    status: str
    last_id: int
    total: int
    done: int
    failed: int
    failures: str
    created_at: datetime
    ended_at: datetime | None


JOB = table(
    "job",
    JobRow,
    UniqueConstraint("key"),
    one_of("what", "pause", "resume", "extend", "announce", "resend"),
    one_of("status", *JobStatus),
    Index(None, "status", "id"),
)
