"""What a seat may do now, as data.

A decision has a few acts; an act is a verb and its blanks; a blank knows whether a value is in it. From that one value
come the form on a page, the commands of a reply, the help, what silence means, the bots, the fuzzing and the API; so
none of them can offer what another refuses. How a choice is written and read in words is `grammar.py`.

A decision is made from its seat's own view, so nothing here can be a secret of somebody else. This module must never
decide whether a choice is wise, and must never change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, pairwise, permutations
from math import comb, factorial, prod
from typing import Any, TypeGuard

from engine.chance import Draw
from engine.facts import fact
from engine.tell import Text, say

Value = int | str | tuple[Any, ...]


class Refused(Exception):
    """A choice that may not be made. It changes nothing; its text is for the player and says what is possible."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text))
        self.text = text


@fact
class Thing:
    """Something a blank can hold: what is stored, how people write it, what it is, and what else it may be called."""

    value: int | str
    word: str
    note: str = ""
    also: tuple[str, ...] = ()


@fact
class Amount:
    """A whole number. `endings` are the last digits it may have; a `raising` one takes the order `up to N`."""

    name: str
    low: int
    high: int
    endings: frozenset[int] = frozenset(range(10))
    raising: bool = False
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high and value % 10 in self.endings

    def values(self) -> Iterator[Value]:
        """Every number that fits, lowest first."""
        return (n for n in range(self.low, self.high + 1) if n % 10 in self.endings)

    def count(self) -> int:
        """How many numbers fit."""
        return sum(max(0, (self.high - e) // 10 - (self.low - 1 - e) // 10) for e in self.endings)

    def sample(self, draw: Draw) -> Value:
        """Any number that fits, each equally likely."""
        if len(self.endings) == 10:
            return self.low + draw.below(self.high - self.low + 1)
        return draw.pick(tuple(self.values()))


@fact
class OneOf:
    """One of a few things."""

    name: str
    things: tuple[Thing, ...]
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return any(type(value) is type(thing.value) and value == thing.value for thing in self.things)

    def values(self) -> Iterator[Value]:
        """Every thing's value, in the order they are shown."""
        return (thing.value for thing in self.things)

    def count(self) -> int:
        """How many things there are."""
        return len(self.things)

    def sample(self, draw: Draw) -> Value:
        """Any of the things, each equally likely."""
        return draw.pick(self.things).value


@fact
class Some:
    """A given number of the things shown, in the order in which they are shown. Equal things may be shown twice."""

    name: str
    things: tuple[Thing, ...]
    many: int
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        if not _plain_tuple(value) or len(value) != self.many:
            return False
        shown = iter([thing.value for thing in self.things])
        return all(part in shown for part in value)

    def values(self) -> Iterator[Value]:
        """Every different selection."""
        met = set()
        for selection in combinations((thing.value for thing in self.things), self.many):
            if selection not in met:
                met.add(selection)
                yield selection

    def count(self) -> int:
        """How many different selections there are."""
        if len({thing.value for thing in self.things}) == len(self.things):
            return comb(len(self.things), self.many)
        return sum(1 for _ in self.values())

    def sample(self, draw: Draw) -> Value:
        """Any selection."""
        places = sorted(draw.shuffle(range(len(self.things)))[: self.many])
        return tuple(self.things[i].value for i in places)


@fact
class Ranking:
    """All of the things, in an order of the player's choice."""

    name: str
    things: tuple[Thing, ...]
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return _plain_tuple(value) and sorted(map(repr, value)) == sorted(repr(t.value) for t in self.things)

    def values(self) -> Iterator[Value]:
        """Every order."""
        return permutations(thing.value for thing in self.things)

    def count(self) -> int:
        """How many orders there are."""
        return factorial(len(self.things))

    def sample(self, draw: Draw) -> Value:
        """Any order, each equally likely."""
        return tuple(draw.shuffle(thing.value for thing in self.things))


@fact
class Split:
    """A total dealt out over the things: one whole number for each, in the order in which they are shown."""

    name: str
    things: tuple[Thing, ...]
    total: int
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return (
            _plain_tuple(value)
            and len(value) == len(self.things)
            and all(isinstance(part, int) and part >= 0 for part in value)
            and sum(map(int, value)) == self.total
        )

    def values(self) -> Iterator[Value]:
        """Every way to deal it out."""
        heaps = len(self.things)
        for bars in combinations(range(self.total + heaps - 1), heaps - 1):
            yield self._heaps(bars)

    def count(self) -> int:
        """How many ways there are."""
        return comb(self.total + len(self.things) - 1, len(self.things) - 1)

    def sample(self, draw: Draw) -> Value:
        """Any way to deal it out, each equally likely."""
        heaps = len(self.things)
        return self._heaps(sorted(draw.shuffle(range(self.total + heaps - 1))[: heaps - 1]))

    def _heaps(self, bars: Any) -> tuple[int, ...]:
        # Stars and bars: the bars cut a row of `total` stars into heaps.
        edges = (-1, *bars, self.total + len(self.things) - 1)
        return tuple(right - left - 1 for left, right in pairwise(edges))


Blank = Amount | OneOf | Some | Ranking | Split


@fact
class Choice:
    """A verb and what was put into its blanks."""

    verb: str
    values: tuple[Value, ...] = ()

    def number(self, blank: int = 0) -> int:
        """The number in a blank. Raises TypeError if there is something else.

        >>> Choice("bid", (7,)).number()
        7
        """
        return _number(self.values[blank])

    def text(self, blank: int = 0) -> str:
        """The text in a blank, such as a card's id. Raises TypeError if there is something else."""
        return _text(self.values[blank])

    def numbers(self, blank: int = 0) -> tuple[int, ...]:
        """The numbers in a blank, however many it holds: those of a `Split`, say.

        >>> Choice("share", ("gold", (3, 0, 2))).numbers(1)
        (3, 0, 2)
        """
        return tuple(map(_number, self._parts(blank)))

    def texts(self, blank: int = 0) -> tuple[str, ...]:
        """The texts in a blank, however many it holds: those of a `Some` or a `Ranking`, say."""
        return tuple(map(_text, self._parts(blank)))

    def every_text(self) -> tuple[str, ...]:
        """The texts in all blanks, one from each."""
        return tuple(map(_text, self.values))

    def _parts(self, blank: int) -> tuple[Value, ...]:
        value = self.values[blank]
        return value if isinstance(value, tuple) else (value,)


@fact
class Act:
    """A verb and its blanks. The phrase shows where the blanks stand: `give {} to 2`; without one they simply follow.

    Several acts may share a verb where one blank limits another: one act per alternative.
    """

    verb: str
    blanks: tuple[Blank, ...] = ()
    phrase: str = ""
    note: Text | None = None

    def __contains__(self, choice: object) -> bool:
        return (
            type(choice) is Choice
            and type(choice.verb) is str
            and choice.verb == self.verb
            and type(choice.values) is tuple
            and len(choice.values) == len(self.blanks)
            and all(value in blank for blank, value in zip(self.blanks, choice.values, strict=True))
        )

    def choices(self) -> Iterator[Choice]:
        """Every choice this act allows."""
        return (Choice(self.verb, values) for values in _fillings(self.blanks))

    def count(self) -> int:
        """How many choices this act allows."""
        return prod(blank.count() for blank in self.blanks)

    def sample(self, draw: Draw) -> Choice:
        """Any choice this act allows."""
        return Choice(self.verb, tuple(blank.sample(draw) for blank in self.blanks))


@fact
class Decision:
    """What one seat is asked: the acts open to it and what its silence means.

    `closes` names the verbs that end the window at once. `topic` says which lot, auction or hand this is about: orders
    for one topic end with it. `public` says that anybody at the table could name the possible answers, so that a
    decision with a single one may be made by the table without giving anything away.
    """

    seat: int
    prompt: Text
    acts: tuple[Act, ...]
    default: Choice
    closes: frozenset[str] = frozenset()
    topic: str = ""
    public: bool = False

    def __contains__(self, choice: object) -> bool:
        return any(choice in act for act in self.acts)

    def choices(self, most: int | None = None) -> list[Choice]:
        """The possible choices in the order of the acts, at most so many of them."""
        return list(islice((choice for act in self.acts for choice in act.choices()), most))

    def count(self) -> int:
        """How many choices there are."""
        return sum(act.count() for act in self.acts)

    def sample(self, draw: Draw) -> Choice:
        """Any possible choice: first an act, then its blanks."""
        return draw.pick(self.acts).sample(draw)

    def only(self) -> Choice | None:
        """The single possible choice, or None where there is a choice."""
        return self.default if self.count() == 1 else None


def check_shape(decision: Decision, choice: object) -> Choice:
    """The choice, if it is one of those the decision offers; refused otherwise."""
    if type(choice) is not Choice or choice not in decision:
        raise Refused(say("That is not among the things you may do now."))
    return choice


def _number(value: Value) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a number")
    return value


def _text(value: Value) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is not a text")
    return value


def _fillings(blanks: tuple[Blank, ...]) -> Iterator[tuple[Value, ...]]:
    # One after the other: a ranking of many things has more orders than could be held at once.
    if not blanks:
        yield ()
        return
    for value in blanks[0].values():
        for rest in _fillings(blanks[1:]):
            yield (value, *rest)


def _plain_tuple(value: object) -> TypeGuard[tuple[int | str, ...]]:
    # A bool equals an int and a float may: only the exact types are what the blank was made of.
    return type(value) is tuple and all(type(part) is int or type(part) is str for part in value)
