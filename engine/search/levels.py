"""The levels of the bots: how far each looks ahead, and how it settles on a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.foresight import Foresight
from engine.search.level import Level
from engine.search.look_ahead import look_ahead
from engine.search.search import Search

LEVELS: Final[Mapping[str, Level]] = {
    level.name: level
    for level in (
        # One world and few choices: it sees what is near, and is often wrong about what others hold and do.
        Level("beginner", version=4, worlds=1, choices=4, turns=4),
        Level("regular", version=4, worlds=8, choices=10),
        # To the end of nearly every game, or of a topic if its end tells what it was worth.
        Level("expert", version=5, choices=10, iterations=160, topics=1000, turns=200),
    )
}


USUAL: Final = "regular"
"""The level of bots that nobody has chosen."""


def choose(game: Game[Any], view: Any, offers: Decision, level: Level, random: Draw) -> Choice:
    """Return a choice for the seat that has this view and is made these offers."""
    if offers.only() is not None:
        return offers.default
    if not level.iterations:
        return look_ahead(game, view, offers, level, random)
    # Where a game doesn't say what is sensible at first sight, nobody can look ahead, and the others have to learn.
    search = Search if type(game).quick is Game.quick else Foresight
    return search(game, view, offers, random, level).run(level.iterations)
