"""A level: the numbers that say how a bot thinks."""

from __future__ import annotations

from engine.facts import fact


@fact
class Level:
    """How a bot thinks. It compares up to `choices` in each of some `worlds`, or in a search of some `iterations`.

    It plays on by quick choices until `topics` such as auctions are over, at most for some `turns`.
    """

    name: str
    worlds: int = 0
    choices: int = 0
    iterations: int = 0
    topics: int = 1
    turns: int = 12
    curiosity: float = 0.2
