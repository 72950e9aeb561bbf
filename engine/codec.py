"""Facts, states, views and choices as canonical JSON, and back.

Every value of the engine is a tagged object with its fields: `{"coins":5,"is":"Bid","seat":1}`. Canonical means one text
for one value: sorted names, no blanks.

When a class gains or changes a field, its `older` lists functions, oldest first, that convert data of each earlier shape to
the next:


    @fact
    class Sold(Fact[State]):
        older = (with_a_price,)        # shape 1 -> shape 2, the present one

This module must never guess: it raises Malformed for data that does not fit.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any, Final, get_args, get_origin, get_type_hints

from engine import decisions, orders, table, tell
from engine.facts import HIDDEN, is_hidden
from engine.game import Game, kinds_of

Kinds = dict[str, type]

_TAG: Final = "is"
_SHAPE: Final = "shape"
_HIDDEN: Final = "HIDDEN"


class Malformed(ValueError):
    """Raised for text that this game cannot have written."""


class OtherShape(Malformed):
    """Raised for a value whose class is gone, or had other fields when it was written and has no function in `older` for them."""


def dumps(value: Any) -> str:
    """Return the value as canonical JSON."""
    return _ENCODER.encode(value)


def plain(value: Any) -> Any:
    """Return the value as plain lists, numbers, texts and dictionaries."""
    return json.loads(dumps(value))


def loads(game: Game[Any], text: str) -> Any:
    """Return the value that `dumps` wrote. Raises Malformed if there is none, or OtherShape if only another release could have."""
    try:
        return _decoder(game).decode(text)
    except OtherShape as error:
        raise OtherShape(f"this is not a record of this game: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise Malformed(f"this is not a record of this game: {error}") from error


def tells_truth_from_numbers(value: Any) -> bool:
    """Return whether true and false are where a value has them, and nowhere else: they equal 1 and 0, but are other records.

    >>> tells_truth_from_numbers({0: decisions.Choice("bid", (1,))})
    True
    >>> tells_truth_from_numbers({0: decisions.Choice("bid", (True,))})
    False
    """
    if isinstance(value, Mapping):
        return all(map(tells_truth_from_numbers, (*value, *value.values())))
    if isinstance(value, tuple | list | frozenset):
        return all(map(tells_truth_from_numbers, value))
    if is_dataclass(value) and not isinstance(value, type):
        truths, others = _truths(type(value))
        return all(is_hidden(part) or type(part) is bool for part in (getattr(value, name) for name in truths)) and all(
            tells_truth_from_numbers(getattr(value, name)) for name in others
        )
    return type(value) is not bool


def decoder(kinds: Kinds) -> json.JSONDecoder:
    """Return a decoder of canonical JSON with values of these kinds. It refuses fractions."""
    return json.JSONDecoder(object_hook=partial(_object, dict(kinds)), parse_float=_no_fraction)


def as_data(value: object) -> Any:
    """Return a value as its fields and its name. Raises TypeError if it is no value of the engine."""
    return _plain(value)


@cache
def _decoder(game: Game[Any]) -> json.JSONDecoder:
    # Records of a game may contain what its modules define, and what every game has.
    return json.JSONDecoder(object_hook=partial(_object, kinds_of(game) | _EVERYWHERE))


def _no_fraction(text: str) -> Any:
    raise Malformed(f"{text} is no whole number")


def _plain(value: object) -> Any:
    """Convert a value that JSON does not know. Tuples, numbers and texts never come here."""
    if is_hidden(value):
        return {_TAG: _HIDDEN}
    if isinstance(value, frozenset):
        return sorted(value)
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} cannot be stored in a log")
    kind: type = type(value)
    tag, names, mappings = _writing(kind)
    data = {name: getattr(value, name) for name in names} | tag
    for name in mappings:
        data[name] = sorted(data[name].items())
    return data


def _object(kinds: Kinds, data: dict[str, Any]) -> Any:
    tag = data.pop(_TAG, None)
    if tag is None:
        return data
    if tag == _HIDDEN:
        return HIDDEN
    if (kind := kinds.get(tag)) is None:
        raise OtherShape(f"there is no {tag} here")
    older: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = getattr(kind, "older", ())
    if older:
        for bring_up in older[data.pop(_SHAPE, 1) - 1 :]:
            data = bring_up(data)
    try:
        for name, convert in _reading(kind):
            if data[name] is not None and not is_hidden(data[name]):
                data[name] = convert(data[name])
        return kind(**data)
    except (KeyError, TypeError):
        if data.keys() != {each.name for each in fields(kind)}:
            raise OtherShape(f"{tag} had other fields when this was written") from None
        raise


@cache
def _writing(kind: type) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Return the tag of a class, the names of its fields, and which of them are mappings."""
    older = getattr(kind, "older", ())
    tag = {_TAG: kind.__name__} | ({_SHAPE: len(older) + 1} if older else {})
    names = tuple(f.name for f in fields(kind))
    hints = get_type_hints(kind)
    return tag, names, tuple(name for name in names if get_origin(hints[name]) in (dict, Mapping))


@cache
def _truths(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields of a class that are true or false, and those that cannot be."""
    hints = get_type_hints(kind)
    names = [f.name for f in fields(kind)]
    others = tuple(name for name in names if hints[name] not in _ANYTHING and "bool" not in str(hints[name]))
    return tuple(name for name in names if hints[name] is bool), others


@cache
def _reading(kind: type) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Return the fields of a class that JSON returns as another type, with functions that convert them."""
    hints = get_type_hints(kind)
    found = ((f.name, _conversion(hints[f.name])) for f in fields(kind))
    return tuple((name, convert) for name, convert in found if convert is not None)


def _conversion(hint: Any) -> Callable[[Any], Any] | None:
    origin = get_origin(hint)
    if origin is tuple:
        return tuple if all(get_origin(part) is None for part in get_args(hint)) else _tuples
    if origin is frozenset:
        return frozenset
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Mapping):
        return _mapping
    if any(part is not None and _conversion(part) for part in get_args(hint)) or hint is Any:
        return _tuples
    return None


def _tuples(value: Any) -> Any:
    """Convert every list to a tuple, however deep."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _mapping(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    return {key: _tuples(value) for key, value in pairs}


_ANYTHING: Final = (Any, frozenset[Any], dict[Any, Any])
"""Types of fields that say nothing about what is in them."""

_EVERYWHERE: Final[Kinds] = {kind.__name__: kind for kind in (decisions.Choice, table.Entry, tell.Text, *orders.KINDS)}

_ENCODER: Final = json.JSONEncoder(
    default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
