"""What a worker does when it is woken up: each tick claims what is due from the tables and acts on it.

The tables are the schedule. A tick that is late, doubled or cut short changes nothing about what will have been done, so
one worker or twenty are equally right, on one machine or several. Nothing in here knows when it is called (that is
`loop`), and no rule about people, tables or time stands here: those are the use cases'.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from pbem.service.absence import bots, substitutes, timeouts
from pbem.service.archive import daily_check
from pbem.service.clocks import halts, outages, reachability
from pbem.service.clocks.outages import Worker
from pbem.service.desk import activity, alarms, jobs
from pbem.service.incoming import receive
from pbem.service.outgoing import digests, outcomes
from pbem.service.people import sessions
from pbem.service.play import views
from pbem.service.server import Server
from pbem.service.tables import demo, leaving

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Shift:
    """A worker at work: its hands on the server, its name, how it sends what is due, and whether it is to stop.

    `send` sends one batch of mails that are due, and `attend` reads one of mails that came in; each says how many it has
    dealt with. `look` is how the record of a table is checked, where that is to be done.
    """

    server: Server
    worker: Worker
    send: Callable[[Server], int]
    attend: Callable[[Server], int] = lambda _house: 0
    look: daily_check.Look | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    held_back: str | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Something to do every so many seconds."""

    name: str
    every: float
    do: Callable[[Shift], None]


def beat(shift: Shift) -> None:
    """Say that this worker is there; write down an outage, and move every clock that ran in it."""
    outage = shift.server.run(outages.beat, shift.worker)
    if outage is not None:
        _log.warning("outage_found", start=outage.start, end=outage.end)
    moved = outages.apply_outages(shift.server)
    if moved:
        _log.info("clocks_moved", games=moved)


def time_outs(shift: Shift) -> None:
    """Decide the turns whose clock has run out."""
    while not shift.stopping.is_set():
        passed = timeouts.time_out(shift.server, shift.worker)
        _held_back(shift, passed.held_back)
        if passed.decided or passed.failed:
            _log.info("timed_out", decided=passed.decided, moved=passed.moved, failed=passed.failed)
        if passed.decided + passed.moved < timeouts.BATCH:
            break


def play_bots(shift: Shift) -> None:
    """Let bots decide, as long as there is one whose turn it is."""
    while not shift.stopping.is_set() and bots.play_bots(shift.server):
        pass


def remind(shift: Shift) -> None:
    """Queue the reminders that are due."""
    while not shift.stopping.is_set():
        if timeouts.remind(shift.server, shift.worker).decided < timeouts.BATCH:
            break


def deliver(shift: Shift) -> None:
    """Send the mails that are due."""
    while not shift.stopping.is_set() and shift.send(shift.server):
        pass


def attend(shift: Shift) -> None:
    """Read the mails that came in."""
    while not shift.stopping.is_set() and shift.attend(shift.server):
        pass


def gather_digests(shift: Shift) -> None:
    """Queue the digests whose time of day has come."""
    if gathered := digests.gather(shift.server):
        _log.info("digests_gathered", mails=gathered)


def tell_organisers(shift: Shift) -> None:
    """Mail the organisers what they have to hear of."""
    if told := alarms.tell(shift.server):
        _log.info("organisers_told", alarms=told)


def seats(shift: Shift) -> None:
    """Give up the seats of people who cannot be reached, and end offers that are over."""
    given_up, ended = substitutes.give_up_unreachable(shift.server), substitutes.tidy(shift.server)
    if given_up or ended:
        _log.info("seats_changed", given_up=given_up, ended=ended)


def keep_views(shift: Shift) -> None:
    """Keep what everybody knows of the games that have gone on, so that no page folds a whole log."""
    while not shift.stopping.is_set() and views.keep_behind(shift.server) == views.BATCH:
        pass


def stop_failed(shift: Shift) -> None:
    """Stop the tables whose games have failed in this process."""
    halts.stop_failed(shift.server)


def look_at_games(shift: Shift) -> None:
    """Stop the tables whose games are not on this server, and let those go on whose games are back."""
    stopped, back = halts.look(shift.server)
    if stopped or back:
        _log.info("games_looked_at", stopped=stopped, back=back)


def expire_tables(shift: Shift) -> None:
    """Close tables that have waited for players too long."""
    if closed := leaving.expire(shift.server):
        _log.info("tables_expired", games=closed)


def work_through(shift: Shift) -> None:
    """Go on with what an organiser has asked for at many tables."""
    while not shift.stopping.is_set() and jobs.go_on(shift.server):
        pass


def count(shift: Shift) -> None:
    """Count what has happened."""
    while not shift.stopping.is_set() and activity.count(shift.server):
        pass


def check(shift: Shift) -> None:
    """Look at the records of a few tables."""
    if shift.look is not None and (looked := daily_check.check_some(shift.server, shift.look)):
        _log.info("tables_checked", games=looked)


def daily(shift: Shift) -> None:
    """Once a day, by one worker of all: drop what nobody looks at any more."""
    if shift.server.run(outages.tidy_daily):
        outcomes.tidy(shift.server)
        reachability.forgive(shift.server)
        shift.server.run(receive.tidy)
        shift.server.run(activity.tidy)
        demo.tidy(shift.server)
        shift.server.run(sessions.tidy)
        _log.info("day_begun")


TICKS: Final = (
    # The beat comes first: nothing fires before it is known how long nobody worked.
    Tick("beat", 15, beat),
    Tick("deliver", 2, deliver),
    Tick("attend", 2, attend),
    Tick("bots", 1, play_bots),
    Tick("time_outs", 5, time_outs),
    Tick("reminders", 60, remind),
    Tick("digests", 60, gather_digests),
    Tick("organisers", 60, tell_organisers),
    Tick("seats", 60, seats),
    Tick("views", 30, keep_views),
    Tick("faults", 2, stop_failed),
    Tick("games", 60, look_at_games),
    Tick("lobby", 60, expire_tables),
    Tick("bulk", 5, work_through),
    Tick("count", 60, count),
    Tick("check", 60, check),
    Tick("daily", 600, daily),
)


def _held_back(shift: Shift, reason: str | None) -> None:
    """Say why nothing fires when that changes, and not every few seconds."""
    kind = None if reason is None else reason.split(" for ", 1)[0].split(":", 1)[0]
    if kind != shift.held_back:
        shift.held_back = kind
        _log.info("clocks_held_back" if reason else "clocks_run", reason=reason)
