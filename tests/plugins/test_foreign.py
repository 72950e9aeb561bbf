"""A game in a child process is the same game: what is logged, seen, told and asked, byte for byte."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine import bots, codec, orders, registry
from engine.chance import Stream
from engine.decisions import Refused
from engine.facts import SPECTATOR, fold, seen
from engine.registry import load, load_file
from engine.table import begin, replay
from pbem.plugins.away import loads
from pbem.plugins.foreign import Foreign, foreign
from pbem.plugins.process import Limits, Process

TOYS = Path(__file__).parents[1] / "engine" / "toys"
SEED = bytes(32)


@pytest.fixture
def in_child(monkeypatch):
    """in_child(name, folder) -> the game of a module as a server plays it; its child ends with the test."""
    processes = []

    def started(name, folder=None):
        if folder is not None:
            monkeypatch.syspath_prepend(str(folder))
        place = name.replace("-", "_") if folder else f"engine.games.{name.replace('-', '_')}"
        processes.append(Process(place, Limits()))
        return foreign(name, processes[-1])

    yield started
    for each in processes:
        each.end()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted(registry.own_names()), "lanterns", "caravans", "thieves"])
def test_a_whole_game_in_a_child_is_the_same_byte_for_byte(name, in_child):
    toy = TOYS / f"{name}.py"
    own = load_file(toy) if toy.exists() else load(name)
    other = in_child(name, TOYS if toy.exists() else None)
    assert (other.title, other.seats, other.options, other.rules) == (own.title, own.seats, own.options, own.rules)
    assert (other.cover, other.short, other.demo) == (own.cover, own.short, own.demo)
    luck = Stream(SEED, 2**40)
    here, there = begin(own, own.seats[1], SEED), begin(other, own.seats[1], SEED)
    # A hundred entries of the longest game show as much as all.
    while (asked := here.asks()) and len(here.log) < 100:
        assert there.asks() == asked
        seat = next(each for each in asked if each not in here.position.box)
        _looks_the_same(here, there, seat)
        choice = bots.random_bot(own, here.view(seat), asked[seat], luck)
        assert other.objects(there.view(seat), seat, choice) is None
        here, there = here.submit(seat, choice), there.submit(seat, choice)
        assert codec.dumps(there.log[-1:]) == codec.dumps(here.log[-1:])
        assert codec.dumps(there.views) == codec.dumps(here.views)
    assert other.standing(there.position.state) == own.standing(here.position.state)
    log = codec.loads(other, codec.dumps(there.log))
    for reader in (None, 0, SPECTATOR):
        again = replay(other, own.seats[1], there.options, log, reader)
        assert codec.dumps(again) == codec.dumps(replay(own, own.seats[1], here.options, here.log, reader))


def _looks_the_same(here, there, seat):
    own, other, since = here.position.game, there.position.game, len(here.log) - 1
    for reader in (seat, SPECTATOR):
        view = there.view(reader)
        assert other.board(view, reader) == own.board(here.view(reader), reader)
        sentences = [other.teller(reader, ("Ann", "Ben")).tell(each) for each in there.told(reader, since)]
        assert sentences == [own.teller(reader, ("Ann", "Ben")).tell(each) for each in here.told(reader, since)]
    assert other.barred(there.view(seat), seat) == own.barred(here.view(seat), seat)


def test_a_list_of_orders_is_stored_and_answers_the_same(in_child):
    own, other = load("templari"), in_child("templari")
    here, there = begin(own, 3, SEED), begin(other, 3, SEED)
    (seat,) = here.asks()
    several = orders.read_order(
        "up to 9 if seat 2 is out; up to 4 if high bid at most 3; always pass", here.asks()[seat]
    )
    assert loads(other, codec.dumps(several)) == several
    answer = orders.answer(several, other, there.view(seat), seat)
    assert answer == orders.answer(several, own, here.view(seat), seat)
    assert loads(other, codec.dumps(answer.note)) == answer.note
    assert answer.choice is not None


def test_a_bot_thinks_in_the_child_and_chooses_the_same(in_child):
    own, other = load("bid"), in_child("bid")
    here, there = begin(own, 3, SEED), begin(other, 3, SEED)
    decision = here.asks()[0]
    expected = bots.greedy(own, here.view(0), decision, Stream(SEED, 9))
    assert other.bot("greedy", there.view(0), decision, Stream(SEED, 9)) == expected


@pytest.mark.slow
def test_a_long_fold_is_one_question(in_child, monkeypatch):
    other = in_child("bid")
    table = begin(other, 3, SEED)
    while asked := table.asks():
        seat, decision = next((s, d) for s, d in asked.items() if s not in table.position.box)
        table = table.submit(seat, decision.default)
    known = codec.dumps(table.view(1))
    asked_for = []
    ask = Process.ask
    monkeypatch.setattr(Process, "ask", lambda self, do, *more: asked_for.append(do) or ask(self, do, *more))
    start = other.start(3, table.options)
    view = fold(start, (seen(each, 1) for entry in table.log for each in entry.facts))
    assert asked_for == ["start"]
    assert codec.dumps(view) == known
    assert asked_for == ["start", "fold"]


def test_options_that_do_not_exist_are_refused_in_the_games_own_words(in_child):
    with pytest.raises(Refused, match="is for 3 or 4 players"):
        in_child("bid").settle(9, {})


def test_this_process_never_imports_the_game(tmp_path):
    """In a process of its own, because this one has imported the toys for other tests."""
    program = f"""
