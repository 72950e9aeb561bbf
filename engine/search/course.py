"""A course: a game played on in thought, from an imagined state and by its own rules.

A table checks each choice, keeps views and writes a log. A search needs none of that: it only makes choices that were just
offered. So a course builds each decision once, checks nothing again, and draws from a faster source of numbers. What
happens is still up to the game: `resolve` yields the facts, and the facts change the state.

This module must never decide a rule: that turns are settled as a table settles them is tested fact by fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.facts import Fact
from engine.game import Game
from engine.table import answers_itself

_STEP: Final = 6364136223846793005
_MORE: Final = 1442695040888963407
_LOW: Final = 2**64 - 1


class Luck(Draw):
    """Fast numbers for imagined games, the same on every machine. No table ever uses them: nobody could verify them."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _LOW
        self.below(2)

    def below(self, bound: int) -> int:
        self._state = state = (self._state * _STEP + _MORE) & _LOW
        # The high bits of such a generator are good ones. A bound of many bits needs more of them.
        if bound < 2**20:
            return (state >> 24) * bound >> 40
        word = state >> 32
        for _ in range(2 + bound.bit_length() // 32):
            self._state = state = (self._state * _STEP + _MORE) & _LOW
            word = word << 32 | state >> 32
        return word % bound


class Course:
    """A game under way in thought: its state, and what the seats are asked now (`asks`, empty once the game is over).

    `opened` are the decisions that the table doesn't make itself.
    """

    __slots__ = ("asks", "draws", "game", "opened", "seats", "state", "turn")

    def __init__(self, game: Game[Any], seats: int, state: Any, draws: Callable[[int], Draw], turn: int = 0) -> None:
        self.game = game
        self.seats = seats
        self.state = state
        self.draws = draws
        self.turn = turn
        self.asks: dict[int, Decision]
        self.opened: dict[int, Decision]
        self._ask()

    def go(self, choices: Mapping[int, Choice]) -> tuple[Fact[Any], ...]:
        """Make the choices of one turn, and those that follow without anyone being asked. Return what happened.

        There must be one for each open decision, or only one that ends the turn at once.
        """
        box: Mapping[int, Choice] = choices
        if len(choices) < len(self.asks):
            ((seat, choice), *more) = choices.items()
            if more or choice.verb not in self.asks[seat].closes:
                alone = {s: decision.default for s, decision in self.asks.items() if s not in choices}
                box = {**choices, **alone}
        happened: list[Fact[Any]] = []
        while True:
            self._settle(box, happened)
            if self.opened or not self.asks:
                return tuple(happened)
            box = {seat: decision.default for seat, decision in self.asks.items()}

    def _settle(self, box: Mapping[int, Choice], happened: list[Fact[Any]]) -> None:
        story, state = self.game.resolve(self.state, box, self.draws(self.turn)), self.state
        try:
            each = next(story)
            while True:
                happened.append(each)
                state = each.apply(state)
                each = story.send(state)
        except StopIteration:
            self.state = state
            self.turn += 1
            self._ask()

    def _ask(self) -> None:
        ask, state = self.game.asks, self.state
        self.asks, self.opened = {}, {}
        for seat in range(self.seats):
            decision = ask(state, seat)
            if decision is not None:
                self.asks[seat] = decision
                if not answers_itself(decision):
                    self.opened[seat] = decision
