"""The reliability of a player, for others who think of joining them.

A newcomer has none: few turns mean nothing. Rounded down, so that only a player who was never late has a hundred.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

PERIOD: Final = timedelta(days=365)
"""How far back turns and games count; older ones are forgiven."""

FEWEST_TURNS: Final = 20
"""The least number of turns for a percentage."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A player's counts: turns asked for, turns decided by the clock, games finished and games left."""

    turns: int = 0
    missed: int = 0
    finished: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Reliability:
    """A player's reliability: turns in time in percent (None for few turns), games finished and games left."""

    in_time: int | None
    finished: int
    left: int


def reliability(counts: Counts) -> Reliability:
    enough = counts.turns >= FEWEST_TURNS
    in_time = max(counts.turns - counts.missed, 0) * 100 // counts.turns if enough else None
    return Reliability(in_time, counts.finished, counts.left)
