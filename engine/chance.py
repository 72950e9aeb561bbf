"""Chance: every card drawn and every die rolled can be derived again from one seed.

A seed, made from the server's secret and the players' words, gives one stream of numbers for each log entry. Everyone gets
a hash of the secret before the deal, and the secret after the game.


Block i of entry e is HMAC-SHA256(seed, "draw/1" + e as 8 bytes + i as 4 bytes), read as four 64-bit words, first word
first, all big-endian. A bot has a seed of its own for each decision, from which the game's seed can't be found. This
module must never use another source of randomness, and must never change, because old games are verified by it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeVar

T = TypeVar("T")

Drawn = tuple[int, int]
"""One number drawn: its bound, and the number below it."""

_WORDS = 2**64


class Draw:
    """The source of chance that rules take as a parameter.

    >>> Stream(bytes(32), 0).pick(("heads", "tails"))
    'tails'
    >>> Scripted([0]).pick(("heads", "tails"))
    'heads'
    """

    def below(self, bound: int) -> int:
        """Return a number from 0 to bound - 1, each equally likely."""
        raise NotImplementedError

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        return items[self.below(len(items))]

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Return the items in random order (Fisher-Yates, from the last place down)."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


class Stream(Draw):
    """The chance of one log entry, and a record of the numbers drawn."""

    def __init__(self, seed: bytes, entry: int) -> None:
        self.drawn: list[Drawn] = []
        self._seed = seed
        self._entry = entry
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        # No word is large enough for every number below a larger bound, and rejecting words would never end.
        if not 1 <= bound <= _WORDS:
            raise ValueError("a number can only be drawn below a bound from 1 to 2**64")
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
    """Numbers given in advance, for tests and for replaying a log."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.drawn: list[Drawn] = []
        self._numbers = iter(numbers)

    def below(self, bound: int) -> int:
        number = next(self._numbers, None)
        if number is None or not 0 <= number < bound:
            raise ValueError(f"the next scripted number should be below {bound}, not {number}")
        self.drawn.append((bound, number))
        return number


def commitment(secret: bytes) -> str:
    """Return the hash that is published before the deal."""
    return hashlib.sha256(secret).hexdigest()


def seed_from(secret: bytes, words: Sequence[str]) -> bytes:
    """Return the seed of a game. The players' words are in the order of joining, each preceded by its length."""
    message = b""
    for word in words:
        text = word.encode()
        message += len(text).to_bytes(4, "big") + text
    return hmac.digest(secret, message, "sha256")


def bot_seed(seed: bytes, turn: int, seat: int) -> bytes:
    """Return the seed of a seat's bot for one turn: HMAC-SHA256(seed, "bot/1" + turn as 8 bytes + seat as 1 byte).

    The bot draws from entry 0 of it, so the numbers of the game never depend on who plays.
    """
    return hmac.digest(seed, b"bot/1" + turn.to_bytes(8, "big") + seat.to_bytes(1, "big"), "sha256")


class Derived(NamedTuple):
    """How one number was derived: the block, the place in it, the word there, its bound, and the number; None if rejected."""

    block: int
    place: int
    word: int
    bound: int
    number: int | None


def derive(seed: bytes, entry: int, bounds: Iterable[int]) -> Iterator[Derived]:
    """Yield every word used for numbers below these bounds, so that each step can be repeated by hand."""
    words = ((block, place, word) for block in count() for place, word in enumerate(_words_of(seed, entry, block)))
    for bound in bounds:
        if not 1 <= bound <= _WORDS:
            raise ValueError("a number can only be drawn below a bound from 1 to 2**64")
        for block, place, word in words:
            taken = word < _WORDS - _WORDS % bound
            yield Derived(block, place, word, bound, word % bound if taken else None)
            if taken:
                break


def follows(seed: bytes, entry: int, drawn: Iterable[Drawn]) -> bool:
    """Whether the seed gives these numbers for this entry."""
    stream = Stream(seed, entry)
    return all(stream.below(bound) == number for bound, number in drawn)


def _words_of(seed: bytes, entry: int, block: int) -> list[int]:
    """Return the words of one block in the order in which they are used."""
    raw = hmac.digest(seed, b"draw/1" + entry.to_bytes(8, "big") + block.to_bytes(4, "big"), "sha256")
    return [int.from_bytes(raw[i : i + 8], "big") for i in range(0, 32, 8)]
