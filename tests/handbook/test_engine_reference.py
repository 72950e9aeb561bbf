"""The reference page of the engine is what the docstrings say today, and holds every name that a game needs."""

import ast
import re
from pathlib import Path

import pbem
from engine.__main__ import main
from engine.game import modules_of
from engine.registry import load, names

HANDBOOK = Path(pbem.__file__).parent / "handbook"
PAGE = (HANDBOOK / "engine-reference.md").read_text()
GUIDE = (HANDBOOK / "add-a-game.md").read_text()

DESCRIBED = set(re.findall(r"^(?:#### (?:class )?|- )`(\w+)", PAGE, re.MULTILINE))


def test_the_page_is_what_the_docstrings_say(capsys):
    assert main(["reference"]) == 0
    assert capsys.readouterr().out == PAGE, "make reference"


def test_every_name_that_our_games_use_is_on_the_page_or_in_the_guide():
    used = {name for game in names() for module in modules_of(load(game)) for name in names_in(Path(module.__file__))}
    assert len(used) > 40
    assert {name for name in used - DESCRIBED if not re.search(rf"\b{name}\b", GUIDE)} == set()


def names_in(path):
    """What a module of a game takes from the engine."""
    tree = ast.parse(path.read_text())
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    modules = {alias.name for node in imported if node.module in ("engine", "engine.decks") for alias in node.names}
    yield from (
        alias.name
        for node in imported
        if node.module.startswith("engine.") and node.module != "engine.decks"
        for alias in node.names
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.attr


def test_every_class_and_function_on_the_page_is_described():
    entries = re.split(r"^#### ", PAGE, flags=re.MULTILINE)[1:]
    bare = [entry.splitlines()[0] for entry in entries if not entry.partition("\n")[2].split("\n#")[0].strip()]
    assert [entry for entry in bare if "class" in entry or "(" in entry.partition("=")[0]] == []


def test_every_method_a_game_can_write_is_described():
    from engine.game import Game

    own = {name for name in vars(Game) if not name.startswith("_")}
    assert own <= DESCRIBED
