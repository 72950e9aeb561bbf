"""Jobs of the desk: acts on many tables, people or emails, their progress and their next targets."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, null, or_, select, update

from pbem.domain.acts import Actor, Role
from pbem.domain.states import EmailStatus, JobStatus, TableStatus, TurnStatus
from pbem.i18n.speech import mark
from pbem.store import insiders, queries
from pbem.store.deadlines import ANY_SEAT
from pbem.store.guests import IS_DEMO, IS_GUEST
from pbem.store.schema import DEADLINE, GAME, JOB, OUTBOX, PERSON, PLAYER, JobRow

_PLAYING = GAME.c.status == TableStatus.PLAYING


@dataclass(frozen=True, slots=True)
class Job:
    """A job and its progress. `failures` lists the last failures: target id and reason."""

    id: int
    key: str
    what: str
    facts: Mapping[str, Any]
    reason: str
    actor: Actor
    status: str
    last_id: int
    total: int
    done: int
    failed: int
    failures: tuple[tuple[int, str], ...]
    created_at: datetime
    ended_at: datetime | None

    @property
    def dealt_with(self) -> int:
        """The number of targets done or failed."""
        return self.done + self.failed


@dataclass(frozen=True, slots=True)
class Target:
    """One table, person or email of a job: the id that orders them, its table if it has one, and its title or name."""

    number: int
    game_id: int | None
    called: str


def add(tx: Connection, actor: Actor, facts: Mapping[str, Any], **values: Any) -> int:
    """Add a running job and return its id."""
    new = {"status": JobStatus.RUNNING, "last_id": 0, "done": 0, "failed": 0, "failures": "[]"} | values
    new |= {"facts": json.dumps(dict(facts), sort_keys=True), "actor": json.dumps(asdict(actor), sort_keys=True)}
    return queries.add(tx, JOB, new)


def read(tx: Connection, job_id: int) -> Job:
    """A job. Raises NotFound."""
    return _one(tx, select(JOB).where(JOB.c.id == job_id))


def lock(tx: Connection, job_id: int) -> Job:
    """Lock a job. Raises NotFound."""
    return _one(tx, select(JOB).where(JOB.c.id == job_id).with_for_update())


def by_key(tx: Connection, key: str) -> Job | None:
    """The job that the form with this key started."""
    return queries.one(tx, _job, select(JOB).where(JOB.c.key == key))


def running(tx: Connection) -> list[int]:
    """The ids of unfinished jobs, oldest first."""
    return list(tx.execute(select(JOB.c.id).where(JOB.c.status == JobStatus.RUNNING).order_by(JOB.c.id)).scalars())


def newest(tx: Connection, limit: int) -> list[Job]:
    return queries.many(tx, _job, select(JOB).order_by(JOB.c.id.desc()).limit(limit))


def note_failure(tx: Connection, job: Job, target: Target, why: str, most: int) -> None:
    """Count a target as failed; of the failures the last ones are stored, at most this many."""
    failures = json.dumps([*job.failures, (target.number, why)][-most:])
    change(tx, job.id, last_id=target.number, failed=job.failed + 1, failures=failures)


def change(tx: Connection, job_id: int, **values: Any) -> None:
    tx.execute(update(JOB).where(JOB.c.id == job_id).values(**values))


def next_targets(
    tx: Connection, what: str, facts: Mapping[str, Any], reader: int | None, last_id: int, limit: int
) -> list[Target]:
    """The next targets of such a job of an organiser who may play, with ids above `last_id`."""
    targets = _targets(what, facts, reader)
    number = targets.selected_columns[0]
    return queries.many(tx, Target, targets.where(number > last_id).order_by(number).limit(limit))


def targets_at_tables_of(
    tx: Connection, what: str, facts: Mapping[str, Any], person_id: int, limit: int
) -> list[Target]:
    """The targets of such a job at tables where this person sits or sat."""
    targets = _targets(what, facts, person_id)
    number, table, _name = targets.selected_columns
    tables = targets.where(table.in_(insiders.tables_of(person_id)))
    return queries.many(tx, Target, tables.order_by(number).limit(limit))


def count_targets(tx: Connection, what: str, facts: Mapping[str, Any], reader: int | None) -> int:
    return tx.execute(select(func.count()).select_from(_targets(what, facts, reader).subquery())).scalar_one()


def known_to(tx: Connection, job: Job, reader: int | None) -> Job:
    """A job as an organiser who may play sees it: without failures of emails about tables where they sit or sat."""
    if reader is None or job.what != "resend":
        return job
    numbers = [number for number, _why in job.failures]
    own = select(OUTBOX.c.id).where(OUTBOX.c.id.in_(numbers), OUTBOX.c.game_id.in_(insiders.tables_of(reader)))
    hidden = {*tx.execute(own).scalars()}
    return replace(job, failures=tuple(each for each in job.failures if each[0] not in hidden))


def _targets(what: str, facts: Mapping[str, Any], reader: int | None) -> Select[Any]:
    match what:
        case "pause":
            return _tables(GAME.c.paused.is_(False))
        case "resume":
            return _tables(GAME.c.paused.is_(True))
        case "extend":
            asked = (DEADLINE.c.game_id == GAME.c.id, DEADLINE.c.turn == GAME.c.turn, ANY_SEAT)
            human = (PLAYER.c.game_id == GAME.c.id, PLAYER.c.seat == DEADLINE.c.seat, PLAYER.c.person_id.is_not(None))
            open_ = select(DEADLINE.c.seat).where(*asked, DEADLINE.c.status == TurnStatus.OPEN, *human)
            return _tables(open_.exists())
        case "announce":
            return _players()
        case "resend":
            emails = _undeliverable(facts["domain"], datetime.fromisoformat(facts["since"]))
            if reader is None:
                return emails
            # A receipt that came back would tell who has answered.
            return emails.where(or_(OUTBOX.c.game_id.is_(None), OUTBOX.c.game_id.not_in(insiders.tables_of(reader))))
    raise ValueError(what)


def _tables(which: ColumnElement[bool]) -> Select[Any]:
    """Running tables, except those of the demo."""
    return select(GAME.c.id, GAME.c.id.label("game_id"), GAME.c.title).where(_PLAYING, which, ~IS_DEMO)


def _players() -> Select[Any]:
    """People at running tables; no email reaches a guest of the demo."""
    seats = select(PLAYER.c.number).join(GAME, GAME.c.id == PLAYER.c.game_id)
    seats = seats.where(PLAYER.c.person_id == PERSON.c.id, _PLAYING)
    return select(PERSON.c.id, null().label("game_id"), PERSON.c.name).where(seats.exists(), ~IS_GUEST)


def _undeliverable(domain: str, since: datetime) -> Select[Any]:
    """Emails to one domain that were undeliverable since this moment."""
    at_domain = PERSON.c.mailbox.endswith(f"@{domain}", autoescape=True)
    bounced = (OUTBOX.c.status == EmailStatus.UNDELIVERABLE, OUTBOX.c.channel_id == 0, OUTBOX.c.due_at >= since)
    emails = select(OUTBOX.c.id, OUTBOX.c.game_id, PERSON.c.name)
    return emails.join(PERSON, PERSON.c.id == OUTBOX.c.person_id).where(*bounced, at_domain)


def _one(tx: Connection, query: Select[Any]) -> Job:
    return queries.only(tx, _job, query, mark("There is no such job."))


def _job(*columns: Any) -> Job:
    values = asdict(JobRow(*columns))
    actor = json.loads(values["actor"])
    values["actor"] = Actor(Role(actor.pop("role")), **actor)
    values["facts"] = json.loads(values["facts"])
    values["failures"] = tuple((number, why) for number, why in json.loads(values["failures"]))
    return Job(**values)
