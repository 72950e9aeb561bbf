"""The ticks of a worker: each claims due rows from the database and acts on them.

The tables are the schedule. A tick that is late, doubled or cut short changes nothing in the end, so any number of workers
may run, on one machine or several. This module must not know when it is called (see `loop`), nor hold any rule about
people, tables or time, which are in `service`.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import structlog

from pbem.bots import Think, think_here
from pbem.clock import WatchedClock
from pbem.coach import MakeReview
from pbem.service.absence import bots, offers, substitutes, timeouts
from pbem.service.account import channels
from pbem.service.archive import daily_check, dump, game_statistics, ratings, reviews
from pbem.service.clocks import outages, reachability, stopped_tables, web_servers
from pbem.service.clocks.outages import Worker
from pbem.service.desk import alarm_emails, jobs, statistics
from pbem.service.incoming import receive
from pbem.service.outgoing import digests, outcomes
from pbem.service.people import sessions, sign_in, strangers
from pbem.service.play import views
from pbem.service.server import Server
from pbem.service.tables import demo, leaving, start
from pbem.service.tournaments import rounds

_BETWEEN_PARTS: Final = 0.02
"""Seconds in which other threads come first while the nightly file is made."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WorkerContext:
    """The state of a worker: its server, its name, and its ways to the outside.

    `send` sends a batch of due emails, `send_messages` one of messages through channels, and `receive` processes one email that
    arrived; each returns how many. `keep` keeps what is being sent. `think` chooses for bots. `look` is the check of a table's
    record, and `review` makes a review, if this worker does that. Once the worker stops, `give_up` ends what its child processes do.
    """

    server: Server
    worker: Worker
    send: Callable[[Server], int]
    keep: Callable[[Server], None] = lambda _server: None
    receive: Callable[[Server], int] = lambda _server: 0
    think: Think = think_here
    give_up: Callable[[], None] = lambda: None
    look: daily_check.CheckTable | None = None
    review: MakeReview | None = None
    send_messages: Callable[[Server], int] = lambda _server: 0
    stopping: threading.Event = field(default_factory=threading.Event)
    held_back: str | None = None
    bots_rota: bots.Rota = field(default_factory=bots.Rota)
    reviews_held: reviews.Held = field(default_factory=list)

    def clocks_run(self) -> bool:
        """Whether anything may happen because its time has come; if not, the reason is logged once."""
        reason = self.server.read(outages.reason_not_to_fire, self.worker, self.server.now())
        kind = None if reason is None else reason.split(" for ", 1)[0].split(":", 1)[0]
        if kind != self.held_back:
            self.held_back = kind
            _log.info("clocks_held_back" if reason else "clocks_run", reason=reason)
        return reason is None

    def watched(self) -> "WorkerContext":
        """The same, with a clock that stops all work once it is set forward."""
        steps = self.worker.steps
        if steps is None:
            return self
        return replace(self, server=replace(self.server, clock=WatchedClock(self.server.clock, steps.went_forward)))


@dataclass(frozen=True, slots=True)
class Tick:
    """A task to repeat, with the seconds between runs. `do` does a part of it, and says whether there is more.

    One that `waits_for_clock` does what cannot be undone because its time has come. It does nothing while the clock is in
    doubt, which is asked before each part.
    """

    name: str
    every: float
    do: Callable[[WorkerContext], bool | None]
    waits_for_clock: bool = False

    def run(self, context: WorkerContext) -> None:
        """Do it until there is no more, the worker stops, or the clock is in doubt."""
        while not context.stopping.is_set() and self._part(context):
            pass

    def _part(self, context: WorkerContext) -> bool | None:
        if not self.waits_for_clock:
            return self.do(context)
        return context.clocks_run() and self.do(context.watched())


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


def time_out(context: WorkerContext) -> bool:
    """Decide the turns whose clock has run out."""
    outcome = timeouts.time_out(context.server, context.worker)
    if outcome.decided or outcome.failed:
        _log.info("timed_out", decided=outcome.decided, moved=outcome.moved, failed=outcome.failed)
    return outcome.decided + outcome.moved == timeouts.BATCH


def play_bots(context: WorkerContext) -> bool:
    """Let bots decide until no bot is to move."""
    stopping = context.stopping.is_set
    return bots.play_bots(context.server, rota=context.bots_rota, think=context.think, stopping=stopping) > 0


def remind(context: WorkerContext) -> bool:
    """Queue the reminders that are due."""
    return timeouts.remind(context.server).decided == timeouts.BATCH


def send_links(context: WorkerContext) -> None:
    """Queue the emails with links that people have asked for by their address."""
    sign_in.send_requested(context.server)


def deliver(context: WorkerContext) -> bool:
    """Send the emails that are due."""
    return context.send(context.server) > 0


def deliver_messages(context: WorkerContext) -> bool:
    """Send the messages through channels that are due, and mark those about turns that are over."""
    return context.send_messages(context.server) > 0


def receive_emails(context: WorkerContext) -> bool:
    """Process the received emails."""
    return context.receive(context.server) > 0


