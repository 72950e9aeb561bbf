"""The coach in a child process: the same review as here, at low priority, and given up once the server stops."""

import os
from threading import Event, Timer

import pytest

from engine.bots import random_bot
from engine.chance import Stream
from engine.registry import load
from engine.table import begin
from pbem import child_process, coach

SEED = b"s" * 32


def task(auctions=1):
    """A short game of Bid! between random bots."""
    game, luck = load("bid"), Stream(b"coach", 1)
    table = begin(game, 3, SEED, {"max_auctions": auctions})
    while asks := table.asks():
        seat = next(seat for seat in asks if seat not in table.position.box)
        table = table.submit(seat, random_bot(game, table.view(seat), asks[seat], luck))
    turns = tuple(enumerate(table.log))
    return coach.ReviewTask(game, 3, table.options, turns, 0, tuple(range(len(turns))), SEED)


@pytest.fixture
def stopping():
    return Event()


@pytest.fixture
def child(stopping):
    started = coach.Coach(stopping)
    yield started
    started.close()


def test_a_review_is_the_same_in_a_process_of_its_own(child):
    made = child(task())
    assert made == coach.review_here(task())
    assert made.decisions
    assert coach.read(coach.write(made)) == made
    process = child._child._process.pid
    assert os.getpriority(os.PRIO_PROCESS, process) == os.getpriority(os.PRIO_PROCESS, 0) + coach.NICENESS


def test_a_server_that_stops_waits_for_no_review(child, stopping):
    Timer(0.5, stopping.set).start()
    with pytest.raises(child_process.Failed):
        child(task(100))
    assert child._child._process is None


def test_a_review_that_can_not_be_made_is_a_failure_and_the_next_one_is_made(child):
    with pytest.raises(child_process.Failed):
        child(task()._replace(turns=((0, "no entry"),)))
    assert child(task()).decisions
