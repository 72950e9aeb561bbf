"""Chance to the bit: every card turned and every die thrown can be derived again from one seed.

A seed makes one stream of numbers per log entry. Before the deal everybody is told the commitment, a hash of the
server's secret; each player may add a word; the seed is made of both; when the game is over the secret is told, and
anybody can check that nothing was chosen after the fact.

Block i of entry e is HMAC-SHA256(seed, "draw/1" + e as 8 bytes + i as 4 bytes), read as four 64-bit words, first word
first, all big-endian. This module must never use another source of randomness, and must never change: old games are
verified by it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeVar

T = TypeVar("T")

Drawn = tuple[int, int]
"""One number drawn: the bound it was below, and the number."""

_WORDS = 2**64


class Draw:
    """Where a rule gets its luck from. Rules take it as a parameter, so a test can pass a scripted one."""

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1, each equally likely."""
        raise NotImplementedError

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        return items[self.below(len(items))]

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """The items in random order: Fisher-Yates from the last place down."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


class Stream(Draw):
    """The luck of one log entry, and the record of what was drawn from it."""

    def __init__(self, seed: bytes, entry: int) -> None:
        self.drawn: list[Drawn] = []
        self._seed = seed
        self._entry = entry
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        # Below a larger bound there are numbers that no word gives, and to wait for a word that fits would have no end.
        if not 1 <= bound <= _WORDS:
            raise ValueError("there is nothing to draw from")
        limit = _WORDS - _WORDS % bound
        while True:
            if not self._words:
                self._refill()
            if (word := self._words.pop()) < limit:
                self.drawn.append((bound, word % bound))
                return word % bound

    def _refill(self) -> None:
        self._words = _words_of(self._seed, self._entry, self._block)[::-1]
        self._block += 1


class Scripted(Draw):
    """Luck written down beforehand, for tests and for reading a log again."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.drawn: list[Drawn] = []
        self._numbers = iter(numbers)

    def below(self, bound: int) -> int:
        number = next(self._numbers, None)
        if number is None or not 0 <= number < bound:
            raise ValueError(f"the script has no number below {bound} here, but {number}")
        self.drawn.append((bound, number))
        return number


def commitment(secret: bytes) -> str:
    """What is told before the deal: it binds the server to its secret without giving it away."""
    return hashlib.sha256(secret).hexdigest()


def seed_from(secret: bytes, words: Sequence[str]) -> bytes:
    """The seed of a game, from the server's secret and the players' words in joining order.

    Each word stands with its length before it, so that no two lists of words make the same seed.
    """
    message = b""
    for word in words:
        text = word.encode()
        message += len(text).to_bytes(4, "big") + text
    return hmac.digest(secret, message, "sha256")


class Derived(NamedTuple):
    """How one number came about: the block, the place in it, the word there, and the number; None if it was passed over."""

    block: int
    place: int
    word: int
    bound: int
    number: int | None


def derive(seed: bytes, entry: int, bounds: Iterable[int]) -> Iterator[Derived]:
    """Every word that is looked at for numbers below these bounds, so that each step can be worked out again by hand."""
    words = ((block, place, word) for block in count() for place, word in enumerate(_words_of(seed, entry, block)))
    for bound in bounds:
        if not 1 <= bound <= _WORDS:
            raise ValueError("there is nothing to draw from")
        for block, place, word in words:
            taken = word < _WORDS - _WORDS % bound
            yield Derived(block, place, word, bound, word % bound if taken else None)
            if taken:
                break


def follows(seed: bytes, entry: int, drawn: Iterable[Drawn]) -> bool:
    """Whether these are the numbers that the seed gives for this entry."""
    stream = Stream(seed, entry)
    return all(stream.below(bound) == number for bound, number in drawn)


def _words_of(seed: bytes, entry: int, block: int) -> list[int]:
    """The words of one block, in the order in which they are taken."""
    raw = hmac.digest(seed, b"draw/1" + entry.to_bytes(8, "big") + block.to_bytes(4, "big"), "sha256")
    return [int.from_bytes(raw[i : i + 8], "big") for i in range(0, 32, 8)]
