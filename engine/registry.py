"""The games there are: how they're found by name, and loaded.

They are those in `engine.games`, those that other packages offer, and any in a file.
"""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from engine.decisions import Refused
from engine.game import Game
from engine.tell import say

_OFFERED: Final[dict[str, Callable[[], Game[Any]]]] = {}
"""The games of other packages, by name, and how each is had."""


def names() -> tuple[str, ...]:
    """Return the names of all games: those in `engine.games`, and those offered."""
    return tuple(sorted({*own_names(), *_OFFERED}))


@cache
def own_names() -> frozenset[str]:
    """Return the names of the games in `engine.games`."""
    package = importlib.import_module("engine.games")
    return frozenset(module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__))


def offer(name: str, had: Callable[[], Game[Any]]) -> None:
    """Add a game of another package to `names` and `load`, with the function that loads it."""
    assert name not in own_names()
    _OFFERED[name] = had


def withdraw(name: str) -> None:
    """Remove a game that was offered."""
    _OFFERED.pop(name, None)


def load(name: str) -> Game[Any]:
    """Return a game by its name. Raises Refused if it can't be loaded."""
    if name in own_names():
        return _own(name)
    if name not in _OFFERED:
        raise Refused(say("There's no game called “{name}”. Choose {names:or}.", name=name, names=names()))
    return _OFFERED[name]()


@cache
def _own(name: str) -> Game[Any]:
    return game_in(importlib.import_module(f"engine.games.{name.replace('-', '_')}"))


def load_file(path: Path) -> Game[Any]:
    """Return the game in a file, or in the folder of a package."""
    path = path / "__init__.py" if path.is_dir() else path
    package = [str(path.parent)] if path.name == "__init__.py" else None
    stem = path.parent.resolve().name if package else path.stem
    # A unique name: a file called random.py must not replace the library, nor a second load the first.
    name = next(name for i in count() if (name := f"outside.{i}.{stem}") not in sys.modules)
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=package)
    if spec is None or spec.loader is None:
        raise Refused(say("{path} is not a Python module.", path=str(path)))
    module = importlib.util.module_from_spec(spec)
    # Python looks up the first part of a name even for a relative import.
    sys.modules.setdefault("outside", ModuleType("outside"))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return game_in(module)


def game_in(module: ModuleType) -> Game[Any]:
    """Return the one game that a module defines. Raises Refused if there are none or several."""
    found = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Game) and kind.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise Refused(say("{module} must define one game, not {number}.", module=module.__name__, number=len(found)))
    game: Game[Any] = found[0]()
    return game
