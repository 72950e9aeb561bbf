"""What can happen in Sorcerous Futures."""

from __future__ import annotations

from engine.decks.decktet import CROWNS, EXCUSE
from engine.facts import Fact, Step, fact, is_hidden, put, secret, take
from engine.records import replace
from engine.seats import clockwise, left_of
from engine.tell import Text, say

from .cards import MARKERS, Cards, without
from .state import Answer, Auction, State, crowned, running
from .words import crowns_sentence, worths_sentence


@fact
class TookExcuse(Fact[State]):
    """{seat} [has|have] the Excuse."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, excuse=self.seat)


@fact
class GotAces(Fact[State]):
    """{seat} [gets|get] {aces}."""

    seat: int
    aces: Cards

    def apply(self, state: State) -> State:
        return replace(state, aces=put(state.aces, self.seat, self.aces))


@fact
class KeptCrown(Fact[State]):
    """{seat} [keeps|keep] {crown}."""

    seat: int
    crown: str = secret()

    def apply(self, state: State) -> State:
        return replace(state, down=crowned(state.down, self.seat, self.crown))


@fact
class GaveCrown(Fact[State]):
    """{seat} [gives|give] {crown} to {to:seat}."""

    seat: int
    to: int
    crown: str = secret("seat", "to")

    def apply(self, state: State) -> State:
        return replace(state, down=crowned(state.down, self.to, self.crown))


@fact
class SawSeven(Fact[State]):
    """{seat} [sees|see] the seven cards that go under the Aces and the Excuse: {cards}."""

    seat: int
    cards: Cards = secret()

    def sentence(self) -> Text:
        """The sentence, with the cards themselves for the player who saw them."""
        line = "{seat} [sees|see] the seven cards that go under the Aces and the Excuse"
        if any(map(is_hidden, self.cards)):
            return say(f"{line}.", seat=self.seat)
        return say(f"{line}: {{cards}}.", seat=self.seat, cards=self.cards)

    def apply(self, state: State) -> State:
        return replace(state, down=replace(state.down, seven=self.cards))


@fact
class Looked(Fact[State]):
    """{seat} [looks|look] under {markers}: {cards}."""

    seat: int
    markers: Cards
    cards: Cards = secret()

    def sentence(self) -> Text:
        """The sentence, with the cards themselves for the player who looked."""
        if any(map(is_hidden, self.cards)):
            return say("{seat} [looks|look] under {markers}.", seat=self.seat, markers=self.markers)
        found = tuple(
            say("{card} under {marker}", marker=marker, card=card)
            for marker, card in zip(self.markers, self.cards, strict=True)
        )
        return say("{seat} [finds|find] {found}.", seat=self.seat, found=found)

    def apply(self, state: State) -> State:
        valuations = state.down.valuations
        for marker, card in zip(self.markers, self.cards, strict=True):
            valuations = put(valuations, MARKERS.index(marker), card)
        return replace(state, down=replace(state.down, valuations=valuations), bag=without(state.bag, self.cards))


@fact
class Began(Fact[State]):
    """{seat} [has|have] the Ace of Suns and [sells|sell] first."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, active=self.seat)


@fact
class ExcuseTurnedUp(Fact[State]):
    """The card under the Excuse is turned up: {card}."""

    card: str

    def apply(self, state: State) -> State:
        valuations = put(state.down.valuations, MARKERS.index(EXCUSE), self.card)
        return replace(state, down=replace(state.down, valuations=valuations), bag=take(state.bag, self.card))


@fact
class TurnedUp(Fact[State]):
    """Group {group} of 4 goes on sale: {cards}."""

    group: int
    cards: Cards

    def apply(self, state: State) -> State:
        return replace(state, group=self.group, row=self.cards, bag=without(state.bag, self.cards))


@fact
class Opened(Fact[State]):
    """{seat} [puts|put] {card} up for open auction and [bids|bid] {gold}."""

    seat: int
    card: str
    gold: int

    def step(self) -> Step:
        return Step(opens=True, bids=((self.seat, self.gold),))

    def apply(self, state: State) -> State:
        # The seller speaks last, and only if someone has bid more.
        order = clockwise(self.seat + 1, len(state.gold))
        return replace(state, auction=Auction(self.card, self.seat, self.gold, order))


@fact
class Closed(Fact[State]):
    """{seat} [puts|put] {card} up for closed auction."""

    seat: int
    card: str

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        order = clockwise(self.seat, len(state.gold))
        return replace(state, auction=Auction(self.card, self.seat, 0, order, closed=True))


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {gold}."""

    seat: int
    gold: int

    def step(self) -> Step:
        return Step(bids=((self.seat, self.gold),))

    def apply(self, state: State) -> State:
        auction = running(state)
        waiting = auction.waiting[1:]
        answers = (*state.answers, Answer(self.seat, auction.card, self.gold, passed=False, sealed=False))
        auction = replace(auction, leader=self.seat, high=self.gold, waiting=waiting)
        return replace(state, auction=auction, answers=answers)


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def step(self) -> Step:
        return Step(passes=(self.seat,))

    def apply(self, state: State) -> State:
        auction = running(state)
        answers = (*state.answers, Answer(self.seat, auction.card, auction.high, passed=True, sealed=False))
        return replace(state, auction=replace(auction, waiting=auction.waiting[1:]), answers=answers)


@fact
class BidsShown(Fact[State]):
    """Bids for {card}: {bids}."""

    card: str
    bids: tuple[int, ...]

    def sentence(self) -> Text:
        """Every bid with its bidder."""
        bids = tuple(say("{gold} from {seat}", gold=gold, seat=seat) for seat, gold in enumerate(self.bids))
        return say("Bids for {card}: {bids}.", card=self.card, bids=bids)

    def step(self) -> Step:
        return Step(bids=tuple(enumerate(self.bids)))

    def apply(self, state: State) -> State:
        # A bid of all one's gold says nothing about the card, nor does having none.
        free = [seat for seat, gold in enumerate(self.bids) if gold < state.gold[seat]]
        answers = (Answer(seat, self.card, self.bids[seat], passed=False, sealed=True) for seat in free)
        return replace(state, answers=(*state.answers, *answers))


@fact
class Bought(Fact[State]):
    """{seat} [buys|buy] {card} for {gold} gold."""

    seat: int
    card: str
    gold: int

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)

    def apply(self, state: State) -> State:
        return replace(
            state,
            gold=put(state.gold, self.seat, state.gold[self.seat] - self.gold),
            bank=state.bank + self.gold,
            bought=put(state.bought, self.seat, (*state.bought[self.seat], self.card)),
            row=take(state.row, self.card),
            active=left_of(state.active, len(state.gold)),
            auction=None,
        )


@fact
class Revealed(Fact[State]):
    """Everything is revealed. Suit values: {valuations}. Crowns: {crowns}."""

    valuations: Cards
    crowns: Cards

    def sentence(self) -> Text:
        """The value of every suit, and whose Crown was which."""
        return say(
            "Everything is revealed. {worths} {crowns}",
            worths=worths_sentence(self.valuations),
            crowns=crowns_sentence(self.crowns),
        )

    def apply(self, state: State) -> State:
        aside = without(CROWNS, self.crowns)
        down = replace(state.down, valuations=self.valuations, crowns=self.crowns, aside=aside)
        return replace(state, down=down, bag=without(state.bag, self.valuations), over=True)
