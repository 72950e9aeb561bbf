"""A law about machines: a game is the same in a process with other hash values, time zone and language.

A game that depends on the order of a set, the time or the locale is a different game on another machine; here that shows
within a second. This module must never depend on what it tests: the other process knows only the plans.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import engine
from engine import codec
from engine.board import plain
from engine.game import Game
from engine.options import OptionValue
from engine.registry import load, load_file
from engine.testing.bench import NAMES, Bench, Playout, Trouble, play, readers
from engine.testing.plans import Plan, option_sets

_MOST: Final = 60
_SAMPLES: Final = 3

PLACES: Final = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
)
"""The environments of the other processes. Turkish has two kinds of i, and some time zones are off by half an hour."""


def is_the_same_elsewhere(bench: Bench) -> Iterator[Trouble]:
    """A plan gives the same log, states, views and boards in every process, byte for byte."""
    here = digest(bench.game, bench.thorough)
    for place in PLACES:
        there = _digest_in(bench.game, place, bench.thorough)
        if there != here:
            what = f"another process gave {there or 'nothing'}, not {here}"
            yield Trouble("is the same elsewhere", what, str(place), bench.line_of("resolve"))


def digest(game: Game[Any], thorough: bool = False) -> str:
    """Return a hash over a game of every number of players and set of options: the logs, and what every reader saw."""
    low, high = game.seats
    usual: list[tuple[int, dict[str, OptionValue]]] = [(seats, {}) for seats in range(low, high + 1)]
    total = hashlib.sha256()
    for seats, options in usual + option_sets(game, thorough):
        playout = play(game, Plan(seats, options, "any", most=_MOST))
        for text in _texts(game, playout):
            total.update(text.encode() + b"\n")
    return total.hexdigest()


def where_is(game: Game[Any]) -> str:
    """Return the name of one of our games, or the file of another game."""
    module = sys.modules[type(game).__module__]
    return game.slug if module.__name__.startswith("engine.games.") else str(module.__file__)


def find(where: str) -> Game[Any]:
    """Return the game that `where_is` named."""
    return load_file(Path(where)) if where.endswith(".py") else load(where)


def _texts(game: Game[Any], playout: Playout) -> Iterator[str]:
    yield playout.fault
    for at in playout.sample(_SAMPLES):
        table = playout.tables[at]
        yield codec.dumps((table.position.state, table.position.box, table.position.asks(), table.log, table.views))
        for reader in readers(playout.plan.seats):
            teller = game.teller(reader, NAMES)
            yield plain(game.board(table.view(reader), reader), teller)


def _digest_in(game: Game[Any], place: dict[str, str], thorough: bool) -> str:
    root = str(Path(engine.__file__).parent.parent)
    environment = {**os.environ, **place, "PYTHONPATH": os.pathsep.join((root, *filter(None, sys.path)))}
    done = subprocess.run(  # noqa: S603 - it is this package.
        [sys.executable, "-m", "engine.testing", "digest", where_is(game), *(["--thorough"] if thorough else [])],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1:][0] if done.stderr or done.stdout else ""
