"""A level: the numbers that say how a bot thinks."""

from __future__ import annotations

from engine.facts import fact


@fact
class Level:
    """How a bot thinks. It tries `choices` in each of some `worlds`, or searches for some `iterations` if there are any.

    It plays on by quick choices until `topics` such as auctions are over, at most for some `turns`.
    """

    name: str
    worlds: int = 0
    choices: int = 0
    iterations: int = 0
    topics: int = 1
    turns: int = 12
    curiosity: float = 0.2
