"""Halving: choices are compared together, and the worse half is dropped again and again, so the best get the most games."""

from __future__ import annotations

from collections.abc import Callable

from engine.decisions import Choice


def best_of(
    choices: list[Choice],
    iterations: int,
    compare: Callable[[list[Choice]], None],
    worth: Callable[[Choice], float],
    beside: int = 0,
) -> Choice:
    """Return the choice that did best in about this many iterations.

    `compare` tries each of some choices once more, in the same world, and takes some iterations `beside` those. `worth` tells how
    well a choice has done so far.
    """
    left, halvings = list(choices), max(1, (len(choices) - 1).bit_length())
    while len(left) > 1:
        for _ in range(max(1, iterations // halvings // (len(left) + beside))):
            compare(left)
        left.sort(key=worth, reverse=True)
        left = left[: (len(left) + 1) // 2]
    return left[0]
