"""What can happen in Templari."""

from __future__ import annotations

from engine.facts import Fact, Step, fact, put, take
from engine.records import replace
from engine.seats import clockwise
from engine.tell import Text, say

from .cards import Cards
from .state import Auction, State, following, running


@fact
class Laid(Fact[State]):
    """The cards in this game: {cards}."""

    cards: Cards

    def apply(self, state: State) -> State:
        return replace(state, deck=self.cards)


@fact
class RoundBegan(Fact[State]):
    """Round {round} begins. {seat} [starts|start]."""

    round: int
    seat: int
    sellers: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, round=self.round, active=self.seat, sellers=self.sellers)


@fact
class KeptAll(Fact[State]):
    """{seat} [doesn't|don't] sell a card."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, sellers=state.sellers[1:])


@fact
class NotOffered(Fact[State]):
    """{seat} can't sell a card this round."""

    silent = True
    seat: int

    def apply(self, state: State) -> State:
        return replace(state, sellers=state.sellers[1:])


@fact
class PutUp(Fact[State]):
    """{seat} [puts|put] {card} up for sale."""

    seat: int
    card: str

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        bidders = clockwise(self.seat + 1, len(state.coins), without=(self.seat,))
        auction = Auction(bidders[0], bidders, bidders[0], seller=self.seat, card=self.card)
        return replace(state, sellers=state.sellers[1:], auction=auction)


@fact
class TurnedUp(Fact[State]):
    """Lot {round} is turned up: {cards}."""

    round: int
    cards: Cards

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        deck = tuple(card for card in state.deck if card not in self.cards)
        bidders = clockwise(state.active, len(state.coins))
        return replace(state, deck=deck, lot=self.cards, auction=Auction(bidders[0], bidders, bidders[0]))


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {coins}."""

    seat: int
    coins: int

    def step(self) -> Step:
        return Step(bids=((self.seat, self.coins),))

    def apply(self, state: State) -> State:
        auction = running(state)
        turn = following(self.seat, auction.bidders)
        return replace(state, auction=replace(auction, high=self.coins, leader=self.seat, turn=turn))


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def step(self) -> Step:
        return Step(passes=(self.seat,))

    def apply(self, state: State) -> State:
        auction = running(state)
        turn = following(self.seat, auction.bidders)
        bidders = tuple(seat for seat in auction.bidders if seat != self.seat)
        return replace(state, auction=replace(auction, bidders=bidders, turn=turn))


@fact
class Overbid(Fact[State]):
    """{seat} can't pay {coins} and must give up a card. The bidding starts again without {seat}."""

    seat: int
    coins: int

    def step(self) -> Step:
        return Step(adds=((self.seat, say("can't pay")),), ends=True)

    def apply(self, state: State) -> State:
        return replace(state, offender=self.seat, banned=(*state.banned, self.seat))


@fact
class GaveUp(Fact[State]):
    """{seat} [gives|give] up {card}."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        cards = put(state.cards, self.seat, take(state.cards[self.seat], self.card))
        return replace(state, cards=cards, gone=(*state.gone, self.card), offender=None)


@fact
class Reopened(Fact[State]):
    """The bidding starts again. {seat} [opens|open]."""

    seat: int

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        auction = running(state)
        out = state.banned if auction.seller is None else (*state.banned, auction.seller)
        bidders = clockwise(self.seat, len(state.coins), without=out)
        return replace(
            state, auction=replace(auction, opener=self.seat, bidders=bidders, turn=self.seat, high=None, leader=None)
        )


@fact
class Paid(Fact[State]):
    """{seat} [pays|pay] {price:coin|coins}: {each} to {receivers:seats}. In the pot: {pot}."""

    seat: int
    price: int
    receivers: tuple[int, ...]
    each: int
    pot: int

    @property
    def added(self) -> int:
        """What lay in the pot before, and is shared with what is paid."""
        return self.each * len(self.receivers) + self.pot - self.price

    def sentence(self) -> Text:
        share = "{each} each to {receivers:seats}" if len(self.receivers) > 1 else "{each} to {receivers:seats}"
        return say(
            "{seat} [pays|pay] {price}{added}{share}.{pot}",
            seat=self.seat,
            price=say("{price:coin|coins}", price=self.price) if self.price else say("nothing"),
            added=say(", and the pot adds {added}", added=self.added) if self.added and self.each else say(""),
            share=say(f": {share}", each=self.each, receivers=self.receivers) if self.each else say(""),
            pot=say(" In the pot: {pot}.", pot=self.pot) if self.pot else say(""),
        )

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] - self.price)
        for receiver in self.receivers:
            coins = put(coins, receiver, coins[receiver] + self.each)
        return replace(state, coins=coins, pot=self.pot)


@fact
class Took(Fact[State]):
    """{seat} [takes|take] {cards}, perhaps without having bid."""

    seat: int
    cards: Cards
    free: bool = False

    def sentence(self) -> Text:
        if self.free:
            return say("{seat} [takes|take] {cards} for nothing.", seat=self.seat, cards=self.cards)
        return say("{seat} [takes|take] {cards}.", seat=self.seat, cards=self.cards)

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)

    def apply(self, state: State) -> State:
        return replace(
            state,
            cards=put(state.cards, self.seat, state.cards[self.seat] + self.cards),
            active=self.seat,
            lot=(),
            auction=None,
            banned=(),
        )


@fact
class SoldOn(Fact[State]):
    """{seat} [sells|sell] {card} to {buyer:seat} for {price:coin|coins}."""

    seat: int
    buyer: int
    card: str
    price: int

    def step(self) -> Step:
        return Step(ends=True, winner=self.buyer)

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] + self.price)
        coins = put(coins, self.buyer, coins[self.buyer] - self.price)
        cards = put(state.cards, self.seat, take(state.cards[self.seat], self.card))
        cards = put(cards, self.buyer, (*cards[self.buyer], self.card))
        return replace(state, coins=coins, cards=cards, auction=None, banned=())


@fact
class Unsold(Fact[State]):
    """Nobody bids. {seat} [keeps|keep] {card}."""

    seat: int
    card: str

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, auction=None, banned=())


@fact
class Ended(Fact[State]):
    """The last lot is sold. {richest:seats} [scores|score] {bonus:point|points} for having the most coins."""

    richest: tuple[int, ...]
    bonus: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)
