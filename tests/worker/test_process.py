"""A real worker process that is killed, suspended, restarted or stopped, or whose clock jumps.

The worker and its database are real, the far end of SMTP is a relay on this machine, and the clock is a file that only the
test sets. A test waits for events, never for a length of time.
"""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from pbem.service.clocks.outages import Worker, reason_not_to_fire
from pbem.service.outgoing.deliver import LEASE
from pbem.store import deadlines, heartbeats, outages, outbox
from tests.copies import Copy
from tests.waiting import PATIENCE, until
from tests.worker import process

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 3)]

STEP = timedelta(minutes=4)
"""Less than a hole in the beats: a worker that is awake sees the clock go on like this without being alarmed."""


class Running:
    """A worker's process and its clock."""

    def __init__(self, server, clock, url, sink, folder):
        self.server, self.clock, self.url, self.sink, self.folder = server, clock, url, sink, folder
        self.clock_file = folder / "clock"
        self.process = None
        self.number = 0
        self.set(clock.now())

    def set(self, moment):
        """Set the clock of the test and of the process at once."""
        self.clock.set(moment)
        new = self.folder / "clock.new"
        new.write_text(self.clock.now().isoformat())
        new.replace(self.clock_file)

    def start(self):
        """Start a worker and wait until it has started."""
        self.number += 1
        self.log = self.folder / f"worker{self.number}.log"
        self.log.touch()
        words = self.url, str(self.clock_file), str(self.sink.port), f"worker{self.number}"
        self.process = Copy(process.main, words, self.log)
        until(lambda: self.events("worker_started"), "the worker starts")

    def send(self, number):
        """Send the process a signal."""
        self.process.send_signal(number)

    def kill(self):
        """Kill the process without warning."""
        self.send(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def events(self, event):
        """The worker's log lines of this event."""
        lines = (json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{"))
        return [line for line in lines if line["event"] == event]

    def walks(self, length):
        """Let time pass while the worker is awake: it writes a heartbeat after every step."""
        end = self.clock.now() + length
        while self.clock.now() < end:
            self.set(min(self.clock.now() + STEP, end))
            now = self.clock.now()
            until(lambda now=now: self.beat() >= now, "the worker beats")

    def beat(self):
        """The newest heartbeat."""
        with self.server.store.read() as tx:
            return heartbeats.newest(tx) or self.clock.now() - timedelta(days=1)

    def outages(self):
        """The outages found and already added to all clocks."""
        with self.server.store.read() as tx:
            return [outage for outage in outages.newest(tx) if outage.applied_at is not None]

    def deadline(self, game, seat):
        """The deadline of a seat."""
        with self.server.store.read() as tx:
            return deadlines.read(tx, game.id, game.row().turn, seat)


@pytest.fixture
def worker(server, clock, database_url, sink, tmp_path) -> Iterator[Running]:
    running = Running(server, clock, database_url, sink, tmp_path)
    running.start()
    yield running
    if running.process.poll() is None:
        running.send(signal.SIGCONT)
        running.kill()


@pytest.fixture
def asked(worker, table):
    """A game at ten minutes a turn whose first email has left, and the seat to move."""
    game = table("sun-bid", 2, pace="10m")
    (seat,) = game.asked()
    until(lambda: worker.deadline(game, seat).due_at, "the mail is accepted and the clock starts")
    return game, seat


def by_clock(game):
    return [row for row in game.log() if row.by == "clock"]


@contextmanager
def stopped(worker):
    """The process suspended, as on a machine that sleeps."""
    worker.send(signal.SIGSTOP)
    yield
    worker.send(signal.SIGCONT)


def test_an_email_starts_the_clock_and_the_default_applies_when_it_runs_out(worker, asked):
    game, seat = asked
    assert len(worker.sink.to(f"{game.players()[seat].name.lower()}@example.org")) >= 1
    worker.walks(timedelta(minutes=21))
    until(lambda: by_clock(game), "the turn is decided")
    assert game.verifies()
    assert worker.outages() == []


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_an_outage_past_a_deadline_times_nobody_out_and_moves_the_deadline(worker, asked, how):
    game, seat = asked
    due = worker.deadline(game, seat).due_at
    worker.walks(timedelta(minutes=4))
    away = timedelta(hours=30)
    if how == "killed":
        worker.kill()
        worker.set(worker.clock.now() + away)
        worker.start()
    else:
        with stopped(worker):
            worker.set(worker.clock.now() + away)
    until(worker.outages, "the outage is written down and applied")
    (outage,) = worker.outages()
    assert outage.end_at - outage.start_at == away
    assert worker.deadline(game, seat).due_at >= due + away
    until(lambda: worker.events("clocks_held_back"), "the worker says why nothing fires")
    assert by_clock(game) == []
    # It continues as if nothing had happened: the rest of the time, and then the default.
    worker.walks(worker.deadline(game, seat).due_at - worker.clock.now() - timedelta(minutes=1))
    assert by_clock(game) == []
    worker.walks(timedelta(minutes=12))
    until(lambda: by_clock(game), "the turn is decided")
    assert len(by_clock(game)) == 1
    assert game.verifies()


def test_a_clock_set_back_fires_nothing_until_it_is_right_again(worker, asked):
    game, seat = asked
    due = worker.deadline(game, seat).due_at
    worker.walks(timedelta(minutes=8))
    right = worker.clock.now()
    worker.set(right - timedelta(hours=2))

    def reason():
        return worker.server.read(reason_not_to_fire, Worker("test", right - timedelta(hours=3)), worker.clock.now())

    assert "the clock went back" in reason()
    until(
        lambda: any("the clock went back" in line["reason"] for line in worker.events("clocks_held_back")),
        "the worker sees that its clock went back",
    )
    assert by_clock(game) == []
    worker.set(right)
    worker.walks(timedelta(minutes=14))
    until(lambda: by_clock(game), "the turn is decided")
    assert worker.outages() == []
    assert due <= worker.clock.now()


def test_bots_and_a_new_worker_continue_after_a_killed_one(worker, table):
    game = table("sunset-poker", 4, pace="10m", bots=("random",) * 3)
    person = next(player.seat for player in game.players().values() if player.person_id is not None)
    for _ in range(3):
        until(lambda: set(game.asked()) == {person} or game.row().status == "over", "the bots decide")
        worker.kill()
        if person in game.asked():
            game.play(person, game.asked()[person].default)
        # The claims of a killed worker are free again when their lease ends.
        worker.set(worker.clock.now() + timedelta(minutes=2))
        worker.start()
    until(lambda: set(game.asked()) == {person} or game.row().status == "over", "the bots decide")
    assert game.verifies()


def test_a_worker_told_to_stop_finishes_and_exits_with_success(worker, asked):
    worker.send(signal.SIGTERM)
    assert worker.process.wait(PATIENCE) == 0
    assert worker.events("worker_stopped")
    assert not worker.events("tick_failed")


def test_a_worker_told_to_stop_ends_within_ten_seconds_while_the_relay_hangs(worker, table):
    worker.sink.does(*["hang"] * 10)
    table("sun-bid", 2, pace="10m")
    until(lambda: "MAIL hang" in worker.sink.handler.commands, "the relay hangs")
    worker.send(signal.SIGTERM)
    assert worker.process.wait(10) == 0
    assert worker.events("worker_stopped")


def test_a_killed_worker_holds_back_one_email_and_the_others_leave_when_one_is_back(worker, table):
    """On SQLite at once; on PostgreSQL, where the killed one might live elsewhere, when its lease is over."""
    worker.sink.does("hang")
    games = [table("sun-bid", 2, pace="10m") for _ in range(5)]
    until(lambda: "MAIL hang" in worker.sink.handler.commands, "the relay hangs")
    worker.kill()

    def waiting():
        with worker.server.store.read() as tx:
            return outbox.queue_length(tx, "queued")[0]

    assert waiting() > 5
    if not worker.server.store.on_sqlite:
        worker.set(worker.clock.now() + LEASE)
    worker.start()
    until(lambda: waiting() == 0, "everything leaves")
    assert all(worker.deadline(game, seat).due_at for game in games for seat in game.asked())
