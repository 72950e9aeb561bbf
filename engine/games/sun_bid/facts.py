"""What can happen in Sun Bid."""

from __future__ import annotations

from engine.decks import decktet
from engine.facts import Fact, Step, fact, put, take
from engine.records import replace
from engine.tell import Text, say

from .cards import FOR_SALE, Cards, by_value
from .scoring import in_words
from .state import State, opened, running


@fact
class Dealt(Fact[State]):
    """{seat} [gets|get] {suns}."""

    seat: int
    suns: Cards

    def apply(self, state: State) -> State:
        # Before the deal the stacks lie before the seats in their printed order, so a deal is an exchange.
        place = state.suns.index(self.suns)
        return replace(state, suns=put(put(state.suns, place, state.suns[self.seat]), self.seat, self.suns))


@fact
class RoundBegan(Fact[State]):
    """Round {round} begins. {seat} [goes|go] first with the highest Sun, {sun}."""

    round: int
    seat: int
    sun: str

    def apply(self, state: State) -> State:
        return replace(
            state,
            round=self.round,
            lead=self.seat,
            deck=FOR_SALE * state.terms.copies,
            takes=((),) * len(state.takes),
            pool=(),
            gone=(),
        )


@fact
class Flipped(Fact[State]):
    """{seat} [flips|flip] {card}."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        return replace(state, deck=take(state.deck, self.card), pool=(*state.pool, self.card))


@fact
class Used(Fact[State]):
    """{seat} [uses|use] {card} to take {target} from the pool."""

    seat: int
    card: str
    target: str

    def apply(self, state: State) -> State:
        mine = (*take(state.takes[self.seat], self.card), self.target)
        return replace(
            state,
            takes=put(state.takes, self.seat, mine),
            pool=take(state.pool, self.target),
            gone=(*state.gone, self.card),
        )


@fact
class Called(Fact[State]):
    """{seat} [calls|call] an auction."""

    seat: int

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        return opened(state, called=True)


@fact
class PoolFilled(Fact[State]):
    """The pool is full, so it goes up for auction."""

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        return opened(state, called=False)


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {sun}."""

    seat: int
    sun: str

    def step(self) -> Step:
        return Step(bids=((self.seat, say("{sun}", sun=decktet.name(self.sun))),))

    def apply(self, state: State) -> State:
        auction = running(state)
        return replace(state, auction=replace(auction, bidders=auction.bidders[1:], high=self.sun, leader=self.seat))


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def step(self) -> Step:
        return Step(passes=(self.seat,))

    def apply(self, state: State) -> State:
        auction = running(state)
        return replace(state, auction=replace(auction, bidders=auction.bidders[1:]))


@fact
class Unsold(Fact[State]):
    """Nobody bids. The pool is discarded."""

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, pool=(), gone=state.gone + state.pool, auction=None)


@fact
class Won(Fact[State]):
    """{seat} [wins|win] the pool: {pool}. {sun} goes to the centre, and {seat} [gets|get] {centre} face down."""

    seat: int
    pool: Cards
    sun: str
    centre: str

    def sentence(self) -> Text:
        end = say(
            "{sun} goes to the centre, and {seat} [gets|get] {centre} face down.",
            sun=self.sun,
            centre=self.centre,
            seat=self.seat,
        )
        if not self.pool:
            return say("{seat} [wins|win] the empty pool. {end}", seat=self.seat, end=end)
        return say("{seat} [wins|win] the pool: {pool}. {end}", seat=self.seat, pool=self.pool, end=end)

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)

    def apply(self, state: State) -> State:
        aces = tuple(card for card in self.pool if card in decktet.ACES)
        rest = tuple(card for card in self.pool if card not in decktet.ACES)
        return replace(
            state,
            suns=put(state.suns, self.seat, take(state.suns[self.seat], self.sun)),
            spent=put(state.spent, self.seat, (*state.spent[self.seat], self.centre)),
            centre=self.sun,
            takes=put(state.takes, self.seat, state.takes[self.seat] + rest),
            pool=(),
            auction=replace(running(state), aces=aces) if aces else None,
        )


@fact
class PaidForAces(Fact[State]):
    """{seat} [loses|lose] {cards} to {aces}."""

    seat: int
    aces: Cards
    cards: Cards

    def apply(self, state: State) -> State:
        kept = state.takes[self.seat]
        for card in self.cards:
            kept = take(kept, card)
        gone = (*state.gone, *self.aces, *self.cards)
        return replace(state, takes=put(state.takes, self.seat, kept), gone=gone, auction=None)


@fact
class LeadPassed(Fact[State]):
    """It's {seat's} turn."""

    silent = True
    seat: int

    def apply(self, state: State) -> State:
        return replace(state, lead=self.seat)


@fact
class DeckRanOut(Fact[State]):
    """That was the last card. {seat} can call one last auction."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, lead=self.seat)


@fact
class LetGo(Fact[State]):
    """{seat} [passes|pass], and the pool is discarded."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, pool=(), gone=state.gone + state.pool)


@fact
class RoundEnded(Fact[State]):
    """Round {round} ends."""

    round: int
    spent: bool

    def sentence(self) -> Text:
        if self.spent:
            return say("All Suns are face down: round {round} ends.", round=self.round)
        return say("The deck is empty: round {round} ends.", round=self.round)

    def apply(self, state: State) -> State:
        ready = tuple(by_value(up + down) for up, down in zip(state.suns, state.spent, strict=True))
        return replace(state, suns=ready, spent=((),) * len(ready))


@fact
class Scored(Fact[State]):
    """{seat} [scores|score] for the Sun total, Pawns and Courts, matching ranks and sequences."""

    seat: int
    suns: int
    pawns_and_courts: int
    of_a_kind: int
    sequences: int

    def sentence(self) -> Text:
        if not self.points:
            return say("{seat} [scores|score] nothing.", seat=self.seat)
        parts = (say("{n} for the Sun total", n=self.suns),) if self.suns else ()
        return say(
            "{seat} [scores|score] {points:point|points}: {parts}.",
            seat=self.seat,
            points=self.points,
            parts=parts + in_words(self.pawns_and_courts, self.of_a_kind, self.sequences),
        )

    @property
    def points(self) -> int:
        """All of them together."""
        return self.suns + self.pawns_and_courts + self.of_a_kind + self.sequences

    def apply(self, state: State) -> State:
        return replace(state, scores=put(state.scores, self.seat, state.scores[self.seat] + self.points))


@fact
class Ended(Fact[State]):
    """The game is over."""

    def apply(self, state: State) -> State:
        return replace(state, over=True)
