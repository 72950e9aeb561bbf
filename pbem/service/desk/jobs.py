"""Jobs: one act on many tables, players or emails: pause, resume, extend, announce, send again.

A button only starts a job. Workers, or the command that started it, advance it one table, person or email at a time;
each step is done and counted in one transaction, so that a crash leaves nothing half done and nothing is done twice. A
failure is noted and does not stop the others. Each step is an act of `desk.acts`, with its reason, rows and emails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, Final

import structlog

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import BadInput, PbemError
from pbem.domain.extension import parse_extension
from pbem.domain.localtime import stored_zone
from pbem.domain.states import EmailKind, JobStatus
from pbem.domain.user_text import parse_message, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit
from pbem.service.desk.acts.clocks import Extend, Pause, Resume
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable
from pbem.service.desk.acts.perform import DeskAct, perform
from pbem.service.desk.overview import reader_of
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import jobs, outbox
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.jobs import Job, Target

LISTED: Final = 100
"""The most targets a dry run lists by name."""

MOST_FAILURES: Final = 20
"""The most failures that are stored."""

LONGEST_BACK: Final = 30
"""Days. Earlier bounces are of turns that ended long ago."""

_AT_ONCE: Final = 50

_log = structlog.get_logger(__name__)


class What(StrEnum):
    """The kinds of jobs."""

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


_AT_TABLES: Final = frozenset({What.PAUSE, What.RESUME, What.EXTEND})
"""Jobs whose targets are tables."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job would do: the number of targets, and the first of them by name.

    `left_alone` are those at tables where the actor plays, who must not act there. Emails about these tables are no targets at
    all: which of them came back would tell who has answered.
    """

    what: What
    facts: Mapping[str, Any]
    total: int
    listed: tuple[Target, ...]
    left_alone: tuple[Target, ...]

    @property
    def reached(self) -> int:
        """The number of targets it would act on."""
        return self.total - len(self.left_alone)


def facts_of(server: Server, what: What, text: str = "", days: int = 7) -> dict[str, Any]:
    """The data of a job, from what was typed: the extra time, the message, or the domain. Raises BadInput."""
    match what:
        case What.EXTEND:
            parse_extension(text, server.now(), stored_zone(server.zone))
            return {"more": text}
        case What.ANNOUNCE:
            return {"text": parse_message(text)}
        case What.RESEND:
            if not 1 <= days <= LONGEST_BACK:
                raise BadInput(_("Choose between 1 and %(longest_back)s days.", longest_back=LONGEST_BACK))
            return {"domain": _domain(text), "since": (server.now() - timedelta(days=days)).isoformat()}
    return {}


def plan(tx: Tx, server: Server, actor: Actor, what: What, facts: Mapping[str, Any]) -> Plan:
    """What a job would do; nothing is changed."""
    reader = reader_of(actor)
    total = jobs.count_targets(tx, what, facts, reader)
    player_id = reader if what in _AT_TABLES else None
    alone = () if player_id is None else tuple(jobs.targets_at_tables_of(tx, what, facts, player_id, total))
    first = jobs.next_targets(tx, what, facts, reader, 0, LISTED + len(alone))
    listed = (target for target in first if target not in alone)
    return Plan(what, facts, total, tuple(islice(listed, LISTED)), alone)


def begin(tx: Tx, server: Server, actor: Actor, what: What, facts: Mapping[str, Any], reason: str, key: str) -> int:
    """Start a job and return its id. The same key again is the same job."""
    reason = parse_reason(reason)
    if (job := jobs.by_key(tx, key)) is not None:
        return job.id
    total, now = jobs.count_targets(tx, what, facts, reader_of(actor)), server.now()
    job_id = jobs.add(tx, actor, facts, key=key, what=what, reason=reason, total=total, created_at=now)
    audit.record(tx, server, actor, ACTS[what], reason, form=key, job=job_id, **facts)
    return job_id


def read(tx: Tx, server: Server, actor: Actor, job_id: int) -> Job:
    """A job and its progress, as far as the actor may know it. Raises NotFound."""
    return jobs.known_to(tx, jobs.read(tx, job_id), reader_of(actor))


def stop(tx: Tx, server: Server, actor: Actor, job_id: int, reason: str) -> None:
    """Stop a job; what it has done stays done. Stopping again changes nothing."""
    row = jobs.lock(tx, job_id)
    if row.status == JobStatus.RUNNING:
        jobs.change(tx, job_id, status=JobStatus.STOPPED, ended_at=server.now())
        audit.record(tx, server, actor, ACTS[What(row.what)], reason, job=job_id, stopped_after=row.dealt_with)


def advance_all(server: Server) -> bool:
    """Advance every running job a little; whether there may be more to do."""
    with server.store.read() as tx:
        running = jobs.running(tx)
    for job_id in running:
        advance(server, job_id)
    return bool(running)


def advance(server: Server, job_id: int, progress: Callable[[int], None] = lambda _: None) -> bool:
    """Advance a job by a batch of steps; whether there are more. `progress` is called after each step."""
    with server.store.read() as tx:
        row = jobs.read(tx, job_id)
        if row.status != JobStatus.RUNNING:
            return False
        following = jobs.next_targets(tx, row.what, row.facts, reader_of(row.actor), row.last_id, _AT_ONCE)
    for target in following:
        try:
            server.run(_step, job_id=job_id, target=target)
        except Exception as error:
            if is_outage(error):
                # It is no fault of the target's, which is the next one again.
                raise
            # A fault in one must not stop the others.
            if not isinstance(error, PbemError):
                _log.exception("job_step_failed", job=job_id, number=target.number)
            why = str(error) if isinstance(error, PbemError) else f"a fault in the server ({type(error).__name__})"
            server.run(_note_failure, job_id=job_id, target=target, why=why)
        progress(1)
    if not following:
        server.run(_end, job_id)
    return bool(following)


def _step(tx: Tx, server: Server, job_id: int, target: Target) -> None:
    row = jobs.lock(tx, job_id)
    # Another worker may have advanced or stopped the job meanwhile.
    if row.status != JobStatus.RUNNING or row.last_id >= target.number:
        return
    act = _act(What(row.what), row.facts, target)
    if act is None:
        outbox.queue(tx, [outbox.NewEmail(target.number, EmailKind.ANNOUNCEMENT, facts=row.facts)], server.now())
    else:
        perform(tx, server, row.actor, act, row.reason)
    jobs.change(tx, job_id, last_id=target.number, done=row.done + 1)


def _note_failure(tx: Tx, server: Server, job_id: int, target: Target, why: str) -> None:
    row = jobs.lock(tx, job_id)
    if row.status == JobStatus.RUNNING and row.last_id < target.number:
        jobs.note_failure(tx, row, target, why, MOST_FAILURES)


def _end(tx: Tx, server: Server, job_id: int) -> None:
    if jobs.lock(tx, job_id).status == JobStatus.RUNNING:
        jobs.change(tx, job_id, status=JobStatus.DONE, ended_at=server.now())


def _act(what: What, facts: Mapping[str, Any], target: Target) -> DeskAct | None:
    """The act on one target; None for an announcement, which is only emailed."""
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


def _domain(text: str) -> str:
    """A provider's normalised domain, typed with or without a name and @."""
    return normalised(f"somebody@{text.strip().rpartition('@')[2]}")[1].rpartition("@")[2]
