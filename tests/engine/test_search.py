"""The bots: they play by what their seat sees, do the same everywhere, and come close to solved games."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from engine.bots import random_bot
from engine.chance import Stream
from engine.facts import SPECTATOR
from engine.game import Game
from engine.registry import load, names
from engine.search import LEVELS, choose
from engine.search.course import Course, Luck
from engine.search.playout import Horizon, Worlds, play_on, quick_choice
from engine.search.search import Search
from engine.table import begin
from engine.tell import UNNAMED
from tests.engine import bots_digest, solved

pytestmark = pytest.mark.slow

SECRETIVE = [name for name in names() if load(name).hidden != UNNAMED]
LEVELS_HERE = {**LEVELS, "expert": replace(LEVELS["expert"], iterations=12)}


def tables(name, many, seats=None):
    """Tables at some points of a game between random bots."""
    game = load(name)
    table, luck = begin(game, seats or game.seats[0], b"t" * 32), Stream(b"tables", 1)
    for number in range(many):
        asks = [seat for seat in table.position.open() if seat not in table.position.box]
        if not asks:
            return
        yield table, asks[number % len(asks)]
        for seat in asks:
            # Random rerolls, sales and bids beyond anyone's means would end most games before they begin.
            choice = quick_choice(game, table.view(seat), game.asks(table.view(seat), seat), luck)
            before = table.position.turn
            table = table.submit(seat, choice)
            if table.position.turn > before:
                break


@pytest.mark.parametrize("level", LEVELS_HERE.values(), ids=LEVELS_HERE)
@pytest.mark.parametrize("name", SECRETIVE)
def test_two_worlds_that_a_seat_cannot_tell_apart_get_the_same_choice(name, level):
    game = load(name)
    for table, seat in list(tables(name, 30))[:: 9 if level.iterations else 3]:
        view = table.view(seat)
        twins = [game.mask(game.imagine(view, seat, Stream(b"twins", number)), seat) for number in range(3)]
        assert twins[0] == twins[1] == twins[2]
        decisions = [game.asks(twin, seat) for twin in twins]
        choices = {
            choose(game, twin, decision, level, Stream(b"x", 1))
            for twin, decision in zip(twins, decisions, strict=True)
        }
        assert len(choices) == 1
        assert choices.pop() in game.asks(view, seat)


@pytest.mark.parametrize("name", SECRETIVE)
def test_a_mask_hides_what_the_view_hides_and_nothing_else(name):
    game = load(name)
    for table, _seat in tables(name, 60):
        for seat in (*range(table.position.seats), SPECTATOR):
            masked, view = game.mask(table.position.state, seat), table.view(seat)
            # A view of Sunset Poker also remembers which cards it was dealt; no bot asks for that.
            assert replace(masked, **_deck(view)) == view


def _deck(view):
    return {"deck": view.deck} if hasattr(view, "packs") else {}


@pytest.mark.parametrize("name", names())
def test_a_quick_choice_is_possible_and_plays_by_nothing_hidden(name):
    game = load(name)
    for table, seat in tables(name, 120):
        decision = game.asks(table.view(seat), seat)
        quick = quick_choice(game, table.view(seat), decision, Luck(7))
        assert quick in decision
        assert quick_choice(game, table.position.state, decision, Luck(7)) == quick


@pytest.mark.parametrize("name", names())
def test_a_bot_makes_the_same_choice_twice(name):
    game = load(name)
    for table, seat in list(tables(name, 24))[::8]:
        decision = game.asks(table.view(seat), seat)
        for level in LEVELS_HERE.values():
            first = choose(game, table.view(seat), decision, level, Stream(b"x", 1))
            assert choose(game, table.view(seat), decision, level, Stream(b"x", 1)) == first
            assert first in decision


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_each_version_of_the_bots_chooses_the_same_in_every_process(hash_seed):
    found = subprocess.run(
        [sys.executable, "-m", "tests.engine.bots_digest"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == json.loads(bots_digest.FILE.read_text())


@pytest.mark.parametrize("name", names())
def test_a_course_goes_as_a_table_does(name):
    game = load(name)
    for seats in range(game.seats[0], game.seats[1] + 1):
        table, luck = begin(game, seats, b"c" * 32), Stream(b"course", seats)
        first = table.position
        course = Course(game, seats, first.state, lambda entry, first=first: Stream(first.seed, first.turn + entry))
        for _ in range(80):
            opened = table.position.open()
            assert course.opened == opened
            if not opened:
                break
            known, box = len(table.log), {}
            for seat, decision in opened.items():
                box[seat] = random_bot(game, table.view(seat), decision, luck)
                table = table.submit(seat, box[seat])
                if len(table.log) > known:
                    box = {seat: box[seat]} if box[seat].verb in decision.closes else box
                    break
            happened = tuple(each for entry in table.log[known:] for each in entry.facts)
            assert course.go(box) == happened
            assert course.state == table.position.state


@pytest.mark.parametrize(
    ("slug", "options", "stops_at"),
    [("sunset-poker", {"max_rounds": 3}, "round 2"), ("sorcerous-futures", {}, "auction 2"), ("templari", {}, None)],
)
def test_an_expert_thinks_to_the_end_of_a_topic_that_is_played_for_itself_or_to_the_end_of_the_game(
    slug, options, stops_at
):
    game, luck = load(slug), Luck(1)
    table = begin(game, 3, b"horizon!" * 4, options)
    course = Course(game, 3, table.position.state, lambda _turn: luck)
    topic = next(iter(course.asks.values())).topic
    play_on(course, luck, Horizon(game, topic, LEVELS["expert"]))
    assert {decision.topic for decision in course.asks.values()} == ({stops_at} if stops_at else set())


def test_worlds_come_as_often_as_they_are_plausible():
    class Numbers(Game):
        """A game whose truths are 0, 1, 2 and so on, each one weight more plausible than the one before."""

        def imagine(self, view, seat, draw):
            return next(view)

        def plausible(self, state, seat):
            return 1 + state

    worlds = Worlds(Numbers(), count(), 0, Luck(1), 4)
    found = Counter(worlds.draw() for _ in range(1000))
    assert sorted(found) == [0, 1, 2, 3]
    assert all(abs(found[number] - 100 * (1 + number)) < 50 for number in found)


def test_nobody_in_the_tree_plays_by_a_hidden_card():
    """With a King the searcher should bet, and a Queen that knew it would never call."""
    kuhn = solved.KUHN
    kind = type(kuhn.start(2, {}))
    view = kind(("King", solved.HIDDEN), ("Jack", "Queen"), ())
    search = Search(kuhn, view, kuhn.asks(view, 0), Stream(b"x", 1), LEVELS["expert"])
    search.run(800)
    calls = [
        sum(visits for choice, visits in zip(node.choices, node.visits, strict=True) if choice.verb == "call")
        / node.total
        for key, node in search._nodes.items()
        if len(key) == 3 and key[0] == 1 and key[2].cards[1] == "Queen" and node.total > 30
        if node.choices[0].verb in ("call", "fold")
    ]
    assert calls
    assert min(calls) > 0.25


@pytest.mark.slow
def test_the_search_comes_close_to_perfect_kuhn_poker():
    random = dict.fromkeys(solved.kuhn_by_search(1, 1), 0.5)
    assert solved.kuhn_exploitability(random) > 0.45
    assert solved.kuhn_exploitability(solved.kuhn_by_search(100, 24)) < 0.12


@pytest.mark.slow
def test_no_answer_to_the_search_gains_much_in_a_sealed_auction():
    own, best, worth = solved.envelopes_gains(solved.envelopes_by_search(1000, 3))
    assert abs(own) < 1e-9
    assert best < 0.1 * worth
