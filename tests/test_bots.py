"""Bots in a child process: the same choices as here, at low priority, without the game's seed, and tried again after a failure."""

import os
import signal
from threading import Event

import pytest

from engine import registry
from engine.chance import bot_seed
from engine.table import begin
from pbem import bots, child_process

pytestmark = pytest.mark.slow

SEED = b"s" * 32


@pytest.fixture
def thinker():
    started = bots.Thinker()
    yield started
    started.close()


def turns(kind):
    """The first turn of the first seat that is asked, for each bot."""
    rules = registry.load(kind)
    table = begin(rules, rules.seats[0], SEED)
    for seat, decision in list(table.asks().items())[:1]:
        for bot in bots.BOTS:
            yield bots.BotTurn(bot, rules, table.view(seat), decision, bot_seed(SEED, table.position.turn, seat))


@pytest.mark.slice(2 / 5)
@pytest.mark.parametrize("kind", registry.names())
def test_a_bot_chooses_the_same_in_a_process_of_its_own(thinker, kind):
    for turn in turns(kind):
        assert thinker(turn) == bots.think_here(turn)


def child_of(thinker):
    return thinker._child._process.pid


def test_bots_think_at_low_priority(thinker):
    thinker(next(turns("bid")))
    assert os.getpriority(os.PRIO_PROCESS, child_of(thinker)) == os.getpriority(os.PRIO_PROCESS, 0) + bots.NICENESS


def test_a_killed_process_is_replaced(thinker):
    turn = next(turns("bid"))
    thinker(turn)
    os.kill(child_of(thinker), signal.SIGSTOP)
    os.kill(child_of(thinker), signal.SIGKILL)
    thinker._child._process.wait()
    assert thinker(turn) == bots.think_here(turn)


def test_a_process_that_ends_while_it_thinks_is_a_failure_and_the_next_turn_is_played(thinker):
    turn = next(turns("bid"))
    with pytest.raises(child_process.Failed):
        thinker(turn._replace(bot="nobody"))
    assert thinker(turn) == bots.think_here(turn)


def test_the_process_is_told_neither_the_games_seed_nor_another_hand(monkeypatch):
    asked = []
    monkeypatch.setattr(child_process.Child, "ask", lambda _self, question: asked.append(question) or '"x"')
    monkeypatch.setattr(bots.codec, "loads", lambda _game, text: text)
    rules = registry.load("sunset-poker")
    table = begin(rules, 3, SEED)
    seat, decision = next(iter(table.asks().items()))
    turn = bots.BotTurn("greedy", rules, table.view(seat), decision, bot_seed(SEED, table.position.turn, seat))
    bots.Thinker()(turn)
    (question,) = asked
    assert SEED.hex() not in str(question)
    assert bots.codec.dumps(table.position.state) != question["view"]
    assert question["view"] == bots.codec.dumps(table.view(seat))


def test_a_worker_that_stops_waits_for_no_bot():
    stopping = Event()
    thinker = bots.Thinker(stopping)
    turn = next(turns("bid"))
    try:
        thinker(turn)
        os.kill(child_of(thinker), signal.SIGSTOP)
        stopping.set()
        with pytest.raises(child_process.Failed):
            thinker(turn)
    finally:
        thinker.close()


def test_a_child_that_answers_too_late_is_ended(tmp_path, monkeypatch):
    (tmp_path / "sleeper.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    child = child_process.Child("sleeper", 0.2)
    with pytest.raises(child_process.Failed, match="TimeoutError"):
        child.ask({})
    assert child._process is None
