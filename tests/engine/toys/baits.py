"""Baits

A toy for the tests of the coach. In each of ten rounds the first player waits, flips or offers a bait. Waiting and flipping
both bring either player a coin now and then, by other draws. Of a bait the second player bites or spits it out: the first
player gets five coins from one who bites, and loses five to one who spits. At first sight a bait is always bitten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from engine.board import Board, Panel
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision
from engine.facts import SPECTATOR, Fact, fact
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.tell import say

ROUNDS: Final = 10


@fact
class State:
    """The round, whether a bait is out, and the coins."""

    round: int = 1
    baited: bool = False
    coins: tuple[int, ...] = (0, 0)


@fact
class Offered(Fact[State]):
    """A bait is offered."""

    def apply(self, state: State) -> State:
        return replace(state, baited=True)


@fact
class Got(Fact[State]):
    """The players get {coins}."""

    coins: tuple[int, ...]

    def apply(self, state: State) -> State:
        coins = tuple(old + new for old, new in zip(state.coins, self.coins, strict=True))
        return State(state.round + 1, baited=False, coins=coins)


class Baits(Game[State]):
    """Baits for two players."""

    title = "Baits"
    seats = (2, 2)
    length = say("Ten rounds.")
    credits = say("A toy.")

    def start(self, seats: int, options: Options) -> State:
        return State()

    def setup(self, state: State, draw: Draw) -> Story[State]:
        yield from ()

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.round > ROUNDS or seat == SPECTATOR or seat != int(view.baited):
            return None
        verbs = ("bite", "spit") if view.baited else ("wait", "flip", "offer")
        topic = f"round {view.round}"
        return Decision(
            seat, say("What do you do?"), tuple(map(Act, verbs)), Choice(verbs[0]), topic=topic, public=True
        )

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        ((_seat, choice),) = choices.items()
        match choice.verb:
            case "offer":
                yield Offered()
            case "bite":
                yield Got((5, 0))
            case "spit":
                yield Got((0, 5))
            case _:
                if choice.verb == "flip":
                    draw.below(7)
                yield Got((draw.below(2), draw.below(2)))

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((own,) for own in state.coins)) if state.round > ROUNDS else Standing(state.coins)

    def board(self, view: State, seat: int) -> Board:
        panels = tuple(Panel(each, ((say("coins"), coins),)) for each, coins in enumerate(view.coins))
        return Board(
            say("Baits, round {round} of {last}", round=view.round, last=ROUNDS), say("Go on."), (), (), panels
        )

    def longest(self, seats: int, options: Options) -> int:
        return 2 * ROUNDS + 1

    def tally(self, state: State) -> Mapping[str, int]:
        return {"rounds": ROUNDS}

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice:
        return decision.default
