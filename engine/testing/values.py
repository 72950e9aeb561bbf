"""What stands inside a value: its leaves, what is hidden in it, and the same value with some leaves exchanged.

Facts, states and views are trees of dataclasses, tuples and mappings; the twins are made by walking them. This module
must never know what a leaf means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from engine.facts import Hidden, is_hidden

Atom = int | str


def leaves(value: Any) -> Iterator[Any]:
    """The numbers, texts and other simple things in a value, however deep."""
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
    """The leaves that can stand for a card, a number or a place."""
    return (leaf for leaf in leaves(value) if type(leaf) is int or type(leaf) is str)


def hidden_in(value: Any) -> bool:
    """Whether anything in the value is hidden."""
    return any(map(is_hidden, leaves(value)))


def exchanged(value: Any, mapping: Mapping[Atom, Atom]) -> Any:
    """A tuple, number or text with some of its leaves exchanged for others."""
    if isinstance(value, tuple):
        return tuple(exchanged(part, mapping) for part in value)
    if type(value) is int or type(value) is str:
        return mapping.get(value, value)
    return value


def unfit(value: Any) -> Iterator[str]:
    """The names of kinds of things that may not stand in a state or a fact."""
    for leaf in leaves(value):
        if leaf is not None and not isinstance(leaf, (bool, int, str, Hidden)):
            yield type(leaf).__name__


def inside(change: Callable[[Any], Any], value: Any) -> Any:
    """The value after a change to it, or the first one of its parts for which the change gives anything; else None."""
    if (changed := change(value)) is not None:
        return changed
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            if (changed := inside(change, part)) is not None:
                return (*value[:i], changed, *value[i + 1 :])
    return None