def gather_digests(context: WorkerContext) -> None:
    """Queue the digests whose time of day has come."""
    if gathered := digests.gather(context.server):
        _log.info("digests_gathered", mails=gathered)


def tell_organisers(context: WorkerContext) -> None:
    """Email the organisers their alarms, one of them that no web server is up."""
    web_servers.tell(context.server)
    if alarm_count := alarm_emails.send(context.server):
        _log.info("organisers_told", alarms=alarm_count)


def update_seats(context: WorkerContext) -> None:
    """Give up the seats of people who miss their turns or are unreachable, and end offers that are over."""
    given_up = offers.give_up_missed(context.server) + offers.give_up_unreachable(context.server)
    ended = substitutes.tidy(context.server)
    if given_up or ended:
        _log.info("seats_changed", given_up=given_up, ended=ended)


def store_views(context: WorkerContext) -> bool:
    """Store the views of games that have moved on, so that no page folds a whole log."""
    return views.save_overdue(context.server) == views.BATCH


def stop_failed(context: WorkerContext) -> None:
    """Stop the tables of games that have failed in this process."""
    stopped_tables.stop_failed(context.server)


def check_games(context: WorkerContext) -> None:
    """Stop the tables of missing games, and resume those whose games are back."""
    stopped, back = stopped_tables.check_rules(context.server)
    if stopped or back:
        _log.info("games_looked_at", stopped=stopped, back=back)


def open_and_close_tables(context: WorkerContext) -> None:
    """Start the games whose date has come, and close tables that have waited for players too long."""
    if begun := start.start_due(context.server):
        _log.info("games_started", games=begun)
    if closed := leaving.expire(context.server):
        _log.info("tables_expired", games=closed)


def advance_tournaments(context: WorkerContext) -> None:
    """Close sign-ups, note results, and open the rounds of tournaments."""
    rounds.advance_due(context.server)


def run_jobs(context: WorkerContext) -> bool:
    """Continue the jobs of organisers that affect many tables."""
    return jobs.advance_all(context.server) > 0


def count_activity(context: WorkerContext) -> bool:
    """Update the counts of activity."""
    return statistics.count(context.server)


def check_records(context: WorkerContext) -> None:
    """Check the records of a few tables."""
    if context.look is not None and (checked := daily_check.check_some(context.server, context.look)):
        _log.info("tables_checked", games=checked)


def update_ratings(context: WorkerContext) -> bool:
    """Add the endings of rated games to the results, and what they change to the ratings."""
    return ratings.add_endings(context.server) == ratings.BATCH


def count_finished(context: WorkerContext) -> bool:
    """Add finished public games to the statistics of their game and of their players."""
    return game_statistics.count_games(context.server) == game_statistics.BATCH


def make_dump(context: WorkerContext) -> None:
    """Once a night, on one of all workers: make the file of all finished public games, a part after the other."""
    if dump.make_nightly(context.server, lambda: not context.stopping.wait(_BETWEEN_PARTS)):
        _log.info("dump_made")


def make_reviews(context: WorkerContext) -> bool:
    """Make the next review of a finished game."""
    if context.review is None:
        return False
    return reviews.make_next(context.server, context.review, context.stopping.is_set, context.reviews_held)


def clean_up(context: WorkerContext) -> None:
    """Once a day, on one of all workers: delete what has expired. Where that fails, it is tried again."""
    if context.server.run(outages.tidy_daily):
        try:
            _clean_up(context.server)
        except Exception:
            context.server.run(outages.tidy_again)
            raise
        _log.info("day_begun")


def _clean_up(server: Server) -> None:
    server.run(outcomes.tidy)
    reachability.retry_failed(server)
    server.run(receive.tidy)
    server.run(statistics.tidy)
    demo.tidy(server)
    strangers.tidy(server)
    server.run(sessions.tidy)
    server.run(channels.tidy)


TICKS: Final = (
    # The heartbeat comes first: no clock may run out before an outage is known.
    Tick("beat", 5, beat),
    Tick("links", 2, send_links),
    Tick("deliver", 2, deliver),
    Tick("channels", 2, deliver_messages),
    Tick("receive", 2, receive_emails),
    Tick("bots", 1, play_bots),
    Tick("time_outs", 5, time_out, waits_for_clock=True),
    Tick("reminders", 60, remind, waits_for_clock=True),
    Tick("digests", 60, gather_digests, waits_for_clock=True),
    Tick("organisers", 60, tell_organisers),
    Tick("seats", 60, update_seats, waits_for_clock=True),
    Tick("views", 30, store_views),
    Tick("faults", 2, stop_failed),
    Tick("games", 60, check_games),
    Tick("lobby", 60, open_and_close_tables, waits_for_clock=True),
    Tick("tournaments", 10, advance_tournaments, waits_for_clock=True),
    Tick("jobs", 5, run_jobs),
    Tick("count", 60, count_activity),
    Tick("check", 60, check_records),
    Tick("ratings", 2, update_ratings),
    Tick("finished", 10, count_finished),
    Tick("reviews", 10, make_reviews),
    Tick("dump", 600, make_dump),
    Tick("daily", 600, clean_up, waits_for_clock=True),
)
