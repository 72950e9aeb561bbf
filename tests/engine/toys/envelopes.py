"""Envelopes

A toy for the tests of the search: one auction with closed bids, small enough to solve. Each of two players knows what the
lot is worth to them, and bids. The higher bid buys; a tie is broken by chance. What the buyer saved is a chance to win the
game: saving everything that a lot can be worth wins it for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.board import Board, Line, Panel
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import HIDDEN, SPECTATOR, Fact, fact, is_hidden, put, secret
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.tell import say

MOST: Final = 8
"""The most that the lot is worth to anyone, and the highest bid."""


@fact
class State:
    """What the lot is worth to each player, and the score."""

    worths: tuple[Any, ...] = (0, 0)
    scores: tuple[int, int] = (0, 0)
    over: bool = False


@fact
class Valued(Fact[State]):
    """The lot is worth {worth} to {seat}."""

    seat: int
    worth: int = secret()

    def apply(self, state: State) -> State:
        return replace(state, worths=put(state.worths, self.seat, self.worth))


@fact
class Sold(Fact[State]):
    """The bids are {bids}. {seat} [buys|buy] and [scores|score] {points}."""

    bids: tuple[int, ...]
    seat: int
    points: int

    def apply(self, state: State) -> State:
        scores = (self.points, 0) if self.seat == 0 else (0, self.points)
        return replace(state, scores=scores, over=True)


class Envelopes(Game[State]):
    """Envelopes for two players."""

    title = "Envelopes"
    seats = (2, 2)
    length = say("One bid.")
    credits = say("A toy.")
    hidden = ("a number", "numbers")

    def start(self, seats: int, options: Options) -> State:
        return State()

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat in range(2):
            yield Valued(seat, draw.below(MOST + 1))

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over or seat == SPECTATOR:
            return None
        bid = Act("bid", (Amount("coins", 0, MOST),))
        return Decision(seat, say("What do you bid?"), (bid,), Choice("bid", (0,)), topic="lot", public=True)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        bids = (choices[0].number(), choices[1].number())
        buyer = draw.below(2) if bids[0] == bids[1] else int(bids[1] > bids[0])
        saved = state.worths[buyer] - bids[buyer]
        lucky = draw.below(MOST) < abs(saved)
        yield Sold(bids, buyer, (1 if saved > 0 else -1) * lucky)

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((score,) for score in state.scores)) if state.over else Standing(state.scores)

    def board(self, view: State, seat: int) -> Board:
        own = () if seat == SPECTATOR else (Line(say("It's worth {worth} to you.", worth=view.worths[seat])),)
        panels = tuple(Panel(each, ((say("points"), score),)) for each, score in enumerate(view.scores))
        return Board(say("Envelopes"), say("One lot"), (), own, panels)

    def longest(self, seats: int, options: Options) -> int:
        return 2

    def tally(self, state: State) -> Mapping[str, int]:
        return {"lots": 1}

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        return replace(view, worths=tuple(draw.below(MOST + 1) if is_hidden(worth) else worth for worth in view.worths))

    def mask(self, state: State, seat: int) -> State:
        return replace(state, worths=tuple(w if other == seat else HIDDEN for other, w in enumerate(state.worths)))
