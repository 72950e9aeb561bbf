"""Records: frozen dataclasses with slots that are made, and changed into others, quickly.

A game makes a few for every fact and decision, and bots imagine millions. `replace(one, **changes)` is
`dataclasses.replace`, but faster. Records stay dataclasses in every other way. This module must never let one change after it was made.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

__all__ = ["record", "replace"]

T = TypeVar("T")

# `dataclasses` goes through `object.__setattr__` for every field of a frozen class. Here a record is filled while it is of a
# twin class with the same slots, which isn't frozen, and becomes one of its own class in the end. Nobody else ever sees it as
# the twin.

if TYPE_CHECKING:
    # A type checker knows which fields this one takes.
    from dataclasses import replace
else:

    def replace(one, /, **changes):
        """Return a record like this one with some fields changed, as `dataclasses.replace` does, but faster. Takes any dataclass."""
        quick = getattr(one, "__replace__", None)
        return quick(**changes) if quick else dataclasses.replace(one, **changes)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass with slots. A class with a `__post_init__` or a field of an unusual kind is made slower."""
    made = dataclass(frozen=True, slots=True)(cls)
    known = fields(cast(Any, made))
    plain = all(each.init and not each.kw_only and each.default_factory is MISSING for each in known)
    if known and plain and not hasattr(made, "__post_init__"):
        _quicken(made, known)
    else:
        cast(Any, made).__replace__ = dataclasses.replace
    return made


def _quicken(made: type, known: tuple[Field[Any], ...]) -> None:
    names = [each.name for each in known]
    filled = [each.name if each.default is MISSING else f"{each.name}=_default_{each.name}" for each in known]
    source = "\n".join(
        (
            f"def __init__(self, {', '.join(filled)}):",
            f"    if self.__class__ is not _made: return _init(self, {', '.join(names)})",
            "    _become(self, '__class__', _twin)",
            *(f"    self.{name} = {name}" for name in names),
            "    self.__class__ = _made",
            "def __replace__(self, /, **_changes):",
            "    if self.__class__ is not _made or not _changes.keys() <= _names: return _replaced(self, **_changes)",
            "    _other = _new(_twin)",
            *(f"    _other.{name} = self.{name}" for name in names),
            "    for _name, _value in _changes.items(): _set(_other, _name, _value)",
            "    _other.__class__ = _made",
            "    return _other",
        )
    )
    # A twin of a class that extends a record would be frozen too.
    open_slots = {"__slots__": made.__dict__["__slots__"], "__setattr__": object.__setattr__}
    scope: dict[str, Any] = {
        "_become": object.__setattr__,
        "_init": made.__dict__["__init__"],
        "_made": made,
        "_names": frozenset(names),
        "_new": object.__new__,
        "_replaced": dataclasses.replace,
        "_set": setattr,
        "_twin": type(made)(made.__name__, made.__bases__, open_slots),
        **{f"_default_{each.name}": each.default for each in known},
    }
    exec(compile(source, "<record>", "exec"), scope)  # noqa: S102 - the source is made of the names of fields, as `dataclasses` makes its own.
    for name in ("__init__", "__replace__"):
        scope[name].__qualname__ = f"{made.__qualname__}.{name}"
        scope[name].__module__ = made.__module__
        setattr(made, name, scope[name])
