"""Outages: found as gaps in the heartbeats of the workers or of the web servers, or declared by an organiser, and applied to
the clocks.

While outgoing email is paused, nobody can be told, so that counts as an outage that is going on.

Every worker beats every few seconds. A gap in the beats of all workers is stored as an outage before anything else is done,
and every clock that ran in it is moved. While the server's own clock cannot be trusted, `reason_not_to_fire` says so and
no deadline fires; what is due stays due.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

import structlog

from pbem.domain.deadline import Reason
from pbem.domain.errors import BadInput, Gone
from pbem.domain.interval import Interval, moment_before
from pbem.domain.outage import SETTLING_TIME, outage_between, reason_to_wait
from pbem.i18n.speech import gettext as _
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import clock_doubt, clock_steps, deadlines as clocks_deadlines, web_servers
from pbem.service.clocks.clock_steps import StepFinder
from pbem.service.clocks.deadlines import people_by_seat
from pbem.service.play.log import Kind, add_row, body_of
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, games, heartbeats, log, outages, tables, tournaments, web_servers as web_server_rows
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.outages import OutageRow

KEPT_HEARTBEATS: Final = timedelta(days=7)
"""How long a worker that is gone stays in the organisers' list, and a web server in the database."""

KEPT_TASK_RUNS: Final = timedelta(days=31)

_BATCH: Final = 50
_LOOK_BACK: Final = timedelta(days=1)

_LONGEST_TRIED: Final = timedelta(minutes=10)
"""How long an outage is tried again that could not be applied to every game."""

_FAILING: Final[dict[int, datetime]] = {}
"""Outages that could not be applied to every game, and when this process first tried."""

