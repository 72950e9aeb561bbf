"""Kuhn poker

A toy for the tests of the search, small enough to solve. There are three cards, and each of two players is dealt one. The
first may bet or check; after a bet the other calls or folds; after a check the other may bet, and then the first calls or
folds. The higher card takes the stake: one chip, or two after a call. A coin is tossed for a stake of one, so that winning
the game is worth as much as the chips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.board import Board, Face, Panel, Row
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision
from engine.facts import HIDDEN, SPECTATOR, Fact, fact, is_hidden, put, secret
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.tell import say

CARDS: Final = ("Jack", "Queen", "King")
ENDS: Final = ("bet call", "bet fold", "check check", "check bet call", "check bet fold")


@fact
class State:
    """The cards of the players, the cards that the reader can't place, and what was done so far."""

    cards: tuple[Any, ...] = ("", "")
    bag: tuple[str, ...] = CARDS
    done: tuple[str, ...] = ()
    scores: tuple[int, int] = (0, 0)
    over: bool = False


@fact
class Dealt(Fact[State]):
    """{seat} [is|are] dealt {card}."""

    seat: int
    card: str = secret()

    def apply(self, state: State) -> State:
        bag = tuple(card for card in state.bag if card != self.card)
        return replace(state, cards=put(state.cards, self.seat, self.card), bag=bag)


@fact
class Did(Fact[State]):
    """{seat} [does|do] this: {verb}."""

    seat: int
    verb: str

    def apply(self, state: State) -> State:
        return replace(state, done=(*state.done, self.verb))


@fact
class Paid(Fact[State]):
    """{seat} [wins|win] the chips; the coin gives {points} for them."""

    seat: int
    points: int

    def apply(self, state: State) -> State:
        scores = (self.points, 0) if self.seat == 0 else (0, self.points)
        return replace(state, scores=scores, over=True)


class Kuhn(Game[State]):
    """Kuhn poker for two players."""

    title = "Kuhn poker"
    seats = (2, 2)
    length = say("Three turns.")
    credits = say("A toy after Harold W. Kuhn.")
    hidden = ("a card", "cards")

    def start(self, seats: int, options: Options) -> State:
        return State()

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat, card in enumerate(draw.shuffle(CARDS)[:2]):
            yield Dealt(seat, card)

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over or seat != len(view.done) % 2:
            return None
        verbs = ("fold", "call") if "bet" in view.done else ("check", "bet")
        return Decision(seat, say("What do you do?"), tuple(map(Act, verbs)), Choice(verbs[0]), topic="hand")

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        ((seat, choice),) = choices.items()
        state = yield Did(seat, choice.verb)
        if " ".join(state.done) in ENDS:
            winner, stake = result(state)
            yield Paid(winner, int(draw.below(2) < stake))

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((score,) for score in state.scores)) if state.over else Standing(state.scores)

    def board(self, view: State, seat: int) -> Board:
        own = () if seat == SPECTATOR else (Row(say("Your card"), (Face("card", str(view.cards[seat]), "a card"),)),)
        panels = tuple(Panel(each, ((say("points"), score),)) for each, score in enumerate(view.scores))
        return Board(say("Kuhn poker"), say("One hand"), (), own, panels)

    def longest(self, seats: int, options: Options) -> int:
        return 4

    def tally(self, state: State) -> Mapping[str, int]:
        return {"cards": len(state.bag) + sum(card != "" for card in state.cards)}

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        left = draw.shuffle(card for card in CARDS if card not in view.cards)
        cards = tuple(left.pop() if is_hidden(card) else card for card in view.cards)
        return replace(view, cards=cards, bag=tuple(left))

    def plausible(self, state: State, seat: int) -> int:
        weight = 1
        for place, verb in enumerate(state.done):
            other = place % 2
            if other != seat and verb in ("bet", "call"):
                weight *= {"Jack": 1, "Queen": 1, "King": 4}[state.cards[other]]
        return weight

    def mask(self, state: State, seat: int) -> State:
        cards = tuple(card if other == seat else HIDDEN for other, card in enumerate(state.cards))
        return replace(state, cards=cards, bag=tuple(card for card in CARDS if card not in cards))


def result(state: State) -> tuple[int, int]:
    """The winner of a finished hand, and the stake in chips."""
    if state.done[-1] == "fold":
        return len(state.done) % 2, 1
    ranks = [CARDS.index(card) for card in state.cards]
    return int(ranks[1] > ranks[0]), 2 if "call" in state.done else 1
