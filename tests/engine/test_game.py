"""Finding games: ours by walking the package, others by their files."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from engine import codec
from engine.decisions import Refused
from engine.game import facts_of
from engine.registry import load, load_file, names
from engine.table import begin
from engine.testing.elsewhere import digest, find, where_is

TOY = Path(__file__).parent / "toys" / "thieves.py"


def test_games_are_found_by_walking_the_package():
    assert len(names()) > 1
    assert all(load(name).slug == name for name in names())


def test_an_unknown_game_is_refused_with_a_list_of_games():
    with pytest.raises(Refused, match=rf"There's no game called “chess”.*{names()[-1]}"):
        load("chess")


def test_a_file_loaded_twice_is_two_separate_games():
    one, other = load_file(TOY), load_file(TOY)
    assert one.slug == other.slug == "thieves"
    for each in (one, other):
        table = begin(each, 2, bytes(32))
        assert codec.loads(each, codec.dumps(table.log[0])) == table.log[0]
        assert type(table.log[0].facts[0]) in facts_of(each).values()


@pytest.fixture
def package(tmp_path):
    """The toy as a package, with its state and facts in a second module."""
    text = TOY.read_text()
    head, rest = text[: text.index("@fact")], text[text.index("def without") :]
    folder = tmp_path / "robbers"
    folder.mkdir()
    (folder / "facts.py").write_text(text[: text.index("class Thieves")])
    (folder / "__init__.py").write_text(f"{head}from .facts import *\n\n\n{rest}")
    return folder


def test_a_game_may_be_a_package_of_several_modules(package):
    game = load_file(package)
    assert (game.slug, game.rules) == ("robbers", load_file(TOY).rules)
    assert set(facts_of(game)) == set(facts_of(load_file(TOY)))
    table = begin(game, 2, bytes(32))
    assert codec.loads(game, codec.dumps(table.log[0])) == table.log[0]
    assert find(where_is(game)).slug == "robbers"
    assert digest(game) == digest(find(where_is(game)))


def test_two_modules_of_a_game_that_define_the_same_name_are_refused(package):
    (package / "more.py").write_text((package / "facts.py").read_text())
    home = package / "__init__.py"
    home.write_text(home.read_text() + "\nfrom . import more\n")
    with pytest.raises(TypeError, match=r"robbers\.more and .*robbers\.facts both define \w+: rename one"):
        facts_of(load_file(package))


def test_a_file_named_like_a_library_does_not_replace_it(tmp_path):
    path = tmp_path / "random.py"
    path.write_text(TOY.read_text())
    assert load_file(path).slug == "random"
    assert sys.modules["random"] is random


@pytest.mark.parametrize("text", ["", TOY.read_text() + "\n\nclass Robbers(Thieves):\n    pass\n"], ids=["none", "two"])
def test_a_module_without_exactly_one_game_is_refused(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(Refused, match="must define one game"):
        load_file(path)
