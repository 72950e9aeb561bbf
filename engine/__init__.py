"""The rules engine: facts, views, decisions, chance, and the games.

It needs only the standard library. Nothing in it reads a clock, a file, the network or global randomness, and no state
holds a floating-point number, so the same log gives the same table on every machine and in any year.
"""

from typing import Final

__version__: Final = "1.0"
"""What games of other packages are made for. The first number rises when a game that could be played may be none any
more, the second when something is added."""
