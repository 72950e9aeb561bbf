"""Opponents worth playing: bots that look ahead, for any game, at three levels.

    choose(game, view, game.asks(view, seat), LEVELS["regular"], draw)

The same view, numbers, level and version give the same choice on every machine: budgets are counted, never timed.
"""

from __future__ import annotations

from engine.search.level import Level
from engine.search.levels import LEVELS, USUAL, choose

__all__ = ["LEVELS", "USUAL", "Level", "choose"]
