"""Thieves

A toy for the tests of the kit, with hidden hands and a theft that only two players see. All play a card face down; the
highest wins the round and steals a random card from the next player.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.board import Board, Face, Panel, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision, OneOf, Thing
from engine.facts import SPECTATOR, Fact, fact, is_hidden, put, secret, take
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.tell import say

Cards = tuple[Any, ...]

DECK: Final[Cards] = tuple(range(101, 125))
HAND: Final = 4
ROUNDS: Final = 6


@fact
class State:
    """The bag has the cards that were not dealt; in a view, those that the reader cannot place."""

    bag: Cards
    hands: tuple[Cards, ...]
    points: tuple[int, ...]
    played: Cards = ()
    rounds: int = 0


@fact
class Dealt(Fact[State]):
    """{seat} [is|are] dealt {cards}."""

    seat: int
    cards: Cards = secret()

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.seat, state.hands[self.seat] + self.cards)
        return replace(state, bag=without(state.bag, self.cards), hands=hands)


@fact
class Played(Fact[State]):
    """All turn up their cards: {cards}."""

    cards: Cards

    def apply(self, state: State) -> State:
        hands = tuple(take(hand, card) for hand, card in zip(state.hands, self.cards, strict=True))
        bag = without(state.bag, self.cards)
        return replace(state, hands=hands, bag=bag, played=state.played + self.cards, rounds=state.rounds + 1)


@fact
class Won(Fact[State]):
    """{seat} [wins|win] the round."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, points=put(state.points, self.seat, state.points[self.seat] + 1))


@fact
class Stolen(Fact[State]):
    """{thief:seat} [steals|steal] {card} from {victim:seat}."""

    thief: int
    victim: int
    card: Any = secret("thief", "victim")

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.victim, take(state.hands[self.victim], self.card))
        hands = put(hands, self.thief, (*hands[self.thief], self.card))
        return replace(state, hands=hands, bag=without(state.bag, (self.card,)))


def without(bag: Cards, cards: Cards) -> Cards:
    """The bag without these cards; what is hidden stays where it was."""
    return tuple(card for card in bag if card not in cards)


class Thieves(Game[State]):
    """Thieves for two to four players."""

    title = "Thieves"
    seats = (2, 4)
    length = say("Six rounds.")
    credits = say("A toy.")
    hidden = ("a card", "cards")

    def start(self, seats: int, options: Options) -> State:
        return State(DECK, ((),) * seats, (0,) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat in range(len(state.points)):
            state = yield Dealt(seat, tuple(draw.shuffle(state.bag)[:HAND]))

    def asks(self, view: State, seat: int) -> Decision | None:
        if over(view):
            return None
        cards = tuple(Thing(card, f"card {card - 100}") for card in sorted(view.hands[seat]))
        return Decision(
            seat,
            say("Which card do you play?"),
            (Act("play", (OneOf("card", cards),)),),
            default=Choice("play", (cards[0].value,)),
            topic="round",
        )

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        cards = tuple(choices[seat].number() for seat in sorted(choices))
        state = yield Played(cards)
        best = cards.index(max(cards))
        state = yield Won(best)
        victim = (best + 1) % len(cards)
        if state.hands[victim]:
            yield Stolen(best, victim, draw.pick(state.hands[victim]))

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((points,) for points in state.points)) if over(state) else Standing(state.points)

    def board(self, view: State, seat: int) -> Board:
        mine: tuple[Part, ...] = () if seat == SPECTATOR else (Row(say("Your hand"), faces(view.hands[seat])),)
        return Board(
            say("Thieves"),
            say("Round {round} of {rounds}", round=view.rounds + 1, rounds=ROUNDS),
            (Row(say("Played"), faces(view.played)),),
            mine,
            tuple(
                Panel(i, ((say("points"), points), (say("cards"), len(view.hands[i]))))
                for i, points in enumerate(view.points)
            ),
        )

    def longest(self, seats: int, options: Options) -> int:
        return ROUNDS + 1

    def tally(self, state: State) -> Mapping[str, int]:
        return {"cards": len(state.bag) + len(state.played) + sum(map(len, state.hands))}

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        hidden = [len([card for card in hand if is_hidden(card)]) for hand in view.hands]
        known = {card for hand in view.hands for card in hand if not is_hidden(card)}
        left = draw.shuffle(card for card in DECK if card not in known and card not in view.played)
        hands = []
        for hand, many in zip(view.hands, hidden, strict=True):
            dealt, left = left[:many], left[many:]
            hands.append((*(card for card in hand if not is_hidden(card)), *dealt))
        return replace(view, hands=tuple(hands), bag=tuple(left))

    def word(self, value: Any) -> str:
        return f"card {value - 100}" if value in DECK else str(value)


def over(state: State) -> bool:
    """Whether the last round has been played, or a player has no card left."""
    return state.rounds == ROUNDS or (state.rounds > 0 and not all(map(len, state.hands)))


def faces(cards: Cards) -> tuple[Face, ...]:
    """The cards as they lie or are held."""
    return tuple(Face("card", str(card), "a card" if is_hidden(card) else f"card {card - 100}") for card in cards)
