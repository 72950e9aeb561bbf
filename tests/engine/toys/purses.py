"""Purses

A toy for the tests of the coach. Each of two players has a secret purse of 0 to 9 coins. In each of ten rounds both take a
coin or burn twenty; in the fourth they may also grab eight, and in the seventh the first player may also swap the purses. A
coin that is taken may be lost again by chance. The most coins win, with those in the purse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.board import Board, Panel
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision
from engine.facts import HIDDEN, SPECTATOR, Fact, fact, is_hidden, put, secret
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.tell import say

ROUNDS: Final = 10
GRABBING: Final = 3
SWAPPING: Final = 6
FULLEST: Final = 9


@fact
class State:
    """The round, the purses and the coins."""

    round: int = 0
    purses: tuple[Any, ...] = (0, 0)
    coins: tuple[int, ...] = (0, 0)


@fact
class Filled(Fact[State]):
    """There [is|are] {coins} in the purse of {seat}."""

    seat: int
    coins: int = secret()

    def apply(self, state: State) -> State:
        return replace(state, purses=put(state.purses, self.seat, self.coins))


@fact
class Swapped(Fact[State]):
    """The purses are swapped."""

    def apply(self, state: State) -> State:
        return replace(state, purses=state.purses[::-1])


@fact
class Got(Fact[State]):
    """The players get {coins}."""

    coins: tuple[int, ...]

    def apply(self, state: State) -> State:
        coins = tuple(old + new for old, new in zip(state.coins, self.coins, strict=True))
        return replace(state, round=state.round + 1, coins=coins)


@fact
class Opened(Fact[State]):
    """There are {purses} in the purses."""

    purses: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, purses=self.purses)


class Purses(Game[State]):
    """Purses for two players."""

    title = "Purses"
    seats = (2, 2)
    length = say("Ten rounds.")
    credits = say("A toy.")
    hidden = ("a purse", "purses")

    def start(self, seats: int, options: Options) -> State:
        return State()

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat in range(2):
            yield Filled(seat, draw.below(FULLEST + 1))

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.round == ROUNDS or seat == SPECTATOR:
            return None
        acts = ["take", "burn"]
        acts += ["grab"] if view.round == GRABBING else []
        acts += ["swap"] if view.round == SWAPPING and seat == 0 else []
        return Decision(seat, say("What do you do?"), tuple(map(Act, acts)), Choice("take"), public=True)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if choices[0].verb == "swap":
            state = yield Swapped()
        gains = {"take": 1, "burn": -20, "grab": 8, "swap": 0}
        coins = tuple(gains[choices[seat].verb] - draw.below(2) for seat in range(2))
        state = yield Got(coins)
        if state.round == ROUNDS:
            yield Opened(state.purses)

    def standing(self, state: State) -> Standing:
        if state.round < ROUNDS:
            return Standing(state.coins)
        return Standing.by(tuple((own + more,) for own, more in zip(state.coins, state.purses, strict=True)))

    def board(self, view: State, seat: int) -> Board:
        panels = tuple(Panel(each, ((say("coins"), coins),)) for each, coins in enumerate(view.coins))
        return Board(say("Purses"), say("Round {round}", round=view.round), (), (), panels)

    def longest(self, seats: int, options: Options) -> int:
        return ROUNDS + 1

    def tally(self, state: State) -> Mapping[str, int]:
        return {"purses": 2}

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice:
        return Choice("take")

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        return replace(view, purses=tuple(draw.below(FULLEST + 1) if is_hidden(p) else p for p in view.purses))

    def mask(self, state: State, seat: int) -> State:
        if state.round == ROUNDS:
            return state
        return replace(state, purses=tuple(p if other == seat else HIDDEN for other, p in enumerate(state.purses)))
