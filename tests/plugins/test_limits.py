"""A game that loops, hoards, dies or lies ends its call and its child, and the next call starts afresh."""

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from engine.chance import Stream
from engine.table import begin
from pbem.domain.errors import Unplayable
from pbem.plugins import foreign as foreign_games
from pbem.plugins.foreign import at_table, foreign, take_faults
from pbem.plugins.process import MOST_VISITS, Failed, Limits, Process
from tests.plugins import broken
from tests.waiting import PATIENCE, until

SEED = bytes(32)
LIMITS = Limits(seconds=0.2, megabytes=200, starting=1, patience=5)
WORK_ALONE = replace(LIMITS, patience=PATIENCE / LIMITS.seconds)
"""Whatever else the machine does, only work ends a call."""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """started(source) -> the lanterns of a source, in a child with tight limits, asked for table 7."""
    processes = []

    def start(source, limits=WORK_ALONE):
        monkeypatch.syspath_prepend(str(tmp_path))
        (tmp_path / "lanterns.py").write_text(source)
        processes.append(Process("lanterns", limits))
        return foreign("lanterns", processes[-1]).at(7)

    yield start
    for each in processes:
        each.end()
    take_faults()
    foreign_games.forgive(7)


def play_on(game):
    """Everything that is ever asked of a game, until it fails."""
    table = begin(game, 2, SEED)
    game.teller(None).tell(table.told(-1)[0])
    table.position.asks()
    while asked := table.asks():
        seat = next(each for each in asked if each not in table.position.box)
        game.board(table.view(seat), seat)
        game.standing(table.position.state)
        table = table.submit(seat, asked[seat].default)
        for fact in table.told(seat):
            game.teller(seat).tell(fact)


WAYS = [
    pytest.param(broken.FOR_EVER, WORK_ALONE, "took more than 0.2 seconds of work", id="loops"),
    pytest.param(broken.GREEDY, WORK_ALONE, "needed more than 200 megabytes of memory", id="hoards"),
    pytest.param(broken.GONE, WORK_ALONE, r"ended its process (status 3)", id="ends"),
    pytest.param(broken.KILLED, WORK_ALONE, r"ended its process (status -9)", id="is killed"),
    pytest.param(broken.ASLEEP, LIMITS, "“resolve” didn't answer for 1 seconds", id="sleeps"),
    pytest.param(broken.RAISES, WORK_ALONE, "raised ZeroDivisionError (lanterns.py, line ", id="raises"),
    pytest.param(broken.LEAVES, WORK_ALONE, "raised SystemExit (lanterns.py, line ", id="leaves"),
]


@pytest.mark.parametrize("place", ["resolve", "asks", "apply", "board", "setup", "start", "standing", "sentence"])
def test_a_game_that_loops_anywhere_fails_at_its_table(started, place):
    game = started(broken.lanterns(place, broken.FOR_EVER))
    with pytest.raises(Unplayable, match="The rules of Lanterns failed"):
        play_on(game)
    (fault,) = take_faults()
    assert (fault.game_id, fault.kind) == (7, "lanterns")
    assert "seconds of work" in fault.how


@pytest.mark.parametrize("what, limits, how", WAYS)
def test_the_server_learns_how_a_game_failed(started, what, limits, how):
    game = started(broken.lanterns("resolve", what), limits)
    with pytest.raises(Unplayable):
        play_on(game)
    (fault,) = take_faults()
    assert how in fault.how
    assert "red lantern" not in fault.how, "what an error says may name a hidden card"


@pytest.mark.parametrize("what, limits, how", WAYS)
def test_a_game_that_breaks_when_it_is_imported_is_not_there(started, what, limits, how):
    with pytest.raises(Failed):
        started(broken.lanterns("import", what), limits)
    assert not take_faults()


@pytest.mark.parametrize("noise", ["5", "[" * 100_000, '{"is":"Lamp"}', "\xff"])
def test_a_package_that_writes_into_everything_open_is_not_there(started, noise):
    data = len(noise).to_bytes(4, "big") + noise.encode("latin-1")
    everywhere = (
        f"for each in range(3, 4096):\n    try: __import__('os').write(each, {data!r})\n    except OSError: pass"
    )
    with pytest.raises(Failed):
        started(broken.lanterns("import", everywhere))


def test_output_of_a_game_is_discarded(started, capfd):
    shout = "print('x' * 100_000, flush=True); __import__('os').write(1, b'y'); __import__('sys').stdin.read()"
    play_on(started(broken.lanterns("resolve", shout)))
    out, err = capfd.readouterr()
    assert "xx" not in out + err


def test_after_a_fault_nothing_is_asked_for_that_table_and_others_play_on(started):
    game = started(broken.lanterns("board", "assert seat != 1"))
    table = begin(game, 2, SEED)
    with pytest.raises(Unplayable):
        game.board(table.view(1), 1)
    with pytest.raises(Unplayable):
        game.board(table.view(0), 0)
    assert len(take_faults()) == 1
    other = begin(game.at(8), 2, SEED)
    assert game.at(8).board(other.view(0), 0)
    foreign_games.forgive(7)
    assert game.board(table.view(0), 0)


