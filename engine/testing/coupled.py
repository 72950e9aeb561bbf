"""The same chance in two worlds: if two cards are exchanged, they are also exchanged in what is drawn.

Two truths that differ in a secret must look the same to a reader when they are played on with the same choices and the
same chance. The same chance is not the same place in a sequence, because the sequence may have another order: a player
who draws the seven in one world draws, in the other, the card that it was exchanged for. This module must never draw a
number of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from engine.chance import Drawn, Stream
from engine.testing.values import Atom, exchanged

T = TypeVar("T")


class Remembered(Stream):
    """Chance that records what it gave."""

    def __init__(self, seed: bytes, entry: int) -> None:
        super().__init__(seed, entry)
        self.given: list[tuple[str, Any, tuple[Drawn, ...]]] = []

    def below(self, bound: int) -> int:
        number = super().below(bound)
        self.given.append(("below", number, ((bound, number),)))
        return number

    def pick(self, items: Sequence[T]) -> T:
        item = items[self._quietly(len(items))]
        self.given.append(("pick", item, (self.drawn[-1],)))
        return item

    def shuffle(self, items: Iterable[T]) -> list[T]:
        order = list(items)
        many = max(0, len(order) - 1)
        for i in range(len(order) - 1, 0, -1):
            j = self._quietly(i + 1)
            order[i], order[j] = order[j], order[i]
        self.given.append(("shuffle", tuple(order), tuple(self.drawn[len(self.drawn) - many :])))
        return order

    def _quietly(self, bound: int) -> int:
        return super().below(bound)


class OutOfStep(Exception):
    """Raised if the other world asks chance for something else."""


class Echo(Stream):
    """The chance of one world in the other: the same numbers, or the same things with two of them exchanged."""

    def __init__(self, remembered: Remembered, mapping: Mapping[Atom, Atom], by_place: bool) -> None:
        super().__init__(b"", 0)
        self._given = iter(remembered.given)
        self._mapping = mapping
        self._by_place = by_place

    def below(self, bound: int) -> int:
        number, _ = self._next("below")
        assert isinstance(number, int)
        if number >= bound:
            raise OutOfStep
        return number

    def pick(self, items: Sequence[T]) -> T:
        item, ((_, place),) = self._next("pick")
        if self._by_place:
            if place >= len(items):
                raise OutOfStep
            return items[place]
        expected = exchanged(item, self._mapping)
        found = next((each for each in items if each == expected), None)
        if found is None:
            raise OutOfStep
        return found

    def shuffle(self, items: Iterable[T]) -> list[T]:
        order = list(items)
        given, drawn = self._next("shuffle")
        if self._by_place:
            if len(drawn) != max(0, len(order) - 1):
                raise OutOfStep
            for i, (_, j) in zip(range(len(order) - 1, 0, -1), drawn, strict=True):
                order[i], order[j] = order[j], order[i]
            return order
        expected = [exchanged(item, self._mapping) for item in given]
        if Counter(expected) != Counter(order):
            raise OutOfStep
        return expected

    def _next(self, how: str) -> tuple[Any, tuple[Drawn, ...]]:
        given = next(self._given, None)
        if given is None or given[0] != how:
            raise OutOfStep
        return given[1], given[2]
