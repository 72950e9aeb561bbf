"""A level: the numbers that say how a bot thinks."""

from __future__ import annotations

from engine.facts import fact


@fact
class Level:
    """How a bot thinks. It compares up to `choices` in each of some `worlds`, or in a search of some `iterations`.

    It plays on until `topics` such as auctions are over, at most for some `turns`. Raise its `version` when it would choose
    differently; a test holds it to that.
    """

    name: str
    version: int = 1
    worlds: int = 0
    choices: int = 0
    iterations: int = 0
    topics: int = 1
    turns: int = 12
    curiosity: float = 0.2
