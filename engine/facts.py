"""Facts: what happens at a table, and who may know it.

A *fact* is something that happened: a frozen dataclass whose docstring is its sentence, and whose `apply(state)` is the
only thing that changes a table. A *secret* is a field of a fact. `seen(fact, seat)` is the fact as that seat learns it, and
a seat's view is the fold of all facts as it has seen them.


This module must never give a reader an unmasked fact, and must never know a game.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, fields
from functools import cache
from typing import Any, ClassVar, Final, Generic, TypeGuard, TypeVar, cast, dataclass_transform

from engine.records import record, replace

S = TypeVar("S")
T = TypeVar("T")

SPECTATOR: Final = -1
"""The reader without a seat."""


class Hidden:
    """The type of HIDDEN. It has no order, length or sum, so rules that peek fail instead of leaking."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HIDDEN"

    def __reduce__(self) -> str:
        return "HIDDEN"

    def __bool__(self) -> bool:
        raise TypeError("a hidden value is neither true nor false")


HIDDEN: Final = Hidden()
"""Stands for a value that the reader may not see."""


def is_hidden(value: object) -> TypeGuard[Hidden]:
    """Whether this value is hidden from the reader.

    >>> hand = ("Forest", HIDDEN)
    >>> [card for card in hand if not is_hidden(card)]
    ['Forest']
    """
    return value is HIDDEN


def secret(*readers: str) -> Any:
    """A field that only some seats may read: those named in the given fields of the same fact, or its `seat`."""
    return field(metadata={"readers": readers or ("seat",)})


@dataclass_transform(frozen_default=True, field_specifiers=(field, secret))
def fact(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass with slots: facts, states, decisions, choices and boards are all of this kind."""
    return record(cls)


@fact
class Step:
    """What a fact does in an auction.

    `bids` are seats with what they bid, `adds` seats with something that isn't compared, such as what they got in exchange.
    Nothing in a step may be secret.

    """

    opens: bool = False
    bids: tuple[tuple[int, Any], ...] = ()
    passes: tuple[int, ...] = ()
    adds: tuple[tuple[int, Any], ...] = ()
    ends: bool = False
    winner: int | None = None


class Fact(Generic[S]):
    """Something that happened. The docstring of a subclass is its sentence; a `silent` fact is not put into words."""

    __slots__ = ()
    silent: ClassVar[bool] = False

    def step(self) -> Step | None:
        """Return what this fact does in an auction, or None."""
        return None

    def apply(self, state: S) -> S:
        """Return the state after this fact, from the whole truth or any reader's view."""
        raise NotImplementedError


F = TypeVar("F", bound=Fact[Any])


@cache
def secrets_of(kind: type) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the secret fields of a kind of fact, each with the fields that name its readers."""
    return tuple(
        (f.name, cast("tuple[str, ...]", f.metadata["readers"])) for f in fields(kind) if "readers" in f.metadata
    )


def seen(happened: F, seat: int) -> F:
    """Return the fact as a seat learns it, with HIDDEN for what it may not read.

    A hidden tuple keeps its length.

    >>> @fact
    ... class Dealt(Fact[None]):
    ...     seat: int
    ...     cards: tuple[str, ...] = secret()
    >>> dealt = Dealt(0, ("Forest", "Sea"))
    >>> seen(dealt, 0).cards
    ('Forest', 'Sea')
    >>> seen(dealt, 1).cards
    (HIDDEN, HIDDEN)
    """
    kind: type = type(happened)
    blanks: dict[str, Any] = {}
    for name, readers in secrets_of(kind):
        if not any(_reads(seat, getattr(happened, reader)) for reader in readers):
            value = getattr(happened, name)
            blanks[name] = (HIDDEN,) * len(value) if isinstance(value, tuple) else HIDDEN
    return cast("F", replace(cast(Any, happened), **blanks)) if blanks else happened


def fold(state: S, happened: Iterable[Fact[S]]) -> S:
    """Return the state after these facts, applied in order."""
    for each in happened:
        state = each.apply(state)
    return state


def put(items: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return the tuple with the value at one place replaced."""
    return (*items[:place], value, *items[place + 1 :])


def take(hand: tuple[T, ...], card: T) -> tuple[T, ...]:
    """Return the hand without one card.

    If the card is hidden from the reader, the whole hand becomes hidden: any card might be the one that is gone.


    >>> take(("Forest", HIDDEN), "Sea")
    ('Forest',)
    >>> take(("Forest", "Sea"), HIDDEN)
    (HIDDEN,)
    """
    if is_hidden(card):
        return cast("tuple[T, ...]", (HIDDEN,) * (len(hand) - 1))
    place = hand.index(card) if card in hand else next(i for i, held in enumerate(hand) if is_hidden(held))
    return hand[:place] + hand[place + 1 :]


def _reads(seat: int, named: int | tuple[int, ...]) -> bool:
    return seat in named if isinstance(named, tuple) else seat == named
