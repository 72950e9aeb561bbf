"""Jobs of the desk: acts on many tables, people or emails, their progress and their next targets."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, null, select, update

from pbem.domain.acts import Actor, Role
from pbem.domain.errors import NotFound
from pbem.domain.states import EmailStatus, JobStatus, TableStatus, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.store.guests import IS_DEMO, IS_GUEST
from pbem.store.schema import Deadline, Game, Job, Outbox, Person, Player, table_of

_DEADLINE, _GAME, _JOB, _OUTBOX = table_of(Deadline), table_of(Game), table_of(Job), table_of(Outbox)
_PERSON, _PLAYER = table_of(Person), table_of(Player)
_PLAYING = _GAME.c.status == TableStatus.PLAYING


@dataclass(frozen=True, slots=True)
class JobRow:
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
    return int(tx.execute(insert(_JOB).returning(_JOB.c.id), new).scalar_one())


def read(tx: Connection, job_id: int) -> JobRow:
    """A job. Raises NotFound."""
    return _one(tx, select(_JOB).where(_JOB.c.id == job_id))


def lock(tx: Connection, job_id: int) -> JobRow:
    """Lock a job. Raises NotFound."""
    return _one(tx, select(_JOB).where(_JOB.c.id == job_id).with_for_update())


def by_key(tx: Connection, key: str) -> JobRow | None:
    """The job that the form with this key started."""
    row = tx.execute(select(_JOB).where(_JOB.c.key == key)).one_or_none()
    return None if row is None else _job(row)


def running(tx: Connection) -> list[int]:
    """The ids of unfinished jobs, oldest first."""
    return list(tx.execute(select(_JOB.c.id).where(_JOB.c.status == JobStatus.RUNNING).order_by(_JOB.c.id)).scalars())


def newest(tx: Connection, limit: int) -> list[JobRow]:
    """The newest jobs, newest first."""
    return [_job(row) for row in tx.execute(select(_JOB).order_by(_JOB.c.id.desc()).limit(limit))]


def note_failure(tx: Connection, job: JobRow, target: Target, why: str, most: int) -> None:
    """Count a target as failed; of the failures the last ones are stored, at most this many."""
    failures = json.dumps([*job.failures, (target.number, why)][-most:])
    change(tx, job.id, last_id=target.number, failed=job.failed + 1, failures=failures)


def change(tx: Connection, job_id: int, **values: Any) -> None:
    """Change columns of a job."""
    tx.execute(update(_JOB).where(_JOB.c.id == job_id).values(**values))


def next_targets(tx: Connection, what: str, facts: Mapping[str, Any], last_id: int, limit: int) -> list[Target]:
    """The next targets of such a job, with ids above `last_id`."""
    targets = _targets(what, facts)
    number = targets.selected_columns[0]
    return [Target(*row) for row in tx.execute(targets.where(number > last_id).order_by(number).limit(limit))]


def targets_at_tables_of(
    tx: Connection, what: str, facts: Mapping[str, Any], person_id: int, limit: int
) -> list[Target]:
    """The targets of such a job at tables where this person plays."""
    targets = _targets(what, facts)
    number, table, _name = targets.selected_columns
    tables = select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person_id)
    return [Target(*row) for row in tx.execute(targets.where(table.in_(tables)).order_by(number).limit(limit))]


def count_targets(tx: Connection, what: str, facts: Mapping[str, Any]) -> int:
    """The number of targets of such a job."""
    return tx.execute(select(func.count()).select_from(_targets(what, facts).subquery())).scalar_one()


def _targets(what: str, facts: Mapping[str, Any]) -> Select[Any]:
    match what:
        case "pause":
            return _tables(_GAME.c.paused.is_(False))
        case "resume":
            return _tables(_GAME.c.paused.is_(True))
        case "extend":
            asked = (_DEADLINE.c.game_id == _GAME.c.id, _DEADLINE.c.turn == _GAME.c.turn)
            human = (
                _PLAYER.c.game_id == _GAME.c.id,
                _PLAYER.c.seat == _DEADLINE.c.seat,
                _PLAYER.c.person_id.is_not(None),
            )
            open_ = select(_DEADLINE.c.seat).where(*asked, _DEADLINE.c.status == TurnStatus.OPEN, *human)
            return _tables(open_.exists())
        case "announce":
            return _players()
        case "resend":
            return _undeliverable(facts["domain"], datetime.fromisoformat(facts["since"]))
    raise ValueError(what)


def _tables(which: ColumnElement[bool]) -> Select[Any]:
    """Running tables, except those of the demo."""
    return select(_GAME.c.id, _GAME.c.id.label("game_id"), _GAME.c.title).where(_PLAYING, which, ~IS_DEMO)


def _players() -> Select[Any]:
    """People at running tables; no email reaches a guest of the demo."""
    seats = select(_PLAYER.c.number).join(_GAME, _GAME.c.id == _PLAYER.c.game_id)
    seats = seats.where(_PLAYER.c.person_id == _PERSON.c.id, _PLAYING)
    return select(_PERSON.c.id, null().label("game_id"), _PERSON.c.name).where(seats.exists(), ~IS_GUEST)


def _undeliverable(domain: str, since: datetime) -> Select[Any]:
    """Emails to one domain that were undeliverable since this moment."""
    at_domain = _PERSON.c.mailbox.endswith(f"@{domain}", autoescape=True)
    bounced = (_OUTBOX.c.status == EmailStatus.UNDELIVERABLE, _OUTBOX.c.due_at >= since)
    emails = select(_OUTBOX.c.id, _OUTBOX.c.game_id, _PERSON.c.name)
    return emails.join(_PERSON, _PERSON.c.id == _OUTBOX.c.person_id).where(*bounced, at_domain)


def _one(tx: Connection, query: Select[Any]) -> JobRow:
    row = tx.execute(query).one_or_none()
    if row is None:
        raise NotFound(_("There is no such job."))
    return _job(row)


def _job(row: Row[*tuple[Any, ...]]) -> JobRow:
    values = dict(row._mapping)
    actor = json.loads(values["actor"])
    values["actor"] = Actor(Role(actor.pop("role")), **actor)
    values["facts"] = json.loads(values["facts"])
    values["failures"] = tuple((number, why) for number, why in json.loads(values["failures"]))
    return JobRow(**values)
