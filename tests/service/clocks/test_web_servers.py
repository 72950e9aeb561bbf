"""Web servers: while none is up, nobody runs out of time, although workers are fine and emails leave."""

import threading
from datetime import timedelta

import pytest

from pbem.ops import presence as presence_module
from pbem.ops.presence import presence
from pbem.service.clocks import outages, web_servers
from pbem.service.outgoing import deliver
from pbem.store import heartbeats, outages as outage_rows, web_servers as rows
from pbem.worker.ticks import WorkerContext, tell_organisers
from tests.service.actors import add_organiser
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.outgoing.test_deliver import post_to
from tests.waiting import PATIENCE, until

WEB = "web-1"


@pytest.fixture
def asked(table, time, server):
    """A game whose turn was emailed while a web server was up, and a seat that is asked."""
    game = table("sun-bid", 3)
    time.sends()
    server.run(web_servers.beat, WEB)
    return game, next(iter(game.asked()))


def stored(server):
    with server.store.read() as tx:
        return [(each.start_at, each.end_at) for each in outage_rows.newest(tx)]


def test_nobody_runs_out_of_time_while_no_web_server_is_up_and_everyone_gets_that_time_back(asked, server, time, clock):
    game, seat = asked
    due, down_at = time.due(game, seat), clock.now()
    time.passes_until(due + HOUR)
    assert "nobody can open a page" in time.held_back()
    assert time.runs_out().decided == 0
    outage = server.run(web_servers.beat, WEB)
    assert (outage.start, outage.end) == (down_at, clock.now())
    assert "an outage was found" in time.held_back()
    outages.apply_outages(server)
    assert time.due(game, seat) >= clock.now() + HOUR
    assert time.runs_out().decided == 0
    for _ in range(12):
        time.passes(MINUTE)
        assert server.run(web_servers.beat, WEB) is None
    assert time.held_back() is None


def test_a_restart_of_the_web_servers_stops_no_clock(asked, server, time):
    time.passes(4 * MINUTE)
    assert time.held_back() is None
    assert server.run(web_servers.beat, "web-2") is None
    assert stored(server) == []


def test_one_web_server_is_enough(asked, server, time):
    server.run(web_servers.beat, "web-2")
    for _ in range(20):
        time.passes(MINUTE)
        assert server.run(web_servers.beat, "web-2") is None
    assert time.held_back() is None


def test_a_server_whose_worker_was_away_as_well_finds_that_outage_once(asked, server, time, clock):
    down_at = clock.now()
    clock.advance(2 * HOUR)
    server.run(outages.beat, time.worker)
    assert server.run(web_servers.beat, WEB) is None
    assert stored(server) == [(down_at, clock.now())]


def test_only_the_rest_of_an_outage_is_added_to_one_that_is_known(asked, server, time, clock):
    down_at = clock.now()
    clock.advance(2 * HOUR)
    server.run(outages.beat, time.worker)
    back_at = clock.now()
    for _ in range(8):
        time.passes(MINUTE)
    outage = server.run(web_servers.beat, WEB)
    assert (outage.start, outage.end) == (back_at, clock.now())
    assert stored(server) == [(back_at, clock.now()), (down_at, back_at)]


def test_where_there_has_never_been_a_web_server_clocks_run(table, time):
    game = table("sun-bid", 3)
    time.sends()
    time.passes_until(time.due(game, next(iter(game.asked()))) + MINUTE)
    assert time.held_back() is None


@pytest.fixture
def alarms_by_email(server, time, sink):
    """alarms_by_email() -> the texts of the emails about web servers, after a look."""
    add_organiser(server, "Olga")

    def look():
        tell_organisers(WorkerContext(server, time.worker, lambda _server: 0))
        deliver.deliver(server, post_to(sink))
        return [each.text for each in sink.to("olga@example.org") if "NO PAGE CAN BE OPENED" in each.text]

    return look


def test_the_organisers_are_emailed_once_each_time_that_no_web_server_is_up(asked, server, time, alarms_by_email):
    time.passes(4 * MINUTE)
    assert alarms_by_email() == []
    for times in (1, 2):
        for _ in range(40):
            time.passes(MINUTE)
            found = alarms_by_email()
        assert len(found) == times
        assert "`pbem serve`" in found[-1]
        server.run(web_servers.beat, WEB)


def test_a_web_server_that_starts_after_its_worker_is_no_alarm(asked, server, time, clock, alarms_by_email):
    clock.advance(2 * HOUR)
    assert alarms_by_email() == [], "nobody knows yet whether a server was up"
    time.wakes()
    for _ in range(4):
        time.passes(MINUTE)
        assert alarms_by_email() == []
    server.run(web_servers.beat, WEB)
    for _ in range(20):
        time.passes(MINUTE)
        server.run(web_servers.beat, WEB)
        assert alarms_by_email() == []


def test_a_clock_that_jumps_by_a_year_is_no_outage_of_the_web_server(asked, server, clock):
    clock.advance(365 * DAY)
    assert server.run(web_servers.beat, WEB) is None
    assert stored(server) == []


def test_a_process_that_is_both_shows_both_with_one_heartbeat(server, time, clock):
    server.run(outages.beat, outages.Worker("both", clock.now(), serves=True))
    with server.store.read() as tx:
        assert rows.newest(tx) == heartbeats.newest(tx) == clock.now()


def test_a_web_server_that_is_gone_is_forgotten_but_for_the_newest_sign(asked, server, clock):
    clock.advance(timedelta(minutes=3))
    server.run(web_servers.beat, "web-2")
    with server.store.read() as tx:
        newest = rows.newest(tx)
    server.store.write(lambda tx: rows.forget_before(tx, clock.now() + DAY))
    with server.store.read() as tx:
        assert rows.newest(tx) == newest
    server.store.write(lambda tx: rows.record(tx, WEB, clock.now() + HOUR))
    server.store.write(lambda tx: rows.forget_before(tx, clock.now() + DAY))
    with server.store.read() as tx:
        assert rows.newest(tx) == clock.now() + HOUR


def test_a_web_server_without_a_worker_shows_that_it_is_up(server, clock):
    def newest():
        with server.store.read() as tx:
            return rows.newest(tx)

    assert newest() is None
    with presence(server):
        until(lambda: newest() == clock.now(), "the web server shows that it's up")


def test_a_web_server_ends_although_the_database_does_not_answer(server, monkeypatch):
    asked, answers = threading.Event(), threading.Event()

    def hangs(*_given):
        asked.set()
        answers.wait()

    monkeypatch.setattr(presence_module, "_PATIENCE", 0.01)
    monkeypatch.setattr(web_servers, "beat", hangs)
    with presence(server):
        assert asked.wait(PATIENCE)
    answers.set()
