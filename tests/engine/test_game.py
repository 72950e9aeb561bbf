"""Games are found: those of the house by walking the package, others by their files."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from engine import codec
from engine.decisions import Refused
from engine.game import facts_of, load, load_file, names
from engine.table import begin

TOY = Path(__file__).parent / "toys" / "thieves.py"


def test_the_games_of_the_house_are_found_by_walking_the_package():
    assert {"bid", "sun-bid", "templari"} <= set(names())
    assert all(load(name).slug == name for name in names())


def test_a_game_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(Refused, match=r"There is no game “chess”.*templari"):
        load("chess")


def test_a_file_loaded_twice_is_two_games_that_do_not_disturb_each_other():
    one, other = load_file(TOY), load_file(TOY)
    assert one.slug == other.slug == "thieves"
    for each in (one, other):
        table = begin(each, 2, bytes(32))
        assert codec.loads(each, codec.dumps(table.log[0])) == table.log[0]
        assert type(table.log[0].facts[0]) in facts_of(each).values()


def test_a_file_named_like_a_library_does_not_take_its_place(tmp_path):
    path = tmp_path / "random.py"
    path.write_text(TOY.read_text())
    assert load_file(path).slug == "random"
    assert sys.modules["random"] is random


@pytest.mark.parametrize("text", ["", TOY.read_text() + "\n\nclass Robbers(Thieves):\n    pass\n"], ids=["none", "two"])
def test_a_module_that_does_not_hold_one_game_is_refused(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(Refused, match="must define one game"):
        load_file(path)
