"""Templari

Fifteen lots of cards come up for sale. What you pay goes to whoever holds the number you paid with, so every coin you
spend arms a rival, and a bid you cannot pay costs you a card.

The cards. Thirty cards in six colours, five of each. Every number from 0 to 9 stands on three cards; no colour has a
number twice. Everybody begins with 12 coins.

A round. The start player may first sell a card, if short of coins. Then two cards are turned up, and are sold together
as one lot.

The bidding. The start player opens; 0 is a bid. Then, clockwise, each player bids more or passes, and who has passed is
out of this auction. The last digit of a bid may not be a number on a card you own: with a 2 and a 4 in front of you
there is no 12 and no 4 for you. When all others have passed the highest bidder has won. If nobody bids at all the start
player takes the lot for nothing.

Overbidding. You may bid more than you have, as long as nobody lets you have it: if such a bid wins, you pay nothing and
get nothing, you give up one of your cards for good, and the lot is auctioned again without you. If that leaves a single
player, the lot is free. Without a card you may not bid more than you own.

Paying. The last digit of your bid is the number that is paid. The player with the most cards of that number takes your
coins and the pot; if several are tied they share, and what cannot be shared stays in the pot. You yourself never count,
and neither do the cards you just bought. If nobody else has the number, all others share.

Next. The winner of the lot starts the next round.

A card for sale. A start player with a card and with 5 coins or fewer may auction one of their cards to the others before
the lot is turned up. The least bid is 1, the digit rule and overbidding are as above, and the price goes to the seller.
If nobody bids, the card stays where it is.

The end. After fifteen lots, one to five cards of a colour score 1, 3, 6, 10 and 15 points, and the most coins 2 more
(for each, if tied). The most points win; a tie goes to the higher sum of numbers on the cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any, Final

from engine.board import Amounts, Board, Face, Grid, Line, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Thing
from engine.facts import SPECTATOR, Fact, fact, put, take
from engine.game import Chapter, Game, Listed, Number, Options, Standing, Story
from engine.seats import clockwise
from engine.tell import Text, say

Cards = tuple[str, ...]

COLOURS: Final = {
    "R": "Red",
    "B": "Blue",
    "G": "Green",
    "Y": "Yellow",
    "P": "Purple",
    "W": "White",
}

# Every two colours share exactly two numbers and the colours' sums are 22 or 23, so that neither the digit rule nor the
# tie-break by sum favours a colour. The published make-up is not known.
BALANCED: Final[Cards] = tuple(
    colour + number
    for colour, numbers in zip("RBGYPW", ("13478", "02389", "12469", "04568", "01579", "23567"), strict=True)
    for number in numbers
)

LEAST_SIDE_BID: Final = 1
DIGITS: Final = frozenset(range(10))
LOTS: Final = 15


@fact
class Auction:
    """A bidding that is going on. Without a seller it is the main auction of the round."""

    opener: int
    bidders: tuple[int, ...]
    turn: int
    high: int | None = None
    leader: int | None = None
    seller: int | None = None
    card: str = ""


@fact
class Terms:
    """What was agreed before the game. A player with more coins than `sale_limit` may not sell a card; None: nobody."""

    sale_limit: int | None
    all_may_sell: bool
    overbids: bool
    open_money: bool
    lots: tuple[int, ...]
    bonus: int
    random_layout: bool


@fact
class State:
    """A table of Templari. `deck` has no order: a card has no place until it is turned up."""

    terms: Terms
    deck: Cards
    coins: tuple[int, ...]
    cards: tuple[Cards, ...]
    pot: int = 0
    active: int = 0
    round: int = 0
    lot: Cards = ()
    gone: Cards = ()
    sellers: tuple[int, ...] = ()
    auction: Auction | None = None
    offender: int | None = None
    banned: tuple[int, ...] = ()
    over: bool = False


# What can happen.


@fact
class Laid(Fact[State]):
    """The cards of this game are {cards}."""

    cards: Cards

    def apply(self, state: State) -> State:
        return replace(state, deck=self.cards)


@fact
class RoundBegan(Fact[State]):
    """Round {round} begins; {seat} [is|are] the start player."""

    round: int
    seat: int
    sellers: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, round=self.round, active=self.seat, sellers=self.sellers)


@fact
class KeptAll(Fact[State]):
    """{seat} [sells|sell] nothing."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, sellers=state.sellers[1:])


@fact
class NotOffered(Fact[State]):
    """{seat} may not sell a card in this round."""

    silent = True
    seat: int

    def apply(self, state: State) -> State:
        return replace(state, sellers=state.sellers[1:])