import sys
sys.path.append({str(TOYS)!r})
from engine.table import begin
from pbem.plugins.away import loads
from pbem.plugins.foreign import foreign
from pbem.plugins.process import Limits, Process
process = Process("lanterns", Limits())
table = begin(foreign("lanterns", process), 2, bytes(32))
assert table.asks()
assert "lanterns" not in sys.modules
process.end()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env={"PYTHONPATH": ":".join(sys.path)})


def test_the_child_is_told_nothing_of_our_environment(tmp_path, monkeypatch, in_child):
    monkeypatch.setenv("PBEM_KEYS", "the keys of everything")
    source = (TOYS / "lanterns.py").read_text()
    leak = "import os\nTITLE = repr(sorted(os.environ))\n"
    (tmp_path / "lanterns.py").write_text(
        source.replace("from collections import Counter", leak + "from collections import Counter").replace(
            'title = "Lanterns"', "title = TITLE"
        )
    )
    assert "PBEM" not in in_child("lanterns", tmp_path).title


def test_a_record_of_an_older_shape_is_brought_up_by_the_child(tmp_path, in_child):
    source = (TOYS / "lanterns.py").read_text()
    older = (
        "def _with_a_price(data):\n    return {'price': data.pop('cost'), **data}\n\n\n"
        '@fact\nclass Sold(Fact[State]):\n    """The bids are'
    )
    assert source.count('@fact\nclass Sold(Fact[State]):\n    """The bids are') == 1
    source = source.replace('@fact\nclass Sold(Fact[State]):\n    """The bids are', older)
    source = source.replace(
        "    bids: tuple[int, ...]\n", "    older = (_with_a_price,)\n    bids: tuple[int, ...]\n", 1
    )
    (tmp_path / "lanterns.py").write_text(source)
    other = in_child("lanterns", tmp_path)
    sold = codec.loads(other, '{"bids":[2,3],"cost":3,"is":"Sold","seat":1}')
    assert (sold.price, sold.bids) == (3, (2, 3))
    assert codec.dumps(sold) == '{"bids":[2,3],"is":"Sold","price":3,"seat":1,"shape":2}'


def test_the_same_game_at_two_tables_is_one_game(in_child):
    other = in_child("bid")
    assert other.at(1) == other.at(2) == other
    assert len({other, other.at(1), other.at(2)}) == 1
    assert isinstance(other.at(1), Foreign)
