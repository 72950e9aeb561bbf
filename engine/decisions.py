"""Decisions: what a seat may do now, as data.

A decision has acts, an act is a verb with blanks, and a blank knows which values fit. Forms, commands, help, bots and the
API all come from this one value. A decision is made from its seat's own view. This module must never judge
whether a choice is wise, and must never change anything.

>>> coins = Amount("coins", 1, 3)
>>> decision = Decision(0, say("What do you bid?"), (Act("pass"), Act("bid", (coins,))), default=Choice("pass"))
>>> decision.count()
4
>>> Choice("bid", (2,)) in decision
True
>>> Choice("bid", (4,)) in decision
False
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, pairwise, permutations
from math import comb, factorial
from typing import Any, TypeGuard

from engine.chance import Draw
from engine.facts import fact
from engine.tell import Text, say

Value = int | str | tuple[Any, ...]


class Refused(Exception):
    """Raised for a choice that may not be made. The text tells the player what is possible."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text))
        self.text = text


@fact
class Thing:
    """Something a blank can hold: its value, its word, a note, and other names."""

    value: int | str
    word: str
    note: str = ""
    also: tuple[str, ...] = ()


@fact
class Amount:
    """A whole number. `endings` are its last digits; a `raising` amount takes the standing order `up to N`."""

    name: str
    low: int
    high: int
    endings: frozenset[int] = frozenset(range(10))
    raising: bool = False
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high and value % 10 in self.endings

    def values(self) -> Iterator[Value]:
        """Yield every number that fits, lowest first."""
        return (n for n in range(self.low, self.high + 1) if n % 10 in self.endings)

    def count(self) -> int:
        """Return how many numbers fit."""
        tens, rest = divmod(max(0, self.high - self.low + 1), 10)
        last = range(self.high - rest + 1, self.high + 1)
        return tens * len(self.endings) + len([n for n in last if n % 10 in self.endings])

    def sample(self, draw: Draw) -> Value:
        """Return a number that fits."""
        if len(self.endings) == 10:
            return self.low + draw.below(self.high - self.low + 1)
        return draw.pick(tuple(self.values()))


@fact
class OneOf:
    """One of the things."""

    name: str
    things: tuple[Thing, ...]
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return any(type(value) is type(thing.value) and value == thing.value for thing in self.things)

    def values(self) -> Iterator[Value]:
        """Yield the value of every thing, in order."""
        return (thing.value for thing in self.things)

    def count(self) -> int:
        """Return how many things there are."""
        return len(self.things)

    def sample(self, draw: Draw) -> Value:
        """Return one of the things."""
        return draw.pick(self.things).value


@fact
class Some:
    """A fixed number of the things, in their order. Equal things may be listed twice."""

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
        """Yield every different selection."""
        met = set()
        for selection in combinations((thing.value for thing in self.things), self.many):
            if selection not in met:
                met.add(selection)
                yield selection

    def count(self) -> int:
        """Return how many different selections there are."""
        if len({thing.value for thing in self.things}) == len(self.things):
            return comb(len(self.things), self.many)
        return sum(1 for _ in self.values())

    def sample(self, draw: Draw) -> Value:
        """Return a selection."""
        places = sorted(draw.shuffle(range(len(self.things)))[: self.many])
        return tuple(self.things[i].value for i in places)


@fact
class Selection:
    """Things that fill all blanks of a decision, whichever blank each of them fills: from the fewest to the most of them."""

    name: str
    things: tuple[Thing, ...]
    fewest: int
    most: int


@fact
class Ranking:
    """All of the things, in an order that the player chooses."""

    name: str
    things: tuple[Thing, ...]
    why: Text | None = None

    def __contains__(self, value: object) -> bool:
        return _plain_tuple(value) and sorted(map(repr, value)) == sorted(repr(t.value) for t in self.things)

    def values(self) -> Iterator[Value]:
        """Yield every order."""
        return permutations(thing.value for thing in self.things)

    def count(self) -> int:
        """Return how many orders there are."""
        return factorial(len(self.things))

    def sample(self, draw: Draw) -> Value:
        """Return an order."""
        return tuple(draw.shuffle(thing.value for thing in self.things))


@fact
class Split:
    """A total shared out over the things: a whole number for each, in their order."""

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
        """Yield every way to share it out."""
        heaps = len(self.things)
        for bars in combinations(range(self.total + heaps - 1), heaps - 1):
            yield self._heaps(bars)

    def count(self) -> int:
        """Return how many ways there are."""
        return comb(self.total + len(self.things) - 1, len(self.things) - 1)

    def sample(self, draw: Draw) -> Value:
        """Return a way to share it out."""
        heaps = len(self.things)
        return self._heaps(sorted(draw.shuffle(range(self.total + heaps - 1))[: heaps - 1]))

    def _heaps(self, bars: Any) -> tuple[int, ...]:
        # Stars and bars: the bars divide a row of `total` stars into heaps.
        edges = (-1, *bars, self.total + len(self.things) - 1)
        return tuple(right - left - 1 for left, right in pairwise(edges))


