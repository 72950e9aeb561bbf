"""The loop that wakes the worker: what fails is left behind, and nothing begun is left undone."""

import threading

import pytest
from structlog.testing import capture_logs

from pbem import metrics
from pbem.service.clocks.outages import Worker
from pbem.service.play import views
from pbem.store import heartbeats
from pbem.store import views as kept_views
from pbem.worker import ticks
from pbem.worker.loop import Loop
from pbem.worker.ticks import TICKS, Shift
from tests.waiting import until

OFTEN = {tick.name: 0.01 for tick in TICKS}


@pytest.fixture(autouse=True)
def events():
    with capture_logs() as said:
        yield said


@pytest.fixture
def shift(server, clock):
    return Shift(server, Worker("first", clock.now()), lambda _: 0)


def test_a_tick_that_fails_is_told_and_comes_again_and_stops_no_other(shift, events, table):
    game = table("sunset-poker", 4, bots=("random",) * 3)
    person = next(place.seat for place in game.places().values() if place.person_id is not None)
    tries = []

    def fails(_house):
        tries.append(1)
        raise RuntimeError("the post has a bad day")

    shift.send = fails
    loop = Loop(shift, OFTEN)
    loop.start()
    until(lambda: len(tries) > 3, "it is tried again")
    until(lambda: set(game.asked()) <= {person}, "the bots move")
    loop.stop()
    assert {line["tick"] for line in events if line["event"] == "tick_failed"} == {"deliver"}


def test_a_loop_that_stops_finishes_what_it_has_begun_and_begins_nothing_more(shift):
    begun, go_on, done = threading.Event(), threading.Event(), []

    def slow(_house):
        begun.set()
        assert go_on.wait(60)
        done.append(1)
        return 1

    shift.send = slow
    loop = Loop(shift, OFTEN)
    loop.start()
    assert begun.wait(60)
    stopping = threading.Thread(target=loop.stop)
    stopping.start()
    until(shift.stopping.is_set, "the loop begins to stop")
    assert done == []
    go_on.set()
    stopping.join(60)
    assert done == [1]


def test_a_tick_never_runs_twice_at_once(shift):
    running, most, count, lock = 0, 0, 0, threading.Lock()

    def beats():
        return metrics.COUNTED.get_sample_value("pbem_tick_seconds_count", {"tick": "beat"})

    def watched(_house):
        nonlocal running, most, count
        with lock:
            running += 1
            most, count = max(most, running), count + 1
        # It takes so long that its own time comes again, as that of the others does.
        enough = beats() + 3
        until(lambda: beats() >= enough or shift.stopping.is_set(), "the worker beats again")
        with lock:
            running -= 1
        return 0

    shift.send = watched
    loop = Loop(shift, OFTEN)
    loop.start()
    until(lambda: count > 5, "the tick comes again")
    loop.stop()
    assert most == 1


def test_the_first_beat_is_written_before_anything_else_happens(shift, server):
    loop = Loop(shift)
    loop.start()
    loop.stop()
    with server.store.read() as tx:
        assert heartbeats.last_beat(tx) == server.now()


def test_the_day_is_tidied_once_by_one_worker_of_all(server, clock, events):
    shifts = [Shift(server, Worker(name, clock.now()), lambda _: 0) for name in ("one", "two", "three")]
    for shift in shifts:
        ticks.beat(shift)
        ticks.daily(shift)
    assert [line["event"] for line in events].count("day_begun") == 1


def test_a_worker_keeps_what_everybody_knew_of_games_that_have_gone_on(shift, server, table):
    game = table("sunset-poker", 3)
    while game.row().seq < views.KEEP_AFTER:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    {tick.name: tick.do for tick in TICKS}["views"](shift)
    with server.store.read() as tx:
        assert {each.seat for each in kept_views.of_game(tx, game.id)} == {-1, 0, 1, 2}


def test_a_tick_that_does_not_exist_cannot_be_set(shift):
    with pytest.raises(ValueError, match="no ticks"):
        Loop(shift, {"naps": 1})
