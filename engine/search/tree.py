"""The tree of a search: what each seat has tried at each point of its knowledge, and how well that went.

A node belongs to a seat and to what that seat knows: its part of the imagined world at the root, and the facts it was told
since. Seats that choose in the same turn have a node each, and nothing about a choice reaches another seat before its fact
does. So no seat in the tree can play by a card or a bid that it may not see.

Arithmetic is exact or correctly rounded everywhere: whole numbers, + - * / and square roots. The same search gives the same
result on every machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isqrt, sqrt
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Amount, Choice, Decision
from engine.facts import Fact, secrets_of, seen
from engine.game import Game

MOST_CHOICES: Final = 24
"""The most choices that a node considers."""
YOUNG: Final = 2
"""The visits of a node that are left to quick choices."""
FEW: Final = 4
"""The choices that are tried from the start, if there are no more likely ones."""
PATIENCE: Final = 8
"""How slowly others are added to those."""
ENOUGH: Final = 2
"""Visits for each choice after which a node knows more than a quick choice does."""
STEPS: Final = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45)
"""How far above its lowest value an amount is tried, besides its highest."""


UNTRIED: Final = 1000.0
"""The score of a choice that was never tried: higher than any other."""
MIXED: Final = (3, 2)
"""A choice is made now and then if three times its visits are as many as twice those of the best one."""


class Node:
    """The choices of a seat at one point of its knowledge, the likeliest first, with their visits and values."""

    __slots__ = ("_begun", "_places", "choices", "total", "values", "visits")

    def __init__(self, choices: list[Choice]) -> None:
        self.choices = choices
        self._begun = len(choices)
        self._places = {choice: place for place, choice in enumerate(choices)}
        self.visits = [0] * len(choices)
        self.values = [0.0] * len(choices)
        self.total = 0

    def select(self, decision: Decision, curiosity: float) -> Choice:
        """Return a choice to try: one of those that have done well, or that have been tried too little to tell."""
        width = self._width()
        weight = self.total.bit_length()
        best, found = -1.0, None
        for place in range(width):
            visits = self.visits[place]
            score = self.values[place] / visits + curiosity * sqrt(weight / visits) if visits else UNTRIED - place
            if score > best and self.choices[place] in decision:
                best, found = score, self.choices[place]
        return self._added(decision) if found is None else found

    def widen(self, choices: list[Choice]) -> None:
        """Add choices to those that were made at first sight."""
        self._begun = max(len(self.choices), min(FEW, len(choices)))
        for choice in choices:
            self._place(choice)

    @property
    def young(self) -> bool:
        """Whether this node still leaves its visits to quick choices."""
        return self.total < YOUNG and not self._begun

    @property
    def narrow(self) -> bool:
        """Whether only quick choices have been made here, and it's time for others."""
        return self.total >= YOUNG and not self._begun

    def knows(self) -> bool:
        """Whether this node has been visited often enough to play by."""
        return self._begun > 0 and self.total >= ENOUGH * len(self.choices)

    def shares(self) -> dict[Choice, int]:
        """Return the choices that were visited often, with their visits: the others were tried, and they are worse."""
        most = max(self.visits)
        pairs = zip(self.choices, self.visits, strict=True)
        return {choice: visits for choice, visits in pairs if visits * MIXED[0] >= most * MIXED[1]}

    def usual(self, draw: Draw) -> Choice:
        """Return one of the choices that were visited often, each as often as it was visited."""
        shares = self.shares()
        at = draw.below(sum(shares.values()))
        for choice, visits in shares.items():
            at -= visits
            if at < 0:
                return choice
        raise AssertionError("the visits of a node do not add up")

    def learn(self, choice: Choice, value: float) -> None:
        """Note how well a choice went."""
        place = self._place(choice)
        self.visits[place] += 1
        self.values[place] += value
        self.total += 1

    def mean(self, choice: Choice) -> float:
        """Return the average value of a choice; 0 if it was never tried."""
        place = self._place(choice)
        return self.values[place] / self.visits[place] if self.visits[place] else 0.0

    def _width(self) -> int:
        # Progressive widening: with few visits, only a few choices can be told apart.
        return min(len(self.choices), self._begun + isqrt(self.total // PATIENCE))

    def _added(self, decision: Decision) -> Choice:
        """Return the default, for a decision that offers none of the choices tried here."""
        self._place(decision.default)
        return decision.default

    def _place(self, choice: Choice) -> int:
        """Return the place of a choice, which may be new: with other cards, a seat is offered other choices."""
        place = self._places.setdefault(choice, len(self.choices))
        if place == len(self.choices):
            self.choices.append(choice)
            self.visits.append(0)
            self.values.append(0.0)
        return place


def candidates(game: Game[Any], state: Any, decision: Decision, draw: Draw, glances: int = 1) -> list[Choice]:
    """Return choices worth trying, the likeliest first: all if there are few, or else some of each act.

    If there are many of a single act, such as a sealed bid, several of them are quick choices.
    """
    most = MOST_CHOICES
    few = len(decision.choices(most + 1)) <= most
    quick = [game.quick(state, decision, draw) for _ in range(1 if few or len(decision.acts) > 1 else glances)]
    rest = decision.choices() if few else [*_some(decision), *(decision.sample(draw) for _ in range(most))]
    likely = [choice for choice in quick if choice is not None]
    found = dict.fromkeys(
        [*likely, decision.default, *draw.shuffle(rest)] if few else [*likely, decision.default, *rest]
    )
    if type(game).objects is not Game.objects:
        return [choice for choice in found if game.objects(state, decision.seat, choice) is None][:most]
    return list(found)[:most]


def worth_trying(
    game: Game[Any], view: Any, decision: Decision, draw: Draw, most: int, glances: int = 1
) -> list[Choice]:
    """Return choices that a bot compares before it decides: none that a page would warn of, if there are others."""
    found = candidates(game, view, decision, draw, glances)
    return ([choice for choice in found if game.caution(view, decision.seat, choice) is None] or found)[:most]


def _some(decision: Decision) -> list[Choice]:
    """Return the cheapest choice of each act, and amounts at growing distances from the lowest."""
    found = []
    for act in decision.acts:
        if len(act.blanks) == 1 and isinstance(blank := act.blanks[0], Amount):
            numbers = {n for step in STEPS if (n := blank.low + step) in blank}
            if blank.high in blank:
                numbers.add(blank.high)
            found += [Choice(act.verb, (n,)) for n in sorted(numbers)]
        else:
            found += list(act.choices())[:1] if act.count() <= MOST_CHOICES else [next(act.choices())]
    return found


class Knowledge:
    """What each seat knows on one way through the tree, as short keys: its part of the world, and the facts it was told."""

    __slots__ = ("_keys", "_news", "_parts")

    def __init__(self, keys: dict[Hashable, int], parts: Sequence[Hashable]) -> None:
        self._keys = keys
        self._parts = parts
        self._news: list[int] = [0] * len(parts)

    def exact(self, seat: int) -> Hashable:
        """Return the key of all that a seat knows."""
        return (seat, self._news[seat], self._parts[seat])

    def rough(self, seat: int) -> Hashable:
        """Return the key of what a seat was told since the root, whatever else it knows."""
        return (seat, self._news[seat])

    def tell(self, happened: Sequence[Fact[Any]]) -> None:
        """Tell every seat what happened, as it sees it."""
        keys = self._keys
        public = not any(_has_secrets(each) for each in happened)
        for seat, before in enumerate(self._news):
            facts = tuple(happened) if public else tuple(seen(each, seat) for each in happened)
            self._news[seat] = keys.setdefault((before, facts), len(keys) + 1)


def _has_secrets(happened: Fact[Any]) -> bool:
    kind: type = type(happened)
    return bool(secrets_of(kind))
