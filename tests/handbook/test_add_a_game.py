"""The handbook's game is a whole game: it passes the kit and can be played as the page says."""

import re
from pathlib import Path

import pytest

import pbem
from engine import testing
from engine.__main__ import main
from engine.registry import load_file

pytestmark = pytest.mark.slow

PAGE = Path(pbem.__file__).parent / "handbook" / "add-a-game.md"


@pytest.fixture
def module(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / "fish_market.py"
    path.write_text(code)
    return path


def test_the_handbooks_game_keeps_every_law(module):
    assert testing.check(load_file(module), report=lambda _line: None) == []


def test_the_handbooks_game_is_played_and_checked_by_the_commands_it_names(module, capsys):
    assert main(["watch", str(module), "--seats", "3", "--seed", "1"]) == 0
    assert "The market is over." in capsys.readouterr().out
    assert main(["check", str(module)]) == 0


def test_a_broken_game_does_not_pass(module, capsys):
    minted = module.read_text().replace("state.coins[self.seat] - self.price", "state.coins[self.seat]")
    assert minted != module.read_text()
    module.write_text(minted)
    assert main(["check", str(module)]) == 1
    assert "coins" in capsys.readouterr().out