_NOT_APPLIED: Final = "An outage couldn't be noted in the log of this table, and its players weren't told. Their deadlines move when they are due."

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process. `settling` is how long after its start it fires nothing.

    `held` are deadlines that it had claimed when the database failed. `serves` says that its process is a web server, too.
    """

    name: str
    started_at: datetime
    settling: timedelta = SETTLING_TIME
    steps: StepFinder | None = None
    serves: bool = False
    held: list[DeadlineRow] = field(default_factory=list, compare=False)


def beat(tx: Tx, server: Server, worker: Worker, step: timedelta = timedelta(0)) -> Interval | None:
    """Record a heartbeat, and a step of the clock. A gap since the last one is stored as an outage and returned."""
    if step <= -clock_steps.SMALLEST:
        clock_steps.go_back(tx, server, -step)
    now, last = server.now(), heartbeats.newest(tx)
    gap = outage_between(last, now)
    if step >= clock_steps.SMALLEST:
        clock_steps.go_forward(tx, server, step)
        gap = gap or Interval(now - step, now)
    if gap is not None and last is not None:
        if (doubt := clock_doubt.doubt(tx, now, step)) is not None:
            # Without a beat the gap stays open, so nothing fires until an organiser declares what is true.
            clock_doubt.tell(tx, server, doubt)
            return None
        if step < clock_steps.SMALLEST and (right := clock_doubt.came_back(tx, now)):
            clock_steps.go_forward(tx, server, right)
        # Only an outage declared by an organiser has a reason.
        if not outages.add(tx, gap, why=""):
            gap = None
    heartbeats.record(tx, worker.name, worker.started_at, now)
    if worker.serves:
        web_servers.beat(tx, server, worker.name)
    return gap


def apply_outages(server: Server) -> int:
    """Apply new outages to every clock that ran in them, game by game; returns the number of games.

    While a game fails, its outage is not applied, and is tried again with the next call, which is safe to repeat. No deadline
    fires meanwhile, so after a while the organisers are told of that game, and the others go on.
    """
    moved = 0
    for outage in server.query(outages.unapplied):
        after, failed = 0, list[int]()
        assert outage.end_at is not None, "an open one is not applied"
        while batch := server.query(deadlines.running_since, outage.end_at, after, _BATCH):
            failed += (game_id for game_id in batch if not _apply(server, game_id, outage))
            moved, after = moved + len(batch), batch[-1]
        moved -= len(failed)
        if failed and server.now() < _FAILING.setdefault(outage.id, server.now()) + _LONGEST_TRIED:
            continue
        _FAILING.pop(outage.id, None)
        for game_id in failed:
            server.run(alarms.raise_alarm, AlarmKind.GAME, _NOT_APPLIED, game_id)
        server.run(_finish, outage.id, Interval(outage.start_at, outage.end_at))
    return moved


def declare_outage(tx: Tx, server: Server, outage: Interval, why: str) -> None:
    """Store an outage that heartbeats cannot show, such as a season with the server switched off."""
    if outage.end is None or outage.end > server.now():
        raise BadInput(_("This outage would end in the future."))
    if not outages.add(tx, outage, why):
        raise Gone(_("An outage starting at this time is already logged."), remedy=_("Nothing changed."))


def pause_email(tx: Tx, server: Server, why: str) -> None:
    """Pause outgoing email: nothing leaves, and all clocks stand still. Raises Gone if it is paused already."""
    if outages.email_pause(tx) is not None:
        raise Gone(_("Outgoing email is already paused."), remedy=_("Nothing changed."))
    outages.pause_email(tx, server.now(), why)


def resume_email(tx: Tx, server: Server) -> OutageRow:
    """Let email leave again, and return the pause: an outage to apply. Raises Gone if email is not paused."""
    pause = outages.email_pause(tx)
    if pause is None:
        raise Gone(_("Outgoing email is not paused."), remedy=_("Nothing changed."))
    outages.resume_email(tx, server.now())
    return pause


def tidy_daily(tx: Tx, server: Server) -> bool:
    """Delete old heartbeats and task runs, once a day by one worker; returns whether this call did."""
    if not heartbeats.take_task(tx, "daily", server.now().date().isoformat()):
        return False
    heartbeats.forget_before(tx, ago(tx, server, KEPT_HEARTBEATS))
    web_server_rows.forget_before(tx, ago(tx, server, KEPT_HEARTBEATS))
    heartbeats.forget_tasks_before(tx, ago(tx, server, KEPT_TASK_RUNS).date())
    return True


def tidy_again(tx: Tx, server: Server) -> None:
    """Let a worker tidy once more today, because one has failed halfway."""
    heartbeats.give_back_task(tx, "daily", server.now().date().isoformat())


def reason_not_to_fire(tx: Tx, server: Server, worker: Worker, now: datetime) -> str | None:
    """The reason why no deadline may fire now, or None."""
    if outages.email_pause(tx) is not None:
        return "outgoing email is paused: nobody can be told"
    if outages.unapplied(tx):
        return "an outage was found: what ran in it has to be moved first"
    if (why := web_servers.why_not_up(tx, now)) is not None:
        return why
    last = heartbeats.newest(tx)
    recent = outages.since(tx, min(last or now, now) - _LOOK_BACK)
    if worker.steps is not None and worker.steps.went_forward():
        return "the clock was set forward: the next heartbeat notes it"
    started_at = worker.started_at
    if started_at > now:
        # The clock was set back since, and the worker's row with it.
        started_at = heartbeats.started_at(tx, worker.name) or started_at
    return reason_to_wait(now, started_at, last, recent, worker.settling)


def ago(tx: Tx, server: Server, length: timedelta) -> datetime:
    """The moment this long ago, not counting outages: what expires must not do so while nobody could do anything about it.

    A step of the clock is an outage too, so a wrong clock makes nothing old.
    """
    now = server.now()
    return moment_before(now, length, outages.all_until(tx, now))


def _finish(tx: Tx, server: Server, outage_id: int, outage: Interval) -> None:
    """Let waiting tables and tournaments last longer by an outage, which has now been applied to everything."""
    if outages.mark_applied(tx, outage_id, server.now()):
        tables.delay_waiting(tx, outage)
        tournaments.delay(tx, outage)


def _apply(server: Server, game_id: int, outage: OutageRow) -> bool:
    try:
        server.run(delay_clocks, game_id, outage)
    except Exception as error:
        if is_outage(error):
            # It is applied again as a whole, once the database is back.
            raise
        # A fault in one game must not stop the others; it is tried again with the next call.
        _log.exception("outage_not_applied", game=game_id)
        return False
    return True


def delay_clocks(tx: Tx, server: Server, game_id: int, outage: OutageRow) -> None:
    """Move the clocks of a table that ran in an outage; its log says why if a deadline moves.

    A declared outage is told to everyone at the table with its reason; a found one, or a pause of email, only to players
    whose deadline moves noticeably.
    """
    assert outage.end_at is not None, "an open one is not applied"
    game = games.lock(tx, game_id)
    declared = bool(outage.why) and not outage.email_paused
    clocks_deadlines.settle_game(tx, server, game, tell=not declared)
    delayed = clocks_deadlines.delayed_by(tx, game, Interval(outage.start_at, outage.end_at))
    span = {"start": outage.start_at.isoformat(), "end": outage.end_at.isoformat()}
    if not delayed or _is_noted(tx, game, outage.end_at, span):
        return
    if not outage.why:
        add_row(tx, server, game, Kind.DELAYED, None, "table", span)
        return
    why = {"reason": outage.why, "by": "organiser"}
    game = add_row(tx, server, game, Kind.DELAYED, None, why["by"], span | {"reason": outage.why})
    if not declared:
        return
    people = people_by_seat(tx, game_id)
    for seat, row in delayed.items():
        facts = {**why, "due_at": row.due_at, "because": [Reason.OUTAGE.value]}
        clocks_deadlines.queue_notice(tx, server, people[seat], game, row, "deadline", facts)
    clocks_deadlines.notify_people(tx, server, game, "delayed", {**why, **span}, but={people[seat] for seat in delayed})


def _is_noted(tx: Tx, game: GameRow, end: datetime, span: Mapping[str, str]) -> bool:
    """Whether the log has this outage already, from a worker that died halfway."""
    since = takewhile(lambda row: row.at >= end, log.chain_back(tx, game.id, game.key))
    rules = rules_of(game)
    return any(span.items() <= body_of(rules, row).items() for row in since if row.kind == Kind.DELAYED)
