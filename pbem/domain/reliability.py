"""How reliable a player has been: what others at a table would like to know before they join, and nothing else.

A share of few turns says nothing, so a newcomer has none, neither a good one nor a bad one. A share is rounded down: only
who was never late is at a hundred.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

LOOKED_BACK: Final = timedelta(days=365)
"""What was longer ago is forgotten, the games with the silences."""

ENOUGH: Final = 20
"""So many turns make a share of them worth telling."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is to count: turns that were asked, those that the clock decided, games played to the end and left."""

    turns: int = 0
    missed: int = 0
    finished: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Reliability:
    """What is told of it: the share of turns in time, in percent, if there were enough of them."""

    in_time: int | None
    finished: int
    left: int


def reliability(counts: Counts) -> Reliability:
    """What the counts say of a player."""
    told = counts.turns >= ENOUGH
    in_time = max(counts.turns - counts.missed, 0) * 100 // counts.turns if told else None
    return Reliability(in_time, counts.finished, counts.left)
