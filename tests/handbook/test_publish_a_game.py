"""What the handbook says of publishing a game is what our toy package does; test_wheels.py installs and plays it."""

import re
import tomllib
from pathlib import Path

import pytest

import pbem
from engine import testing
from engine.installed import GROUP, LONGEST_NAME
from engine.registry import load_file

HANDBOOK = Path(pbem.__file__).parent / "handbook"
PAGE = (HANDBOOK / "publish-a-game.md").read_text()
TOY = Path(__file__).parents[1] / "engine" / "toys" / "published"


def test_the_files_on_the_page_are_those_of_the_package_that_is_tested():
    (project,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert project == (TOY / "pyproject.toml").read_text()
    (game,) = re.findall(r"```python\n(.*?)```", (HANDBOOK / "add-a-game.md").read_text(), re.DOTALL)
    assert game == (TOY / "fish_market.py").read_text()
    listed = re.search(r"    fish-market/\n((?:        .+\n)+)", PAGE)[1].split()
    assert sorted(listed) == sorted(each.name for each in TOY.iterdir() if each.is_file())


@pytest.mark.slow
def test_the_packages_game_keeps_every_law():
    assert testing.check(load_file(TOY / "fish_market.py"), report=lambda _line: None) == []


def test_the_page_names_the_group_and_the_limits_that_are_in_force():
    points = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]["entry-points"]
    assert list(points) == [GROUP]
    assert f"`{GROUP}`" in PAGE
    assert f"{LONGEST_NAME} characters at most" in PAGE
