"""Acts on many tables, people or mails at once: how far each has come, and what it has to deal with next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, insert, null, select, update

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.store.guests import IS_GUEST, OF_THE_DEMO
from pbem.store.schema import Deadline, Game, Job, Outbox, Person, Place, table_of

_DEADLINE, _GAME, _JOB, _OUTBOX = table_of(Deadline), table_of(Game), table_of(Job), table_of(Outbox)
_PERSON, _PLACE = table_of(Person), table_of(Place)
_PLAYING = _GAME.c.status == "playing"


@dataclass(frozen=True, slots=True)
class JobRow:
    """One act on many. `facts`, `actor` and `said` are JSON."""

    id: int
    key: str
    what: str
    facts: str
    reason: str
    actor: str
    status: str
    mark: int
    total: int
    done: int
    failed: int
    said: str
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Target:
    """What one step is about: the number by which the steps are in order, its table if it has one, and what it is called."""

    number: int
    game_id: int | None
    called: str


def add(tx: Connection, **values: Any) -> int:
    """A new job, which is running from now on; its number."""
    new = {"status": "running", "mark": 0, "done": 0, "failed": 0, "said": "[]"} | values
    return int(tx.execute(insert(_JOB).returning(_JOB.c.id), new).scalar_one())


def read(tx: Connection, job_id: int) -> JobRow:
    """The job; not found if there is none."""
    return _one(tx, select(_JOB).where(_JOB.c.id == job_id))


def lock(tx: Connection, job_id: int) -> JobRow:
    """The job, with which nobody else goes on until this transaction ends."""
    return _one(tx, select(_JOB).where(_JOB.c.id == job_id).with_for_update())


def by_key(tx: Connection, key: str) -> JobRow | None:
    """The job that the form of this key began."""
    row = tx.execute(select(_JOB).where(_JOB.c.key == key)).one_or_none()
    return None if row is None else JobRow(**row._mapping)


def running(tx: Connection) -> list[int]:
    """The jobs that have something left to do, the first first."""
    return list(tx.execute(select(_JOB.c.id).where(_JOB.c.status == "running").order_by(_JOB.c.id)).scalars())


def newest(tx: Connection, limit: int) -> list[JobRow]:
    """The last jobs, the newest first."""
    return [JobRow(**row._mapping) for row in tx.execute(select(_JOB).order_by(_JOB.c.id.desc()).limit(limit))]


def change(tx: Connection, job_id: int, **values: Any) -> None:
    """Write how far a job has come."""
    tx.execute(update(_JOB).where(_JOB.c.id == job_id).values(**values))


def following(tx: Connection, what: str, facts: Mapping[str, Any], mark: int, limit: int) -> list[Target]:
    """The next that a job of this kind is about, behind a mark."""
    wanted = _wanted(what, facts)
    number = wanted.selected_columns[0]
    return [Target(*row) for row in tx.execute(wanted.where(number > mark).order_by(number).limit(limit))]


def at_tables_of(tx: Connection, what: str, facts: Mapping[str, Any], person_id: int, limit: int) -> list[Target]:
    """Those that a job of this kind is about at tables where a person sits."""
    wanted = _wanted(what, facts)
    number, table, _called = wanted.selected_columns
    theirs = select(_PLACE.c.game_id).where(_PLACE.c.person_id == person_id)
    return [Target(*row) for row in tx.execute(wanted.where(table.in_(theirs)).order_by(number).limit(limit))]


def count(tx: Connection, what: str, facts: Mapping[str, Any]) -> int:
    """How many it is about."""
    return tx.execute(select(func.count()).select_from(_wanted(what, facts).subquery())).scalar_one()


def _wanted(what: str, facts: Mapping[str, Any]) -> Select[Any]:
    match what:
        case "pause":
            return _tables(_GAME.c.paused.is_(False))
        case "resume":
            return _tables(_GAME.c.paused.is_(True))
        case "extend":
            asked = (_DEADLINE.c.game_id == _GAME.c.id, _DEADLINE.c.turn == _GAME.c.turn)
            human = (_PLACE.c.game_id == _GAME.c.id, _PLACE.c.seat == _DEADLINE.c.seat, _PLACE.c.person_id.is_not(None))
            open_ = select(_DEADLINE.c.seat).where(*asked, _DEADLINE.c.status == "open", *human)
            return _tables(open_.exists())
        case "announce":
            return _players()
        case "resend":
            return _came_back(facts["domain"], datetime.fromisoformat(facts["since"]))
    raise ValueError(what)


def _tables(which: ColumnElement[bool]) -> Select[Any]:
    """Tables that are being played, but for those of the demo."""
    return select(_GAME.c.id, _GAME.c.id.label("game_id"), _GAME.c.title).where(_PLAYING, which, ~OF_THE_DEMO)


def _players() -> Select[Any]:
    """Everybody who sits at a table that is being played; no mail reaches a guest of the demo."""
    sits = select(_PLACE.c.place).join(_GAME, _GAME.c.id == _PLACE.c.game_id)
    sits = sits.where(_PLACE.c.person_id == _PERSON.c.id, _PLAYING)
    return select(_PERSON.c.id, null().label("game_id"), _PERSON.c.name).where(sits.exists(), ~IS_GUEST)


def _came_back(domain: str, since: datetime) -> Select[Any]:
    """Mails to people at one domain that never arrived, or were refused, since a moment."""
    theirs = _PERSON.c.mailbox.endswith(f"@{domain}", autoescape=True)
    gone = (_OUTBOX.c.status == "undeliverable", _OUTBOX.c.due_at >= since)
    wanted = select(_OUTBOX.c.id, _OUTBOX.c.game_id, _PERSON.c.name)
    return wanted.join(_PERSON, _PERSON.c.id == _OUTBOX.c.person_id).where(*gone, theirs)


def _one(tx: Connection, wanted: Select[Any]) -> JobRow:
    row = tx.execute(wanted).one_or_none()
    if row is None:
        raise NotFound(_("There is no such job."))
    return JobRow(**row._mapping)
