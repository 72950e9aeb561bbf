"""Where a trouble comes from: the file and line of a function, a kind of fact, or the place that raised an error.

This module must never run a game.
"""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path
from typing import Any

from engine.game import Game, kinds_of, modules_of


def line_of(game: Game[Any], name: str) -> str:
    """Where a game defines one of its methods, or one of its facts and values; empty if it does not define it.

    >>> from engine.registry import load, names
    >>> line_of(load(names()[0]), "board").endswith("(board)")
    True
    """
    kind = kinds_of(game).get(name)
    if kind is not None:
        lines, first = inspect.getsourcelines(kind)
        return _at(inspect.getfile(kind), first + _decorators(lines), name)
    method = getattr(type(game), name, None)
    if not inspect.isfunction(method) or method.__module__ == Game.__module__:
        return ""
    return _at(method.__code__.co_filename, method.__code__.co_firstlineno, name)


def line_of_game(game: Game[Any]) -> str:
    """Where a game's class begins."""
    lines, first = inspect.getsourcelines(type(game))
    return _at(inspect.getfile(type(game)), first + _decorators(lines), type(game).__name__)


def raised_at(game: Game[Any], error: BaseException) -> str:
    """The last line of a game's own code that an error passed through; empty if it never was in it."""
    files = {module.__file__ for module in modules_of(game)}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return _at(frames[-1].filename, frames[-1].lineno or 0, frames[-1].name) if frames else ""


def _at(file: str, line: int, name: str) -> str:
    path = Path(file)
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line} ({name})"


def _decorators(lines: list[str]) -> int:
    return next(i for i, line in enumerate(lines) if line.lstrip().startswith("class "))