def test_requests_wait_for_a_slow_game_a_few_at_a_time(started):
    game = started(broken.lanterns("board", "__import__('time').sleep(0.9)"), LIMITS)
    table = begin(game, 2, SEED)
    process = type(game)._kinds.process
    notices = []

    def visit():
        foreign_games.begin_visit()
        try:
            game.board(table.view(0), 0)
        except Unplayable as busy:
            notices.append(busy.what)
        finally:
            foreign_games.end_visit()

    visitors = [threading.Thread(target=visit) for _ in range(MOST_VISITS)]
    # One asks, and the others wait for it.
    with process._lock:
        for each in visitors:
            each.start()
        until(lambda: process._visits._value == 0, "all of them are there")
        visit()
        assert notices == ["Lanterns is slow to answer right now."]
        assert not take_faults(), "being slow stops no table"
    for each in visitors:
        each.join()


def test_all_that_one_request_asks_takes_no_longer_than_one_call_may(started):
    game = started(broken.lanterns("board", "__import__('time').sleep(0.25)"), replace(LIMITS, patience=10))
    table = begin(game, 2, SEED)

    def look():
        for _ in range(10):
            assert game.board(table.view(0), 0)

    foreign_games.begin_visit()
    with pytest.raises(Unplayable, match="slow to answer right now"):
        look()
    foreign_games.end_visit()
    assert not take_faults(), "being slow stops no table"
    look()


def test_a_server_that_stops_waits_for_no_bot_and_finds_no_fault_in_its_game(started):
    game = started(broken.LANTERNS)
    process, table = game._kinds.thinker, begin(game, 2, SEED)
    seat, decision = next(iter(table.asks().items()))
    assert process._child is not None
    os.kill(process._child.pid, signal.SIGSTOP)
    found = []

    def think():
        with pytest.raises(Unplayable) as busy:
            game.bot("random", table.view(seat), decision, Stream(SEED, 0))
        found.append(str(busy.value))

    thinking = threading.Thread(target=think)
    thinking.start()
    until(process._lock.locked, "it thinks")
    process.give_up()
    thinking.join()
    assert "slow to answer" in found[0]
    assert not take_faults()


def test_a_child_that_was_killed_between_two_calls_is_started_again(started):
    game = started(broken.LANTERNS)
    table = begin(game, 2, SEED)
    process = type(game)._kinds.process
    os.kill(process._child.pid, signal.SIGKILL)
    process._child.wait()
    assert game.asks(table.view(0), 0)
    assert not take_faults()


def test_a_child_ends_when_its_parent_is_gone(started):
    game = started(broken.LANTERNS)
    process = type(game)._kinds.process
    process._line.close()
    assert process._child.wait(timeout=20) is not None


def test_time_in_which_the_machine_does_other_things_is_no_fault_of_the_game(started):
    game = started(broken.LANTERNS)
    slow = Stream(SEED, 0)
    below = slow.below

    def after_a_while(bound):
        time.sleep(LIMITS.seconds / 4)
        return below(bound)

    slow.below = after_a_while
    state = game.start(2, {"vetoes": "one", "purse": 12})
    assert list(game.setup(state, slow))
    assert not take_faults()


def test_a_decision_that_nobody_could_count_fails_in_the_child(started):
    many = "return Decision(seat, say('?'), (Act('x', (Some('y', (Thing('a','a'),Thing('a','a')) * 40, 30),)),), Choice('x', (('a',)*30,)))"
    source = broken.lanterns("asks", many).replace("Act, Amount,", "Act, Amount, Some, Thing,")
    game = started(source)
    with pytest.raises(Unplayable):
        game.asks(game.start(2, {"vetoes": "one", "purse": 12}), 0)
    assert "seconds of work" in take_faults()[0].how


@pytest.mark.parametrize(
    "place, what",
    [
        ("asks", "return 7"),
        ("asks", "return Decision(seat, say('{nothing}'), (Act('x'),), Choice('x'))"),
        ("asks", "return Decision(seat, say('?'), (Act('x'),), Choice('y'))"),
        ("board", "return None"),
        ("board", "return Board(say('{nothing}'), say(''))"),
        ("standing", "return Standing((0.5, 1))"),
        ("start", "return 7"),
        ("resolve", "yield 7"),
        ("resolve", "yield Liked(0, object())"),
        ("setup", "draw.below(0)"),
        ("setup", "draw.below(True)"),
    ],
)
def test_an_invalid_answer_is_a_fault_and_never_reaches_a_page(started, place, what):
    game = started(broken.lanterns(place, what))
    with pytest.raises(Unplayable):
        play_on(game)
    assert len(take_faults()) == 1


def test_a_fault_outside_of_any_table_names_none(started):
    game = started(broken.lanterns("board", broken.RAISES))
    table = begin(game, 2, SEED)
    with pytest.raises(Unplayable):
        type(game)().board(table.view(0), 0)
    assert not take_faults()
    with at_table(7), pytest.raises(Unplayable):
        type(game)().board(table.view(0), 0)
    assert take_faults()[0].game_id == 7


def test_the_rules_know_no_luck_that_is_still_to_come(started):
    """The child is asked for the deal and draws what it needs, one by one; it never hears of the seed."""
    game = started(broken.LANTERNS)
    luck = Stream(SEED, 0)
    facts = list(game.setup(game.start(2, {"vetoes": "one", "purse": 12}), luck))
    assert len(luck.drawn) == len(facts) == 3