@fact
class PutUp(Fact[State]):
    """{seat} [puts|put] {card} up for sale."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        bidders = clockwise(self.seat + 1, len(state.coins), without=(self.seat,))
        auction = Auction(bidders[0], bidders, bidders[0], seller=self.seat, card=self.card)
        return replace(state, sellers=state.sellers[1:], auction=auction)


@fact
class TurnedUp(Fact[State]):
    """{cards} come up as lot {round}."""

    round: int
    cards: Cards

    def apply(self, state: State) -> State:
        deck = tuple(card for card in state.deck if card not in self.cards)
        bidders = clockwise(state.active, len(state.coins))
        return replace(
            state,
            deck=deck,
            lot=self.cards,
            auction=Auction(bidders[0], bidders, bidders[0]),
        )


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {coins}."""

    seat: int
    coins: int

    def apply(self, state: State) -> State:
        auction = running(state)
        turn = following(self.seat, auction.bidders)
        return replace(
            state,
            auction=replace(auction, high=self.coins, leader=self.seat, turn=turn),
        )


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def apply(self, state: State) -> State:
        auction = running(state)
        turn = following(self.seat, auction.bidders)
        bidders = tuple(seat for seat in auction.bidders if seat != self.seat)
        return replace(state, auction=replace(auction, bidders=bidders, turn=turn))


@fact
class Overbid(Fact[State]):
    """{seat} cannot pay {coins} and must give up a card; the bidding will start again without {seat}."""

    seat: int
    coins: int

    def apply(self, state: State) -> State:
        return replace(state, offender=self.seat, banned=(*state.banned, self.seat))


@fact
class GaveUp(Fact[State]):
    """{seat} [gives|give] up {card}, which is out of the game."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        cards = put(state.cards, self.seat, take(state.cards[self.seat], self.card))
        return replace(state, cards=cards, gone=(*state.gone, self.card), offender=None)


@fact
class Reopened(Fact[State]):
    """The bidding starts again; {seat} [opens|open] it."""

    seat: int

    def apply(self, state: State) -> State:
        auction = running(state)
        out = state.banned if auction.seller is None else (*state.banned, auction.seller)
        bidders = clockwise(self.seat, len(state.coins), without=out)
        return replace(
            state,
            auction=replace(
                auction,
                opener=self.seat,
                bidders=bidders,
                turn=self.seat,
                high=None,
                leader=None,
            ),
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
            "{seat} [pays|pay] {price:coin|coins}{added}{share}.{pot}",
            seat=self.seat,
            price=self.price,
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

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] + self.price)
        coins = put(coins, self.buyer, coins[self.buyer] - self.price)
        cards = put(state.cards, self.seat, take(state.cards[self.seat], self.card))
        cards = put(cards, self.buyer, (*cards[self.buyer], self.card))
        return replace(state, coins=coins, cards=cards, auction=None, banned=())


@fact
class Unsold(Fact[State]):
    """Nobody bids; {seat} [keeps|keep] {card}."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        return replace(state, auction=None, banned=())


@fact
class Ended(Fact[State]):
    """The last lot is sold. The most coins bring {bonus:point|points} to {richest:seats}."""

    richest: tuple[int, ...]
    bonus: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)


# The arithmetic of the rules.


