"""One act on many: all tables are paused, resumed or given time, all players are told something, mails go out again.

A press of a button begins a job and ends there. Workers, or the command that began it, go on with it one table, person or
mail at a time; each step is done and counted in one transaction, so that a process that dies leaves nothing half done and
nothing is done twice. What cannot be done at one table is noted, and holds up no other. At each table the act is that of
`moderation`, with its reason, its rows and its mails.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.deadline import parse_extension
from pbem.domain.errors import BadInput, PbemError
from pbem.domain.user_text import parse_message, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit
from pbem.service.desk.acts.clocks import Extend, Pause, Resume
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable
from pbem.service.desk.acts.perform import Deed, perform
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import jobs, outbox
from pbem.store.database import Tx
from pbem.store.jobs import JobRow, Target

LISTED: Final = 100
"""So many of those concerned a dry run lists by name."""

SAID: Final = 20
"""So many of the steps that could not be done are told."""

LONGEST_BACK: Final = 30
"""Days: what came back before is of turns that are long over."""

_AT_ONCE: Final = 50

_log = structlog.get_logger(__name__)


class What(StrEnum):
    """What can be done to many at once."""

    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    ANNOUNCE = "announce"
    RESEND = "resend"


ACTS: Final = {
    What.PAUSE: Act.PAUSE_ALL,
    What.RESUME: Act.RESUME_ALL,
    What.EXTEND: Act.EXTEND_ALL,
    What.ANNOUNCE: Act.ANNOUNCE,
    What.RESEND: Act.RESEND_ALL,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job would do: to how many, and the first of them by name.

    `left_alone` are those among them at tables where whoever asks plays, who moderates nothing there.
    """

    what: What
    facts: Mapping[str, Any]
    total: int
    listed: tuple[Target, ...]
    left_alone: tuple[Target, ...]

    @property
    def reached(self) -> int:
        """To how many it would be done."""
        return self.total - len(self.left_alone)


@dataclass(frozen=True, slots=True)
class Job:
    """How far a job has come. `said` tells the last steps that could not be done: the number, and why."""

    id: int
    what: What
    facts: Mapping[str, Any]
    reason: str
    by: str
    status: str
    total: int
    done: int
    failed: int
    said: tuple[tuple[int, str], ...]
    created_at: datetime
    ended_at: datetime | None

    @property
    def dealt_with(self) -> int:
        """How many steps are behind it."""
        return self.done + self.failed


def facts_of(server: Server, what: What, text: str = "", days: int = 7) -> dict[str, Any]:
    """What an act on many needs to know, from what was typed: how much more time, what to tell, or which domain."""
    match what:
        case What.EXTEND:
            parse_extension(text, server.now(), ZoneInfo(server.zone))
            return {"more": text}
        case What.ANNOUNCE:
            return {"text": parse_message(text)}
        case What.RESEND:
            if not 1 <= days <= LONGEST_BACK:
                raise BadInput(
                    _("Mails of the last 1 to %(longest_back)s days can be sent again.", longest_back=LONGEST_BACK)
                )
            return {"domain": _domain(text), "since": (server.now() - timedelta(days=days)).isoformat()}
    return {}


def plan(tx: Tx, server: Server, actor: Actor, what: What, facts: Mapping[str, Any]) -> Plan:
    """What would happen; nothing is changed."""
    total = jobs.count(tx, what, facts)
    theirs = None if what is What.ANNOUNCE else actor.person_id
    alone = () if theirs is None else tuple(jobs.at_tables_of(tx, what, facts, theirs, total))
    listed = (each for each in jobs.following(tx, what, facts, 0, LISTED + len(alone)) if each not in alone)
    return Plan(what, facts, total, tuple(islice(listed, LISTED)), alone)


def begin(tx: Tx, server: Server, actor: Actor, what: What, facts: Mapping[str, Any], reason: str, key: str) -> int:
    """Begin a job; its number. The same key again is the same job."""
    said = parse_reason(reason)
    if (known := jobs.by_key(tx, key)) is not None:
        return known.id
    job_id = jobs.add(
        tx,
        key=key,
        what=what,
        facts=json.dumps(dict(facts), sort_keys=True),
        reason=said,
        actor=json.dumps(asdict(actor), sort_keys=True),
        total=jobs.count(tx, what, facts),
        created_at=server.now(),
    )
    audit.record(tx, server, actor, ACTS[what], said, form=key, job=job_id, **facts)
    return job_id


