"""A game in progress, drawn on the front page: the same moment for everyone, played again from its seed and its moves."""

from dataclasses import replace
from functools import cache
from typing import Final

from engine import grammar, registry
from engine.facts import SPECTATOR
from engine.table import deal
from pbem.i18n import speech
from pbem.web.seat.board import PageBoard, draw

KIND: Final = "templari"

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan")

_SEED: Final = bytes([10]) * 32

MOVES: Final = [
    "bid 1",
    "bid 3",
    "bid 5",
    "pass",
    "pass",
    "pass",
    "bid 3",
    "pass",
    "pass",
    "bid 4",
    "bid 5",
    "pass",
    "no",
    "bid 2",
    "pass",
    "pass",
    "bid 3",
    "pass",
    "bid 2",
    "bid 3",
    "bid 5",
    "pass",
    "pass",
    "pass",
    "bid 1",
    "bid 2",
    "pass",
    "pass",
    "bid 6",
    "pass",
    "no",
    "bid 2",
    "pass",
    "bid 6",
    "pass",
    "pass",
    "bid 2",
    "bid 3",
    "bid 7",
    "pass",
]
"""Everyone's moves, one after the other."""


def board() -> PageBoard:
    """The table at the end of these moves, as a spectator sees it."""
    return _drawn(speech.language())


@cache
def _drawn(_language: object) -> PageBoard:
    rules = registry.load(KIND)
    position, _entries = deal(rules, len(NAMES), _SEED, rules.settle(len(NAMES), {}))
    for move in MOVES:
        seat, decision = next(iter(position.open().items()))
        position, _entries = position.submit(seat, grammar.read(decision, move))
    table = replace(rules.board(position.state, SPECTATOR), folds=())
    return draw(table, speech.teller(rules, None, NAMES), None, tuple(position.open()))
