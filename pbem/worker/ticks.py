"""The ticks of a worker: each claims due rows from the database and acts on them.

The tables are the schedule. A tick that is late, doubled or cut short changes nothing in the end, so any number of workers
may run, on one machine or several. This module must not know when it is called (see `loop`), nor hold any rule about
people, tables or time, which are in `service`.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog

from pbem.service.absence import bots, substitutes, timeouts
from pbem.service.archive import daily_check
from pbem.service.clocks import outages, reachability, stopped_tables
from pbem.service.clocks.outages import Worker
from pbem.service.desk import alarm_emails, jobs, statistics
from pbem.service.incoming import receive
from pbem.service.outgoing import digests, outcomes
from pbem.service.people import sessions, sign_in, strangers
from pbem.service.play import views
from pbem.service.server import Server
from pbem.service.tables import demo, leaving
from pbem.store.deadlines import DeadlineRow

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WorkerContext:
    """The state of a worker: its server, its name, and its ways to the outside.

    `send` sends one batch of due emails, and `receive` processes one batch of received emails; each returns their number.
    `keep` keeps what is being sent. `look` is the check of a table's record, if this worker does that.
    """

    server: Server
    worker: Worker
    send: Callable[[Server], int]
    keep: Callable[[Server], None] = lambda _server: None
    receive: Callable[[Server], int] = lambda _server: 0
    look: daily_check.CheckTable | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    held_back: str | None = None
    bots_held: list[DeadlineRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tick:
    """A task to repeat, with the seconds between runs."""

    name: str
    every: float
    do: Callable[[WorkerContext], None]


def beat(context: WorkerContext) -> None:
    """Keep what is being sent; write a heartbeat; record a step of the clock or an outage, and extend every clock that ran in it."""
    context.keep(context.server)
    steps = context.worker.steps
    step = steps.find(context.server) if steps else timedelta(0)
    outage = context.server.run(outages.beat, context.worker, step)
    if steps:
        steps.done()
    if outage is not None:
        _log.warning("outage_found", start=outage.start, end=outage.end)
    moved = outages.apply_outages(context.server)
    if moved:
        _log.info("clocks_moved", games=moved)


def time_out(context: WorkerContext) -> None:
    """Decide the turns whose clock has run out."""
    while not context.stopping.is_set():
        outcome = timeouts.time_out(context.server, context.worker)
        _log_held_back(context, outcome.held_back)
        if outcome.decided or outcome.failed:
            _log.info("timed_out", decided=outcome.decided, moved=outcome.moved, failed=outcome.failed)
        if outcome.decided + outcome.moved < timeouts.BATCH:
            break


def play_bots(context: WorkerContext) -> None:
    """Let bots decide until no bot is to move."""
    while not context.stopping.is_set() and bots.play_bots(context.server, held=context.bots_held):
        pass


def remind(context: WorkerContext) -> None:
    """Queue the reminders that are due."""
    while not context.stopping.is_set():
        if timeouts.remind(context.server, context.worker).decided < timeouts.BATCH:
            break


def send_links(context: WorkerContext) -> None:
    """Queue the emails with links that people have asked for by their address."""
    sign_in.send_requested(context.server)


def deliver(context: WorkerContext) -> None:
    """Send the emails that are due."""
    while not context.stopping.is_set() and context.send(context.server):
        pass


def receive_emails(context: WorkerContext) -> None:
    """Process the received emails."""
    while not context.stopping.is_set() and context.receive(context.server):
        pass


def gather_digests(context: WorkerContext) -> None:
    """Queue the digests whose time of day has come."""
    if gathered := digests.gather(context.server):
        _log.info("digests_gathered", mails=gathered)


def tell_organisers(context: WorkerContext) -> None:
    """Email the organisers their alarms."""
    if alarm_count := alarm_emails.send(context.server):
        _log.info("organisers_told", alarms=alarm_count)


def update_seats(context: WorkerContext) -> None:
    """Give up the seats of unreachable people, and end offers that are over."""
    given_up = substitutes.give_up_unreachable(context.server) if _clocks_run(context) else 0
    ended = substitutes.tidy(context.server)
    if given_up or ended:
        _log.info("seats_changed", given_up=given_up, ended=ended)


def store_views(context: WorkerContext) -> None:
    """Store the views of games that have moved on, so that no page folds a whole log."""
    while not context.stopping.is_set() and views.save_overdue(context.server) == views.BATCH:
        pass


def stop_failed(context: WorkerContext) -> None:
    """Stop the tables of games that have failed in this process."""
    stopped_tables.stop_failed(context.server)


def check_games(context: WorkerContext) -> None:
    """Stop the tables of missing games, and resume those whose games are back."""
    stopped, back = stopped_tables.check_rules(context.server)
    if stopped or back:
        _log.info("games_looked_at", stopped=stopped, back=back)


def expire_tables(context: WorkerContext) -> None:
    """Close tables that have waited for players too long."""
    if _clocks_run(context) and (closed := leaving.expire(context.server)):
        _log.info("tables_expired", games=closed)


def run_jobs(context: WorkerContext) -> None:
    """Continue the jobs of organisers that affect many tables."""
    while not context.stopping.is_set() and jobs.advance_all(context.server):
        pass


def count_activity(context: WorkerContext) -> None:
    """Update the counts of activity."""
    while not context.stopping.is_set() and statistics.count(context.server):
        pass


def check_records(context: WorkerContext) -> None:
    """Check the records of a few tables."""
    if context.look is not None and (checked := daily_check.check_some(context.server, context.look)):
        _log.info("tables_checked", games=checked)


def clean_up(context: WorkerContext) -> None:
    """Once a day, on one of all workers: delete what has expired."""
    if context.server.run(outages.tidy_daily):
        context.server.run(outcomes.tidy)
        reachability.retry_failed(context.server)
        context.server.run(receive.tidy)
        context.server.run(statistics.tidy)
        demo.tidy(context.server)
        strangers.tidy(context.server)
        context.server.run(sessions.tidy)
        _log.info("day_begun")


TICKS: Final = (
    # The heartbeat comes first: no clock may run out before an outage is known.
    Tick("beat", 5, beat),
    Tick("links", 2, send_links),
    Tick("deliver", 2, deliver),
    Tick("receive", 2, receive_emails),
    Tick("bots", 1, play_bots),
    Tick("time_outs", 5, time_out),
    Tick("reminders", 60, remind),
    Tick("digests", 60, gather_digests),
    Tick("organisers", 60, tell_organisers),
    Tick("seats", 60, update_seats),
    Tick("views", 30, store_views),
    Tick("faults", 2, stop_failed),
    Tick("games", 60, check_games),
    Tick("lobby", 60, expire_tables),
    Tick("jobs", 5, run_jobs),
    Tick("count", 60, count_activity),
    Tick("check", 60, check_records),
    Tick("daily", 600, clean_up),
)


def _clocks_run(context: WorkerContext) -> bool:
    """Whether anything may happen because its time has come."""
    server = context.server
    return server.read(outages.reason_not_to_fire, context.worker, server.now()) is None


def _log_held_back(context: WorkerContext, reason: str | None) -> None:
    """Log why no clock may run out, once for each change of the reason."""
    kind = None if reason is None else reason.split(" for ", 1)[0].split(":", 1)[0]
    if kind != context.held_back:
        context.held_back = kind
        _log.info("clocks_held_back" if reason else "clocks_run", reason=reason)