def worth_of_colours(cards: Cards) -> int:
    """Points for the cards: n cards of a colour are worth 1 + 2 + ... + n."""
    return sum(n * (n + 1) // 2 for n in Counter(colour(card) for card in cards).values())


def sum_of_numbers(cards: Cards) -> int:
    """What decides a tie."""
    return sum(map(number, cards))


def endings_allowed(cards: Cards) -> frozenset[int]:
    """The last digits that the owner of these cards may bid."""
    return DIGITS - {number(card) for card in cards}


def receivers_of(digit: int, winner: int, cards: tuple[Cards, ...]) -> tuple[int, ...]:
    """Who shares what the winner pays: the others with the most cards of the digit, or all others if there are none."""
    held = {seat: sum(number(card) == digit for card in own) for seat, own in enumerate(cards) if seat != winner}
    most = max(held.values())
    return tuple(seat for seat, many in held.items() if many == most)


def _endings_said(barred: tuple[int, ...]) -> Line:
    """In which digits a bid may not end."""
    if barred:
        return Line(say("Your bids may not end in {digits:or}.", digits=barred))
    return Line(say("Your bids may end in any digit."))


def payment(price: int, pot: int, receivers: int) -> tuple[int, int]:
    """What each receiver gets, and what remains in the pot."""
    return divmod(price + pot, receivers)


def cheapest_loss(cards: Cards) -> str:
    """The card whose loss costs least: fewest colour points, then lowest number, then the order of the colours."""

    def cost(card: str) -> tuple[int, int, int]:
        return (
            worth_of_colours(cards) - worth_of_colours(take(cards, card)),
            number(card),
            list(COLOURS).index(colour(card)),
        )

    return min(cards, key=cost)


def random_layout(draw: Draw) -> Cards:
    """Any make-up of the cards: six colours of five different numbers, each number three times, all equally likely.

    All layouts are numbered, colour by colour; one of the numbers is drawn.
    """
    left: tuple[int, ...] = (3,) * 10
    cards: list[str] = []
    which = draw.below(layouts(6, left))
    for rows, letter in zip(range(5, -1, -1), COLOURS, strict=True):
        for hand in combinations(range(10), 5):
            rest = tuple(copies - (n in hand) for n, copies in enumerate(left))
            if which < (ways := layouts(rows, tuple(sorted(rest)))):
                break
            which -= ways
        left = rest
        cards += [f"{letter}{n}" for n in hand]
    return tuple(cards)


@cache
def layouts(colours: int, copies: tuple[int, ...]) -> int:
    """In how many ways these copies of the ten numbers can be laid out in so many colours."""
    if min(copies) < 0 or sum(copies) != 5 * colours:
        return 0
    if colours == 0:
        return 1
    rests = (tuple(sorted(c - (n in hand) for n, c in enumerate(copies))) for hand in combinations(range(10), 5))
    return sum(layouts(colours - 1, rest) for rest in rests)


def colour(card: str) -> str:
    """The colour letter of a card."""
    return card[0]


def number(card: str) -> int:
    """The number on a card."""
    return int(card[1])


def following(seat: int, bidders: tuple[int, ...]) -> int:
    """Whose turn it is after this bidder's."""
    return bidders[(bidders.index(seat) + 1) % len(bidders)]


def running(state: State) -> Auction:
    """The bidding that is going on."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


def most_one_may_bid(seat: int, state: State) -> int:
    """All the coins in the game for whoever could give up a card for the bluff, else what the player has."""
    if state.terms.overbids and state.cards[seat]:
        return sum(state.coins) + state.pot
    return state.coins[seat]


def faces(cards: Cards) -> tuple[Face, ...]:
    """The cards as they lie on the table."""
    return tuple(Face("shield", card, f"{COLOURS[card[0]]} {card[1]}") for card in sorted(cards, key=_place))


def things(cards: Cards) -> tuple[Thing, ...]:
    """The cards as they are named in a choice."""
    return tuple(Thing(card, f"{COLOURS[card[0]]} {card[1]}") for card in sorted(cards, key=_place))


def _place(card: str) -> tuple[int, str]:
    return list(COLOURS).index(card[0]), card[1]


class Templari(Game[State]):
    """Templari for three to five players."""

    title = "Templari"
    seats = (3, 5)
    options = (
        Listed(
            "overbid",
            say("Bids above one's coins"),
            "allowed",
            (("allowed", say("allowed")), ("forbidden", say("forbidden"))),
            say("May one bid more coins than one has?"),
        ),
        Listed(
            "side_auction",
            say("Who may sell a card"),
            "active",
            (("active", say("the start player")), ("any", say("anybody")), ("off", say("nobody"))),
            say("Who may sell a card before a round?"),
        ),
        Number(
            "side_limit",
            say("Coins of a seller at most"),
            5,
            0,
            60,
            say("With how many coins at most one may sell a card."),
        ),
        Listed(
            "layout",
            say("Numbers on the colours"),
            "fixed",
            (("fixed", say("balanced")), ("random", say("drawn"))),
            say("Which numbers stand in which colour: the balanced table, or drawn."),
        ),
        Listed(
            "money",
            say("The others' coins"),
            "hidden",
            (("hidden", say("hidden")), ("open", say("shown"))),
            say("Are the others' coins shown?"),
        ),
        Number("start_money", say("Coins at the start"), 12, 1, 60, say("How many coins everybody begins with.")),
        Listed(
            "lots",
            say("Cards in a lot"),
            "2",
            (("2", say("always two")), ("1-2-3", say("one, two and three in turn"))),
            say("How many cards are sold together."),
        ),
        Number(
            "money_bonus",
            say("Points for the most coins"),
            2,
            0,
            10,
            say("What whoever has the most coins in the end scores for them."),
        ),
    )
    length = say("15 lots; a few short turns for each.")
    credits = say(
        "Templari is a design by Michael Schacht, published by Igiari in 2017. No licence is stated; "
        "this page is our own account of it."
    )
    cover = faces(("R7", "B3", "G4"))
    short = {"start_money": 1}

    def start(self, seats: int, options: Options) -> State:
        selling = options["side_auction"]
        terms = Terms(
            sale_limit=None if selling == "off" else int(options["side_limit"]),
            all_may_sell=selling == "any",
            overbids=options["overbid"] == "allowed",
            open_money=options["money"] == "open",
            lots=(2,) * LOTS if options["lots"] == "2" else (1, 2, 3) * (LOTS // 3),
            bonus=int(options["money_bonus"]),
            random_layout=options["layout"] == "random",
        )
        return State(terms, BALANCED, (int(options["start_money"]),) * seats, ((),) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        if state.terms.random_layout:
            state = yield Laid(random_layout(draw))
        state = yield self._round(state, draw.below(len(state.coins)))
        yield from self._offer(state, draw)

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over:
            return None
        if view.offender is not None:
            return self._ask_for_a_card(view, seat) if seat == view.offender else None
        if view.auction is not None:
            return self._ask_for_a_bid(view, view.auction, seat) if seat == view.auction.turn else None
        return self._ask_to_sell(view, seat) if seat == view.sellers[0] else None

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        if view.offender is not None:
            return {"bid": say("You won with a bid that you cannot pay; first you give up a card.")}
        if view.auction is None:
            return {"bid": say("The lot is not turned up yet.")}
        if view.terms.sale_limit is None:
            return {}
        if view.auction.seller is not None:
            return {"sell": say("Another card is being sold.")}
        return {"sell": say("Cards are sold only before the lot is turned up.")}

    def _ask_to_sell(self, view: State, seat: int) -> Decision:
        return Decision(
            seat,
            say(
                "Do you sell one of your cards before lot {round} comes up?",
                round=view.round,
            ),
            (Act("no"), Act("sell", (OneOf("card", things(view.cards[seat])),))),
            default=Choice("no"),
            topic=f"sale {view.round}",
            public=True,
        )

    def _ask_for_a_bid(self, view: State, auction: Auction, seat: int) -> Decision:
        low = auction.high + 1 if auction.high is not None else 0 if auction.seller is None else LEAST_SIDE_BID
        most = most_one_may_bid(seat, view)
        why = say(
            "You have {coins:coin|coins}, and no bid may end in a number you own.",
            coins=view.coins[seat],
        )
        bid = Amount("coins", low, most, endings_allowed(view.cards[seat]), raising=True, why=why)
        what = (auction.card,) if auction.seller is not None else view.lot
        if auction.high is None:
            prompt = say("What do you bid for {what}? Nobody has bid yet.", what=what)
        else:
            prompt = say("Do you bid more than {high} for {what}?", high=auction.high, what=what)
        return Decision(
            seat,
            prompt,
            (Act("pass"), *((Act("bid", (bid,)),) if bid.count() else ())),
            default=Choice("pass"),
            topic=f"lot {view.round}" if auction.seller is None else f"sale {view.round} {auction.card}",
            public=True,
        )

    def _ask_for_a_card(self, view: State, seat: int) -> Decision:
        return Decision(
            seat,
            say("You cannot pay your bid. Which card do you give up?"),
            (Act("discard", (OneOf("card", things(view.cards[seat])),)),),
            default=Choice("discard", (cheapest_loss(view.cards[seat]),)),
            topic=f"lot {view.round}",
            public=True,
        )

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
        """The start of the next round, with those who may sell a card in it if they are poor enough in their turn."""
        sellers = (
            ()
            if state.terms.sale_limit is None
            else clockwise(active, len(state.coins))
            if state.terms.all_may_sell
            else (active,)
        )
        return RoundBegan(state.round + 1, active, sellers)

    def _offer(self, state: State, draw: Draw) -> Chapter[State]:
        """Ask the next player who may sell a card, or turn up the lot."""
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
        """After a bid or a pass: the next bidder, or the end of this bidding."""
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
        """The lot changes hands; then the next round, or the end."""
        state = yield Took(winner, state.lot, free)
        if state.round == LOTS:
            most = max(state.coins)
            return (
                yield Ended(
                    tuple(seat for seat, coins in enumerate(state.coins) if coins == most),
                    state.terms.bonus,
                )
            )
        state = yield self._round(state, winner)
        return (yield from self._offer(state, draw))

    def _reopen(self, state: State, draw: Draw) -> Chapter[State]:
        """The bidding for the same cards again, without those who could not pay."""
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
        points = tuple(map(worth_of_colours, state.cards))
        if not state.over:
            return Standing(points)
        most = max(state.coins)
        scores = tuple(p + state.terms.bonus * (c == most) for p, c in zip(points, state.coins, strict=True))
        sums = tuple(map(sum_of_numbers, state.cards))
        return Standing.by(
            tuple(zip(scores, sums, strict=True)),
            (say("the sum of the numbers on the cards"),),
        )

    def board(self, view: State, seat: int) -> Board:
        return Board(
            title=say("Templari, lot {round} of {lots}", round=view.round, lots=LOTS),
            turn=self._turn(view),
            up=self._up(view),
            mine=self._mine(view, seat) if seat != SPECTATOR else (),
            others=tuple(
                Row(say("{seat}", seat=other), faces(view.cards[other]))
                for other in clockwise(seat + 1, len(view.coins), without=(seat,))
            ),
            scores=(self._scores(view),),
        )

    def _turn(self, view: State) -> Text:
        if view.over:
            return say("The game is over.")
        if view.offender is not None:
            return say("{seat} must give up a card.", seat=view.offender)
        if view.auction is None:
            return say("{seat} may sell a card before the lot comes up.", seat=view.sellers[0])
        if view.auction.leader is None:
            return say(
                "It is {seat's} turn to bid. Nobody has bid yet.",
                seat=view.auction.turn,
            )
        return say(
            "It is {seat's} turn to bid. The high bid is {high}, by {leader:seat}.",
            seat=view.auction.turn,
            high=view.auction.high,
            leader=view.auction.leader,
        )

    def _up(self, view: State) -> tuple[Part, ...]:
        parts: list[Part] = []
        if view.auction is not None and view.auction.seller is not None:
            parts.append(
                Row(
                    say("For sale by {seat}", seat=view.auction.seller),
                    faces((view.auction.card,)),
                )
            )
        if view.lot:
            parts.append(Row(say("The lot"), faces(view.lot)))
        if view.auction is not None:
            parts.append(Line(say("Still bidding: {seats:seats}.", seats=view.auction.bidders)))
        parts.append(
            Amounts(
                (
                    (say("coins in the pot"), view.pot),
                    (say("cards to come"), len(view.deck)),
                )
            )
        )
        return tuple(parts)

    def _mine(self, view: State, seat: int) -> tuple[Part, ...]:
        barred = tuple(sorted(DIGITS - endings_allowed(view.cards[seat])))
        return (
            Amounts(((say("coins"), view.coins[seat]),)),
            Row(say("cards"), faces(view.cards[seat])),
            *(() if view.over else (_endings_said(barred),)),
        )

    def _scores(self, view: State) -> Grid:
        scores = self.standing(view).scores
        coins = (say("coins"),) if view.terms.open_money or view.over else ()
        return Grid(
            (say("points"), say("cards"), *coins),
            tuple(
                (
                    seat,
                    (
                        scores[seat],
                        len(view.cards[seat]),
                        *((view.coins[seat],) if coins else ()),
                    ),
                )
                for seat in range(len(view.coins))
            ),
        )

    def longest(self, seats: int, options: Options) -> int:
        # A bidding has at most one bid per coin of the game and one pass a player; every offence begins another, and
        # each player offends at most once a lot. Before each lot every player may hold such a sale too.
        bidding = int(options["start_money"]) * seats + 1 + seats
        return LOTS * (seats + 1) * seats * (bidding + 2)

    def tally(self, state: State) -> Mapping[str, int]:
        owned = sum(map(len, state.cards))
        return {
            "coins": sum(state.coins) + state.pot,
            "cards": owned + len((*state.deck, *state.gone, *state.lot)),
        }

    def prospect(self, state: State, seat: int) -> int:
        # A coin is worth a little: it buys points later, at very roughly a point for four.
        worth = [4 * points + coins for points, coins in zip(self.standing(state).scores, state.coins, strict=True)]
        return worth[seat] - max(worth[:seat] + worth[seat + 1 :])

    def word(self, value: Any) -> str:
        text = str(value)
        return f"{COLOURS[text[0]]} {text[1]}" if len(text) == 2 and text[0] in COLOURS else text
