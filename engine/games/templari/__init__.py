"""Templari

Win cards of the same colour in fifteen auctions. What you pay goes to a rival, and the last digit of your bid decides which
one. The player with the most points wins.

A round. Two cards are turned up and sold as one lot. The start player opens the bidding, and can bid as little as 0. Going
clockwise, bid more or pass; once you pass, you're out of this auction. When everyone else has passed, the highest bidder
wins. If nobody bids, the start player gets the lot for free. The winner starts the next round.

Your own numbers. Your bid can't end in a number you own. With a 2 and a 4 in front of you, you can't bid 2, 4, 12, 14 and so
on.

Paying. The last digit of your bid decides who gets your coins and the pot: the player with the most cards of that number.
Players who tie share the coins equally, and any left over stay in the pot. If nobody has that number, all the others share
the coins. You don't count yourself, and the cards you've just won don't count either.

Bidding more than you have. You can do this to make a rival pay more. But if your bid wins, you pay nothing, get nothing and
give up one of your cards. The lot is auctioned again without you.

Selling a card. Before a lot is turned up, the start player can auction one of their cards to the others if they have 5 coins
or fewer. Bids start at 1, and the seller gets the price. If nobody bids, the seller keeps the card.

The end. After fifteen lots, each colour you have scores 1, 3, 6, 10 or 15 points for one, two, three, four or five cards.
The player with the most coins scores 2 more; if several tie, each of them does. Ties for the win go to the player whose card
numbers add up to more.

Fine print. There are thirty cards: five in each of six colours, with every number from 0 to 9 on three cards of different
colours. Everyone starts with 12 coins. If you don't own any cards, you can't bid more than you have. If only one player is left
when a lot is auctioned again, they get it for free. When a card is sold, the rules about your own numbers and about bidding
more than you have apply too.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.facts import take
from engine.game import Chapter, Game, Lesson, Standing, Story
from engine.options import Options
from engine.seats import clockwise
from engine.tell import Text, say

from . import board, bots, decisions, lessons, scoring
from .cards import BALANCED, COLOURS, faces, random_layout
from .digits import payment, receivers_of
from .examples import EXAMPLES
from .facts import (
    Bid,
    Ended,
    GaveUp,
    KeptAll,
    Laid,
    NotOffered,
    Overbid,
    Paid,
    Passed,
    PutUp,
    Reopened,
    RoundBegan,
    SoldOn,
    Took,
    TurnedUp,
    Unsold,
)
from .state import Auction, State, running
from .terms import (
    CARDS_IN_A_LOT,
    LAYOUT,
    LOTS,
    MONEY,
    MONEY_BONUS,
    OVERBID,
    SIDE_AUCTION,
    SIDE_LIMIT,
    START_MONEY,
    agreed,
)


class Templari(Game[State]):
    """Templari for three to five players."""

    title = "Templari"
    seats = (3, 5)
    options = (OVERBID, SIDE_AUCTION, SIDE_LIMIT, LAYOUT, MONEY, START_MONEY, CARDS_IN_A_LOT, MONEY_BONUS)
    length = say("15 lots, with a few short turns each.")
    mood = say("Sharp bidding: you choose which rival to pay.")
    credits = say(
        "Templari is by Michael Schacht, published by Igiari in 2017. No licence is stated; this page is "
        "our own account of the rules."
    )
    cover = faces(("R7", "B3", "G4"))
    examples = EXAMPLES
    short = {"start_money": 1}
    demo = 3
    demo_options = {}
    # As in `prospect`: very roughly one point for four coins.
    bid_price = Fraction(1, 4)

    def start(self, seats: int, options: Options) -> State:
        return State(agreed(options), BALANCED, (START_MONEY.value_in(options),) * seats, ((),) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        if state.terms.random_layout:
            state = yield Laid(random_layout(draw))
        state = yield self._round(state, draw.below(len(state.coins)))
        yield from self._offer(state, draw)

    def asks(self, view: State, seat: int) -> Decision | None:
        return decisions.asks(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        return decisions.barred(view, seat)

    def caution(self, view: State, seat: int, choice: Choice) -> Text | None:
        return decisions.caution(view, seat, choice)

    def lesson(self, view: State, seat: int) -> Lesson | None:
        return lessons.lesson(view, seat)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        ((seat, choice),) = choices.items()
        if choice.verb == "no":
            state = yield KeptAll(seat)
            yield from self._offer(state, draw)
        elif choice.verb == "sell":
            yield PutUp(seat, choice.text())
        elif choice.verb == "discard":
            state = yield GaveUp(seat, choice.text())
            yield from self._reopen(state, draw)
        else:
            state = yield Bid(seat, choice.number()) if choice.verb == "bid" else Passed(seat)
            yield from self._go_on(state, draw)

    def _round(self, state: State, active: int) -> RoundBegan:
        """Begin the next round, with the seats that may sell a card if they have few enough coins when it is their turn."""
        sellers = (
            ()
            if state.terms.sale_limit is None
            else clockwise(active, len(state.coins))
            if state.terms.all_may_sell
            else (active,)
        )
        return RoundBegan(state.round + 1, active, sellers)

    def _offer(self, state: State, draw: Draw) -> Chapter[State]:
        """Go to the next player who may sell a card, or turn up the lot."""
        limit = -1 if state.terms.sale_limit is None else state.terms.sale_limit
        while state.sellers and not (state.cards[state.sellers[0]] and state.coins[state.sellers[0]] <= limit):
            state = yield NotOffered(state.sellers[0])
        if not state.sellers:
            bag, lot = state.deck, []
            for _ in range(state.terms.lots[state.round - 1]):
                lot.append(draw.pick(bag))
                bag = take(bag, lot[-1])
            state = yield TurnedUp(state.round, tuple(lot))
        return state

    def _go_on(self, state: State, draw: Draw) -> Chapter[State]:
        """Go on after a bid or a pass: with the next bidder, or the end of the auction."""
        auction = running(state)
        if auction.leader is None:
            return state if auction.bidders else (yield from self._nobody_bid(state, auction, draw))
        if len(auction.bidders) > 1:
            return state
        price = auction.high or 0
        if price > state.coins[auction.leader]:
            return (yield Overbid(auction.leader, price))
        return (yield from self._sell(state, auction, auction.leader, price, draw))

    def _nobody_bid(self, state: State, auction: Auction, draw: Draw) -> Chapter[State]:
        if auction.seller is None:
            return (yield from self._take(state, auction.opener, draw, free=True))
        state = yield Unsold(auction.seller, auction.card)
        return (yield from self._offer(state, draw))

    def _sell(self, state: State, auction: Auction, winner: int, price: int, draw: Draw) -> Chapter[State]:
        if auction.seller is not None:
            state = yield SoldOn(auction.seller, winner, auction.card, price)
            return (yield from self._offer(state, draw))
        receivers = receivers_of(price % 10, winner, state.cards)
        each, pot = payment(price, state.pot, len(receivers))
        state = yield Paid(winner, price, receivers, each, pot)
        return (yield from self._take(state, winner, draw))

    def _take(self, state: State, winner: int, draw: Draw, free: bool = False) -> Chapter[State]:
        """Hand over the lot; then comes the next round, or the end."""
        state = yield Took(winner, state.lot, free)
        if state.round == LOTS:
            most = max(state.coins)
            return (
                yield Ended(tuple(seat for seat, coins in enumerate(state.coins) if coins == most), state.terms.bonus)
            )
        state = yield self._round(state, winner)
        return (yield from self._offer(state, draw))

    def _reopen(self, state: State, draw: Draw) -> Chapter[State]:
        """Auction the same cards again, without the players who could not pay."""
        auction = running(state)
        first = state.active if auction.seller is None else auction.seller + 1
        out = state.banned if auction.seller is None else (*state.banned, auction.seller)
        left = clockwise(first, len(state.coins), without=out)
        if not left:
            return (yield from self._nobody_bid(state, auction, draw))
        if len(left) == 1 and auction.seller is None:
            return (yield from self._take(state, left[0], draw, free=True))
        return (yield Reopened(left[0]))

    def standing(self, state: State) -> Standing:
        return scoring.standing(state)

    def board(self, view: State, seat: int) -> Board:
        return board.show(view, seat)

    def longest(self, seats: int, options: Options) -> int:
        # An auction has at most one bid for each coin in the game and one pass for each player. Every bid that cannot be
        # paid begins another auction, at most once for each player and lot. Before a lot every player may hold a sale.
        bidding = START_MONEY.value_in(options) * seats + 1 + seats
        return LOTS * (seats + 1) * seats * (bidding + 2)

    def tally(self, state: State) -> Mapping[str, int]:
        owned = sum(map(len, state.cards))
        return {"coins": sum(state.coins) + state.pot, "cards": owned + len((*state.deck, *state.gone, *state.lot))}

    def prospect(self, state: State, seat: int) -> int:
        return bots.prospect(state, seat)

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice | None:
        return bots.quick(view, decision, draw)

    def word(self, value: Any) -> str:
        text = str(value)
        return f"{COLOURS[text[0]]} {text[1]}" if len(text) == 2 and text[0] in COLOURS else text
