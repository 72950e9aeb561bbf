"""Some of many items, evenly chosen, for what has no room for all."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def evenly(items: Sequence[T], most: int) -> Sequence[T]:
    """At most `most` of the items, evenly chosen, the first and the last among them."""
    last = len(items) - 1
    return items if last < most else [items[round(last * place / (most - 1))] for place in range(most)]