def stop(tx: Tx, server: Server, actor: Actor, job_id: int, reason: str) -> None:
    """Go no further with a job; what it has done stays done. Again changes nothing."""
    row = jobs.lock(tx, job_id)
    if row.status == "running":
        jobs.change(tx, job_id, status="stopped", ended_at=server.now())
        audit.record(tx, server, actor, ACTS[What(row.what)], reason, job=job_id, stopped_after=row.done + row.failed)


def read(tx: Tx, server: Server, job_id: int) -> Job:
    """How far a job has come."""
    return _job(jobs.read(tx, job_id))


def newest(tx: Tx, limit: int = 5) -> list[Job]:
    """The last jobs, the newest first."""
    return [_job(row) for row in jobs.newest(tx, limit)]


def go_on(server: Server) -> bool:
    """Go on with every job that is under way, a little; whether there may be more to do."""
    with server.store.read() as tx:
        running = jobs.running(tx)
    for job_id in running:
        go_on_with(server, job_id)
    return bool(running)


def go_on_with(server: Server, job_id: int, progress: Callable[[int], None] = lambda _: None) -> bool:
    """Take the next steps of one job; whether there are more. `progress` is told of each step."""
    with server.store.read() as tx:
        row = jobs.read(tx, job_id)
        if row.status != "running":
            return False
        following = jobs.following(tx, row.what, json.loads(row.facts), row.mark, _AT_ONCE)
    for target in following:
        try:
            server.run(_step, job_id=job_id, target=target)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others must not wait for it
            if not isinstance(error, PbemError):
                _log.exception("job_step_failed", job=job_id, number=target.number)
            why = str(error) if isinstance(error, PbemError) else f"a fault in the server ({type(error).__name__})"
            server.store.write(partial(_failed, job_id=job_id, target=target, why=why))
        progress(1)
    if not following:
        server.run(_end, job_id)
    return bool(following)


def _step(tx: Tx, server: Server, job_id: int, target: Target) -> None:
    row = jobs.lock(tx, job_id)
    # Somebody else may have come further meanwhile, or have been told to stop.
    if row.status != "running" or row.mark >= target.number:
        return
    facts = json.loads(row.facts)
    deed = _deed(What(row.what), facts, target)
    if deed is None:
        now = server.now()
        outbox.queue(tx, [outbox.NewEmail(target.number, "announcement", facts={"text": facts["text"]})], now, now)
    else:
        perform(tx, server, _actor(row), deed, row.reason)
    jobs.change(tx, job_id, mark=target.number, done=row.done + 1)


def _failed(tx: Tx, job_id: int, target: Target, why: str) -> None:
    row = jobs.lock(tx, job_id)
    if row.status == "running" and row.mark < target.number:
        said = [*json.loads(row.said), [target.number, why]][-SAID:]
        jobs.change(tx, job_id, mark=target.number, failed=row.failed + 1, said=json.dumps(said))


def _end(tx: Tx, server: Server, job_id: int) -> None:
    if jobs.lock(tx, job_id).status == "running":
        jobs.change(tx, job_id, status="done", ended_at=server.now())


def _deed(what: What, facts: Mapping[str, Any], target: Target) -> Deed | None:
    """What is done at one table or with one mail; None where somebody is only told something."""
    match what:
        case What.RESEND:
            number, game_id = target.number, target.game_id
            return ResendOfNoTable(number) if game_id is None else Resend(game_id, number)
        case What.PAUSE:
            return Pause(target.number)
        case What.RESUME:
            return Resume(target.number)
        case What.EXTEND:
            return Extend(target.number, facts["more"])
    return None


def _actor(row: JobRow) -> Actor:
    fields = json.loads(row.actor)
    return Actor(Role(fields.pop("role")), **fields)


def _job(row: JobRow) -> Job:
    said = tuple((number, why) for number, why in json.loads(row.said))
    return Job(
        row.id,
        What(row.what),
        json.loads(row.facts),
        row.reason,
        str(_actor(row)),
        row.status,
        row.total,
        row.done,
        row.failed,
        said,
        row.created_at,
        row.ended_at,
    )


def _domain(text: str) -> str:
    """The domain of a provider as addresses are compared, typed with or without what stands before the @."""
    return normalised(f"somebody@{text.strip().rpartition('@')[2]}")[1].rpartition("@")[2]
