"""Values as trees: their leaves, hidden or not, and copies with some leaves exchanged.

Facts, states and views are trees of dataclasses, tuples and mappings, and twins are made by walking them. This module
must never know what a leaf means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from engine.facts import Hidden, is_hidden

Atom = int | str


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers, texts and other simple values inside a value, however deep."""
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from leaves(getattr(value, each.name))
    elif isinstance(value, (tuple, frozenset)):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield key
            yield from leaves(part)
    else:
        yield value


def atoms(value: Any) -> Iterator[Atom]:
    """Yield the leaves that can be a card, a number or a place."""
    return (leaf for leaf in leaves(value) if type(leaf) is int or type(leaf) is str)


def hidden_in(value: Any) -> bool:
    """Whether anything in the value is hidden."""
    return any(map(is_hidden, leaves(value)))


def exchanged(value: Any, mapping: Mapping[Atom, Atom]) -> Any:
    """Return a tuple, number or text with some leaves exchanged for others."""
    if isinstance(value, tuple):
        return tuple(exchanged(part, mapping) for part in value)
    if type(value) is int or type(value) is str:
        return mapping.get(value, value)
    return value


def unfit(value: Any) -> Iterator[str]:
    """Yield the types of leaves that a state or fact may not contain."""
    for leaf in leaves(value):
        if leaf is not None and not isinstance(leaf, (bool, int, str, Hidden)):
            yield type(leaf).__name__


def inside(change: Callable[[Any], Any], value: Any) -> Any:
    """Return the value with the first possible change to itself or a part of it, or None if no part can change."""
    if (changed := change(value)) is not None:
        return changed
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            if (changed := inside(change, part)) is not None:
                return (*value[:i], changed, *value[i + 1 :])
    return None
