"""Two web servers and three workers on one PostgreSQL, killed again and again at points with a name.

Every kill is a real SIGKILL. People play over HTTP by the links in their emails, often pressing twice and on both
servers at once. A test waits for what has to happen and never for a length of time.
"""

import os
from datetime import UTC, datetime, timedelta

import pytest

from engine import registry
from pbem.store import games, log
from tests.crash.town import STEP, Town, moves_in, post
from tests.mail.sink import Sink
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgresql, pytest.mark.timeout(7200)]

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MOVES = int(os.environ.get("PBEM_TEST_MOVES", "120"))
"""Acknowledged choices to reach; `make soak` asks for twenty thousand."""

LIVES = (15, 60 + MOVES // 20)
"""In a long run processes live longer, or starting them would take most of the time."""

MINUTE = timedelta(minutes=1)
TABLES = max(6, MOVES // 500)


@pytest.fixture
def town(database_url, sink, tmp_path, opened):
    """A server without processes."""
    with opened(Town(database_url, sink, tmp_path, START, LIVES)) as found:
        yield found


def play_until(town, enough):
    """Let people answer their emails while processes die and restart, until `enough` is reached."""
    read, stale = 0, 0
    while not enough():
        town.raise_the_dead()
        with town.server.store.read() as tx:
            playing = games.ids_with_status(tx, "playing")
        if len(playing) < TABLES:
            kinds = registry.names()
            kind = kinds[town.luck.randrange(len(kinds))]
            seats = registry.load(kind).seats[0]
            town.begin(kind, seats, town.luck.choice((0, 1, seats - 1)), "10m")
        emails = town.sink.emails[read:]
        read += len(emails)
        answered = sum(town.answer(email) for email in emails if town.luck.random() < 0.93)
        # Emails wait for a minute, and players who miss a turn for longer: time has to pass for both.
        town.passes(STEP)
        stale = 0 if answered else stale + 1
        until(lambda: beaten(town), "a worker beats")
        assert stale < 2000, "nobody is asked anything any more"


def beaten(town):
    """Whether every worker has seen the current time."""
    town.raise_the_dead()
    return town.workers_beat()


def test_no_move_mail_or_time_out_is_lost_or_doubled_while_processes_die(town):
    town.add("web", "store.committed", "store.committing")
    town.add("web", "store.committed")
    for _ in range(3):
        town.add("worker", "store.committed", "store.committing", "mail.handed_over")
    play_until(town, lambda: len(town.acknowledged) >= MOVES and town.deaths("mail.handed_over"))
    town.check()
    print(f"\n{len(town.acknowledged)} acknowledged, {dict(town.seen)}")
    assert town.deaths("store.committed")
    assert town.deaths("store.committing")


def test_a_web_server_killed_between_commit_and_answer_has_kept_the_move_once(town):
    web = town.add("web")
    town.add("worker")
    game_id = town.begin("sun-bid", 2, 0)
    town.passes(MINUTE)
    until(lambda: [email for email in town.sink.emails if "WHAT YOU CAN DO" in email.text], "the turn's mail arrives")
    email = next(email for email in town.sink.emails if "WHAT YOU CAN DO" in email.text)
    web.process.kill()
    web.process.wait()
    town.start(web, "store.committed", 1)
    with town.server.store.read() as tx:
        before = games.read(tx, game_id).seq
    town.answer(email)
    assert web.process.wait(60) == -9
    assert town.acknowledged == []
    with town.server.store.read() as tx:
        seq = games.read(tx, game_id).seq
    assert seq > before, "the move was committed"
    town.start(web)
    again = [path for path in moves_in(email) if post(int(web.last), path, {"press": "yes"}) == 303]
    with town.server.store.read() as tx:
        assert games.read(tx, game_id).seq == seq, "pressing again changes nothing"
    assert len(again) == 1, "only the choice that was made gets its receipt again"
    town.acknowledged.append((again[0].split("/")[2], again[0].split("/")[3]))
    town.check()


def test_a_relay_that_is_dead_for_two_hours_loses_no_emails_and_nobodys_time(town):
    # Nobody listens at its port yet.
    sink = town.sink = Sink()
    town.add("web")
    town.add("worker")
    game_id = town.begin("sun-bid", 2, 0, "10m")
    end = town.clock.now() + timedelta(hours=2)
    while town.clock.now() < end:
        town.passes(MINUTE)
        until(lambda: beaten(town), "the worker beats")
    assert sink.emails == []
    with town.server.store.read() as tx:
        assert all(row.by != "clock" for row in log.chain(tx, game_id, games.read(tx, game_id).key))

    def arrived():
        # A relay that was away is asked again at growing distances.
        town.passes(MINUTE)
        until(lambda: beaten(town), "the worker beats")
        return any("WHAT YOU CAN DO" in email.text for email in sink.emails)

    with sink:
        until(arrived, "the mails arrive")
        assert town.answer(next(email for email in sink.emails if "WHAT YOU CAN DO" in email.text))
    town.check()
    assert town.acknowledged