Blank = Amount | OneOf | Some | Ranking | Split
"""What an act leaves open: it lists, counts and picks at random the values that fit."""


@fact
class Choice:
    """A verb and the values of its blanks."""

    verb: str
    values: tuple[Value, ...] = ()

    def number(self, blank: int = 0) -> int:
        """Return the number in a blank. Raises TypeError for anything else.

        >>> Choice("bid", (7,)).number()
        7
        """
        return _number(self.values[blank])

    def text(self, blank: int = 0) -> str:
        """Return the text in a blank, such as a card's id. Raises TypeError for anything else."""
        return _text(self.values[blank])

    def numbers(self, blank: int = 0) -> tuple[int, ...]:
        """Return the numbers in a blank, such as a `Split`.

        >>> Choice("share", ("gold", (3, 0, 2))).numbers(1)
        (3, 0, 2)
        """
        return tuple(map(_number, self._parts(blank)))

    def texts(self, blank: int = 0) -> tuple[str, ...]:
        """Return the texts in a blank, such as a `Some` or a `Ranking`."""
        return tuple(map(_text, self._parts(blank)))

    def every_text(self) -> tuple[str, ...]:
        """Return the texts in all blanks, one from each."""
        return tuple(map(_text, self.values))

    def _parts(self, blank: int) -> tuple[Value, ...]:
        value = self.values[blank]
        return value if isinstance(value, tuple) else (value,)


@fact
class Act:
    """A verb and its blanks. The phrase shows where the blanks go: `give {} to 2`; without one they follow the verb.

    Where one blank limits another, several acts share a verb. For players who know no rules, `label` is the text of the
    button and `spoken` the act after “you'll”, with its blanks as in the phrase, where the verb alone would not do:
    `closed` has the label `closed auction` and is spoken `sell {} in a closed auction`.

    """

    verb: str
    blanks: tuple[Blank, ...] = ()
    phrase: str = ""
    note: Text | None = None
    label: str = ""
    spoken: str = ""

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
        """Yield every choice that this act allows."""
        return (Choice(self.verb, values) for values in _fillings(self.blanks))

    def count(self) -> int:
        """Return how many choices this act allows."""
        many = 1
        for blank in self.blanks:
            many *= blank.count()
        return many

    def sample(self, draw: Draw) -> Choice:
        """Return a choice that this act allows."""
        return Choice(self.verb, tuple(blank.sample(draw) for blank in self.blanks))


@fact
class Decision:
    """What one seat is asked: a prompt, the acts to choose from, and the default if the deadline is missed.

    `closes` are verbs that end the turn at once. `topic` is the lot, auction or hand; standing orders for it end with it. A
    decision is `public` if anyone at the table could name the possible choices and the default: the table makes a single
    choice itself, and if time runs out, all may know. `brief` is the prompt where the table is in view, without what
    is shown there.

    """

    seat: int
    prompt: Text
    acts: tuple[Act, ...]
    default: Choice
    closes: frozenset[str] = frozenset()
    topic: str = ""
    public: bool = False
    brief: Text | None = None

    def __contains__(self, choice: object) -> bool:
        return any(choice in act for act in self.acts)

    def choices(self, most: int | None = None) -> list[Choice]:
        """Return the possible choices in the order of the acts, up to a limit."""
        return list(islice((choice for act in self.acts for choice in act.choices()), most))

    def count(self) -> int:
        """Return how many choices there are."""
        return sum(act.count() for act in self.acts)

    def sample(self, draw: Draw) -> Choice:
        """Return a possible choice: first an act, then its blanks."""
        return draw.pick(self.acts).sample(draw)

    def only(self) -> Choice | None:
        """Return the only possible choice, or None if there are several."""
        many = 0
        for act in self.acts:
            many += act.count()
            if many > 1:
                return None
        return self.default if many == 1 else None


def check_shape(decision: Decision, choice: object) -> Choice:
    """Return the choice if the decision offers it. Raises Refused otherwise."""
    if type(choice) is not Choice or choice not in decision:
        raise Refused(say("That isn't one of your choices now."))
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
    # A generator, because a ranking of many things has more orders than fit into memory.
    if not blanks:
        yield ()
        return
    for value in blanks[0].values():
        for rest in _fillings(blanks[1:]):
            yield (value, *rest)


def _plain_tuple(value: object) -> TypeGuard[tuple[int | str, ...]]:
    # A bool or a float can equal an int, so only the exact types fit.
    return type(value) is tuple and all(type(part) is int or type(part) is str for part in value)
