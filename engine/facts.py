"""What can happen at a table, and who may know of it.

A *fact* is something that happened, in the past tense: a frozen dataclass whose docstring is its sentence, whose fields
are its data, and whose `apply(state)` is the only thing that changes a table. Replay applies facts and asks nobody.

A *secret* is a field of a fact. `seen(fact, seat)` is the fact as that seat is told of it, and a seat's view is the fold
of what it was told. There is no other way to a view, so what is masked here cannot be known anywhere.

This module must never hand out a fact unmasked to a reader, and must never know a game.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Final, Generic, TypeGuard, TypeVar, cast, dataclass_transform

S = TypeVar("S")
T = TypeVar("T")

SPECTATOR: Final = -1
"""The reader who sits nowhere: told only what is public."""


class Hidden:
    """Stands where the reader may not look. It has no order, no length and no sum: rules that peek crash, not leak."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HIDDEN"

    def __reduce__(self) -> str:
        return "HIDDEN"

    def __bool__(self) -> bool:
        raise TypeError("what is hidden is neither true nor false")


HIDDEN: Final = Hidden()


def is_hidden(value: object) -> TypeGuard[Hidden]:
    """Whether the reader may not look at this value."""
    return value is HIDDEN


def secret(*readers: str) -> Any:
    """A field told only to the seats named in the fields `readers` of the same fact (its `seat` if none is given)."""
    return field(metadata={"readers": readers or ("seat",)})


@dataclass_transform(frozen_default=True, field_specifiers=(field, secret))
def fact(cls: type[T]) -> type[T]:
    """A plain frozen value: facts, states, decisions, choices and boards are all made of these."""
    return dataclass(frozen=True, slots=True)(cls)


class Fact(Generic[S]):
    """Something that happened. The docstring of a subclass is its sentence; a `silent` one is told to nobody in words."""

    __slots__ = ()
    silent: ClassVar[bool] = False

    def apply(self, state: S) -> S:
        """The state after this happened. Works on the whole truth and on any reader's view of it alike."""
        raise NotImplementedError


F = TypeVar("F", bound=Fact[Any])


@cache
def secrets_of(kind: type) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The secret fields of a kind of fact, each with the fields that name its readers."""
    return tuple(
        (f.name, cast("tuple[str, ...]", f.metadata["readers"])) for f in fields(kind) if "readers" in f.metadata
    )


def seen(happened: F, seat: int) -> F:
    """The fact as `seat` is told of it. A hidden tuple keeps its length: how many cards somebody holds is public."""
    kind: type = type(happened)
    blanks: dict[str, Any] = {}
    for name, readers in secrets_of(kind):
        if not any(_reads(seat, getattr(happened, reader)) for reader in readers):
            value = getattr(happened, name)
            blanks[name] = (HIDDEN,) * len(value) if isinstance(value, tuple) else HIDDEN
    return cast("F", replace(cast(Any, happened), **blanks)) if blanks else happened


def fold(state: S, happened: Iterable[Fact[S]]) -> S:
    """The state after all of these happened, in this order."""
    for each in happened:
        state = each.apply(state)
    return state


def put(items: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """The same tuple with another value at one place."""
    return (*items[:place], value, *items[place + 1 :])


def take(hand: tuple[T, ...], card: T) -> tuple[T, ...]:
    """The hand without one card.

    If the reader may not know which card went, she no longer knows any of the rest: had she been able to name some of
    them, one of those might be the one that is gone.
    """
    if is_hidden(card):
        return cast("tuple[T, ...]", (HIDDEN,) * (len(hand) - 1))
    place = next((i for i, held in enumerate(hand) if held == card), None)
    if place is None:
        place = next(i for i, held in enumerate(hand) if is_hidden(held))
    return hand[:place] + hand[place + 1 :]


def _reads(seat: int, named: int | tuple[int, ...]) -> bool:
    return seat in named if isinstance(named, tuple) else seat == named
