"""Rulings: deliberate changes of what a version of the rules offers, shows or scores in games that are being played.

A ruling says that one part of a version changes after all, and why. The same choices still lead to the same facts:
anything else takes a new version (`Game.RULES`).

"""

from __future__ import annotations

from enum import StrEnum

from engine.facts import fact


class Part(StrEnum):
    """A part of what players get from a table."""

    OFFERS = "offers"
    """What each seat may choose, and its default."""
    VIEWS = "views"
    """What each seat and the spectator know."""
    SCORES = "scores"
    """The scores and the ranking."""


@fact
class Ruling:
    """A change of some parts of one version of the rules, and the reason for it."""

    version: int
    changes: frozenset[Part]
    why: str


def allowed(rulings: tuple[Ruling, ...], version: int, known: int = 0) -> frozenset[Part]:
    """Return the parts of a version that all but the first `known` rulings change.

    >>> late = Ruling(1, frozenset({Part.SCORES}), "A tie was counted twice.")
    >>> sorted(allowed((late,), version=1)), sorted(allowed((late,), version=2)), sorted(allowed((late,), 1, known=1))
    ([<Part.SCORES: 'scores'>], [], [])
    """
    return frozenset(part for ruling in rulings[known:] if ruling.version == version for part in ruling.changes)
