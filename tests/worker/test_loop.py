"""The loop of a worker: a failing tick stops no other, and a started tick is finished."""

import threading
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from pbem import metrics
from pbem.service.clocks.outages import Worker
from pbem.service.people import addresses
from pbem.service.play import views
from pbem.store import heartbeats, views as kept_views
from pbem.worker import ticks
from pbem.worker.loop import Loop
from pbem.worker.ticks import TICKS, WorkerContext
from tests.service.database import all_rows
from tests.waiting import until

OFTEN = {tick.name: 0.01 for tick in TICKS}


@pytest.fixture(autouse=True)
def events():
    with capture_logs() as logged:
        yield logged


@pytest.fixture
def context(server, clock):
    return WorkerContext(server, Worker("first", clock.now()), lambda _: 0)


def test_a_failing_tick_is_logged_and_repeated_and_stops_no_other(context, events, table):
    game = table("sunset-poker", 4, bots=("random",) * 3)
    person = next(player.seat for player in game.players().values() if player.person_id is not None)
    tries = []

    def fails(_server):
        tries.append(1)
        raise RuntimeError("the post has a bad day")

    context.send = fails
    loop = Loop(context, OFTEN)
    loop.start()
    until(lambda: len(tries) > 3, "it is tried again")
    until(lambda: set(game.asked()) <= {person}, "the bots move")
    loop.stop()
    assert {line["tick"] for line in events if line["event"] == "tick_failed"} == {"deliver"}


def test_a_stopped_loop_finishes_running_ticks_and_starts_no_more(context):
    begun, go_on, done = threading.Event(), threading.Event(), []

    def slow(_server):
        begun.set()
        assert go_on.wait(60)
        done.append(1)
        return 1

    context.send = slow
    loop = Loop(context, OFTEN)
    loop.start()
    assert begun.wait(60)
    stopping = threading.Thread(target=loop.stop)
    stopping.start()
    until(context.stopping.is_set, "the loop begins to stop")
    assert done == []
    go_on.set()
    stopping.join(60)
    assert done == [1]


@pytest.mark.slow
def test_a_tick_never_runs_twice_at_once(context):
    running, most, count, lock = 0, 0, 0, threading.Lock()

    def beats():
        return metrics.REGISTRY.get_sample_value("pbem_tick_seconds_count", {"tick": "beat"})

    def watched(_server):
        nonlocal running, most, count
        with lock:
            running += 1
            most, count = max(most, running), count + 1
        # It takes so long that its own next time passes, like those of the others.
        enough = beats() + 3
        until(lambda: beats() >= enough or context.stopping.is_set(), "the worker beats again")
        with lock:
            running -= 1
        return 0

    context.send = watched
    loop = Loop(context, OFTEN)
    loop.start()
    until(lambda: count > 5, "the tick comes again")
    loop.stop()
    assert most == 1


def test_the_first_heartbeat_is_written_before_any_other_tick(context, server):
    loop = Loop(context)
    loop.start()
    loop.stop()
    with server.store.read() as tx:
        assert heartbeats.newest(tx) == server.now()


def test_one_worker_cleans_up_once_a_day(server, clock, events):
    contexts = [WorkerContext(server, Worker(name, clock.now()), lambda _: 0) for name in ("one", "two", "three")]
    for context in contexts:
        ticks.beat(context)
        ticks.clean_up(context)
    assert [line["event"] for line in events].count("day_begun") == 1


def test_a_worker_forgets_strangers_once_a_day(context, server, clock):
    server.run(addresses.register, "stranger@example.net")
    with server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE outbox SET status = 'sent'")
    clock.advance(timedelta(days=4))
    ticks.beat(context)
    ticks.clean_up(context)
    assert all_rows(server.store)["person"] == []


def test_a_worker_stores_the_views_of_games_that_moved_on(context, server, table):
    game = table("sunset-poker", 3)
    while game.row().seq < views.SAVE_EVERY:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    {tick.name: tick.do for tick in TICKS}["views"](context)
    with server.store.read() as tx:
        assert {each.seat for each in kept_views.of_game(tx, game.id)} == {-1, 0, 1, 2}


def test_an_unknown_tick_is_refused(context):
    with pytest.raises(ValueError, match="unknown ticks"):
        Loop(context, {"naps": 1})
