"""Sun Bid

You bid with Suns, and you have only a few. The Sun you win with goes to the middle of the table, where the next winner
picks it up; so a strong bid today arms somebody tomorrow, and every card turned up is a small dare: one more, or call
the auction now?

The Suns. They are your money: Ace 1, Desert 2, Painter 3, Mountain 4, Discovery 5, Penitent 6, Castle 7, Diplomat 8,
Pact 9, Harvest 10, Lightkeeper 11, Window 12, Bard 13. Two players share the Suns from 2 to 9, three or four players
those from 2 to 13. The Ace lies in the centre at first. Only this number counts on a Sun; its other suits do not.

The cards for sale. All cards without a Sun: Aces, numbers from 2 to 9, Crowns, two Pawns and two Courts. That makes 30
cards for two players, and twice as many for three or four. What you win is your take.

A turn. The one whose turn it is does one of three things: flip the top card of the deck into the pool; call an auction
of the pool, even of an empty one; or use a Pawn or Court of the own take, which is discarded for a card of the pool
that shares a suit with it. Then the next player who has a Sun face up has the turn. Whoever has none sits out.

A full pool. The fourth card in the pool (the fifth with three or four players) starts an auction at once.

The bidding. It goes round once. The player left of the caller is first, the caller is last, and each bids one face-up
Sun, higher than any bid so far, or passes. If you called and nobody bid, you must bid. If a full pool finds no bidder
it is discarded.

Winning. The winner takes the pool. The winning Sun goes to the centre, and the one that lay there comes to the winner
face down: it cannot bid in this round, but it counts at its end and is ready again in the next. All other Suns that
were bid stay with their owners.

Aces. They are bad news. For each Ace in a pool you win you discard a card of that suit from your take, old or new, if
you have one; then the Ace goes too. An Ace cannot pay for another Ace of the same pool. An Ace that you took with a
Pawn or Court costs nothing and stays.

The end of a round. A round ends when all Suns are face down, or with the last card of the deck. If that card does not
fill the pool, the next player with a Sun says whether there is one more auction. Then all Suns are turned up, takes are
scored and shuffled back into the deck, and whoever has the highest Sun begins the next round.

Scoring. The highest sum of Suns scores 5 points, for each player who has it. Each Pawn and each Court in a take scores
3. Two or more cards of one number, or Crowns, score 2 points each. And each card scores 1 that is next to another in a
sequence: two cards that share a suit, with numbers one apart. In sequences an Ace is 1, a Crown is any number you like
in its suit, and Pawns and Courts are left out. The table finds the best way for you.

After three rounds the most points win. A tie goes to the higher sum of Suns, and then to the highest single Sun.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any, Final

from engine.board import Amounts, Board, Face, Grid, Line, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision, OneOf, Thing
from engine.decks import decktet
from engine.decks.decktet import SUITS, faces, in_order, rank, suits, things
from engine.facts import SPECTATOR, Fact, fact, put, take
from engine.game import Chapter, Game, Listed, Options, Standing, Story
from engine.seats import clockwise
from engine.tell import Text, say

Cards = tuple[str, ...]

SUNS: Final[Cards] = ("AS", "2SY", "3SK", "4MS", "5SW", "6SY", "7SK", "8MS", "9MS", "PMSL", "PSWK", "TSLK", "XS")
"""The Suns, lowest first; the place in this row, counted from 1, is the value. The Island is in no game."""

FOR_SALE: Final[Cards] = tuple(card for card in decktet.EXTENDED if "S" not in suits(card) and card != decktet.EXCUSE)

STACKS_FOR_TWO: Final[Mapping[str, tuple[Cards, ...]]] = {
    "A": (("2SY", "5SW", "6SY", "9MS"), ("3SK", "4MS", "7SK", "8MS")),
    "B": (("3SK", "4MS", "6SY", "9MS"), ("2SY", "5SW", "7SK", "8MS")),
}
STACKS_FOR_THREE: Final[tuple[Cards, ...]] = (
    ("2SY", "5SW", "8MS", "XS"),
    ("3SK", "6SY", "9MS", "TSLK"),
    ("4MS", "7SK", "PMSL", "PSWK"),
)
# The published table has only three stacks for four players; the fourth one is what is left, and the sums become 21 to
# 24.
STACKS_FOR_FOUR: Final[tuple[Cards, ...]] = (
    ("2SY", "6SY", "XS"),
    ("3SK", "7SK", "TSLK"),
    ("4MS", "8MS", "PSWK"),
    ("5SW", "9MS", "PMSL"),
)

ROUNDS: Final = 3
HIGHEST_SUN_TOTAL: Final = 5
PAWN_OR_COURT: Final = 3
OF_A_KIND: Final = 2
EQUAL_VALUE: Final = 10
"""What the four highest Suns count each, where Pawns are equal."""
RUNNING_RANKS: Final = "A23456789"
"""The ranks that take part in sequences, besides the Crowns; the place in this row, counted from 1, is the number."""
NONE: Final = "none"
"""What an Ace takes that finds no card of its suit."""


@fact
class Terms:
    """What was agreed before the game. `full` is the number of cards that fills the pool."""

    stacks: tuple[Cards, ...]
    copies: int
    full: int
    equal_pawns: bool
    per_suit: bool


@fact
class Auction:
    """A bidding that is going on. `bidders` have yet to bid, in turn; `aces` are those the leader has still to pay for."""

    bidders: tuple[int, ...]
    called: bool
    high: str = ""
    leader: int | None = None
    aces: Cards = ()


@fact
class State:
    """A table of Sun Bid. `suns` lie face up, `spent` ones face down; `deck` has no order; `gone` is the discard."""

    terms: Terms
    deck: Cards
    suns: tuple[Cards, ...]
    spent: tuple[Cards, ...]
    takes: tuple[Cards, ...]
    scores: tuple[int, ...]
    centre: str = SUNS[0]
    pool: Cards = ()
    gone: Cards = ()
    round: int = 0
    lead: int = 0
    auctions: int = 0
    auction: Auction | None = None
    over: bool = False


# What can happen.


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
    """Round {round} begins. {seat} [has|have] the highest Sun, {sun}, and the first turn."""

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

    def apply(self, state: State) -> State:
        return opened(state, called=True)


@fact
class PoolFilled(Fact[State]):
    """The pool is full, and goes up for auction."""

    def apply(self, state: State) -> State:
        return opened(state, called=False)


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {sun}."""

    seat: int
    sun: str

    def apply(self, state: State) -> State:
        auction = running(state)
        return replace(state, auction=replace(auction, bidders=auction.bidders[1:], high=self.sun, leader=self.seat))


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def apply(self, state: State) -> State:
        auction = running(state)
        return replace(state, auction=replace(auction, bidders=auction.bidders[1:]))


@fact
class Unsold(Fact[State]):
    """Nobody bids, and the pool is discarded."""

    def apply(self, state: State) -> State:
        return replace(state, pool=(), gone=state.gone + state.pool, auction=None)


@fact
class Won(Fact[State]):
    """{seat} [takes|take] the pool: {pool}. {sun} goes to the centre, and {centre} comes to {seat} face down."""

    seat: int
    pool: Cards
    sun: str
    centre: str

    def sentence(self) -> Text:
        end = say(
            "{sun} goes to the centre, and {centre} comes to {seat} face down.",
            sun=self.sun,
            centre=self.centre,
            seat=self.seat,
        )
        if not self.pool:
            return say("{seat} [takes|take] the empty pool. {end}", seat=self.seat, end=end)
        return say("{seat} [takes|take] the pool: {pool}. {end}", seat=self.seat, pool=self.pool, end=end)

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
    """It is {seat's} turn."""

    silent = True
    seat: int

    def apply(self, state: State) -> State:
        return replace(state, lead=self.seat)


@fact
class DeckRanOut(Fact[State]):
    """That was the last card. {seat} may call one more auction."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, lead=self.seat)


@fact
class LetGo(Fact[State]):
    """{seat} [calls|call] no auction, and the pool is discarded."""

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
    """{seat} [scores|score] for the Suns, for Pawns and Courts, for cards of a kind and for sequences."""

    seat: int
    suns: int
    pawns_and_courts: int
    of_a_kind: int
    sequences: int

    def sentence(self) -> Text:
        if not self.points:
            return say("{seat} [scores|score] nothing.", seat=self.seat)
        parts = (say("{n} for Suns", n=self.suns),) if self.suns else ()
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


# The arithmetic of the rules.


def beats(sun: str, high: str, equal_pawns: bool) -> bool:
    """Whether a Sun may be bid when another is the high bid. Where Pawns are equal the later one wins."""
    if equal_pawns and rank(sun) == rank(high) == "P":
        return True
    return SUNS.index(sun) > SUNS.index(high)


def value_of_sun(sun: str, equal_pawns: bool) -> int:
    """What a Sun counts in the sum."""
    value = SUNS.index(sun) + 1
    return min(value, EQUAL_VALUE) if equal_pawns else value


def sum_of_suns(suns: Cards, equal_pawns: bool) -> int:
    """What decides the bonus of a round, and a tie at the end."""
    return sum(value_of_sun(sun, equal_pawns) for sun in suns)


def by_value(suns: Cards) -> Cards:
    """The Suns, lowest first."""
    return tuple(sorted(suns, key=SUNS.index))


def points_for_pawns_and_courts(cards: Cards) -> int:
    """Points for each Pawn and each Court."""
    return PAWN_OR_COURT * sum(rank(card) in "PT" for card in cards)


def points_of_a_kind(cards: Cards) -> int:
    """Points for each card that is not the only one of its number, or not the only Crown. Copies are of a kind."""
    many = Counter(rank(card) for card in cards if rank(card) in "23456789X")
    return OF_A_KIND * sum(n for n in many.values() if n > 1)


def points_for_sequences(cards: Cards, per_suit: bool) -> int:
    """A point for each card that has a neighbour, or for each of its suits in which it has one; Crowns do their best.

    A suit's Crowns stand for numbers in that suit alone. So each suit has its own few ways to bind cards, and only
    where a card counts once does it matter which of them go together.
    """
    ways = [ways_to_bind(cards, suit) for suit in SUITS]
    if per_suit:
        return sum(max(bound.bit_count() for bound in of_suit) for of_suit in ways)
    unions = {0}
    for of_suit in ways:
        unions = undominated({union | bound for union in unions for bound in of_suit})
    return max(union.bit_count() for union in unions)


def ways_to_bind(cards: Cards, suit: str) -> set[int]:
    """The sets of cards that can have neighbours in a suit, one set for each good use of its Crowns.

    A set is a number: bit i stands for the i-th card.
    """
    line, crowns = [0] * 12, []
    for place, card in enumerate(cards):
        if suit not in suits(card):
            continue
        if rank(card) == "X":
            crowns.append(1 << place)
        elif rank(card) in RUNNING_RANKS:
            line[RUNNING_RANKS.index(rank(card)) + 1] |= 1 << place
    found = set()
    for numbers in combinations_with_replacement(range(1, 11), len(crowns)):
        with_crowns = line.copy()
        for crown, number in zip(crowns, numbers, strict=True):
            with_crowns[number] |= crown
        found.add(sum(with_crowns[n] for n in range(1, 11) if with_crowns[n - 1] or with_crowns[n + 1]))
    return undominated(found)


def undominated(sets: set[int]) -> set[int]:
    """Those of the sets that are part of no other."""
    return {each for each in sets if not any(each | other == other != each for other in sets)}


def points_of_take(cards: Cards, per_suit: bool) -> tuple[int, int, int]:
    """What a take scores: for Pawns and Courts, for cards of a kind, for sequences."""
    return points_for_pawns_and_courts(cards), points_of_a_kind(cards), points_for_sequences(cards, per_suit)


def in_words(pawns_and_courts: int, of_a_kind: int, sequences: int) -> tuple[Text, ...]:
    """What a take scores, without what scores nothing."""
    parts = (
        (pawns_and_courts, say("{n} for Pawns and Courts", n=pawns_and_courts)),
        (of_a_kind, say("{n} for cards of a kind", n=of_a_kind)),
        (sequences, say("{n} for sequences", n=sequences)),
    )
    return tuple(text for points, text in parts if points)


def share_a_suit(card: str, other: str) -> bool:
    """Whether a suit is on both cards."""
    return any(suit in suits(other) for suit in suits(card))


def victims_of(ace: str, kept: Cards) -> Cards:
    """The cards that an Ace can cost, each once."""
    return tuple(dict.fromkeys(card for card in kept if share_a_suit(ace, card)))


def hungry(aces: Cards, kept: Cards) -> Cards:
    """The Aces that can cost something."""
    return tuple(ace for ace in aces if victims_of(ace, kept))


def misfit(kept: Cards, aces: Cards, victims: Cards) -> Text | None:
    """Why these cards cannot be lost to these Aces: one is lost twice, or an Ace goes without that could have one.

    The Aces come one after the other in the winner's order. An Ace that is to find nothing had best come last, so it
    is enough to look at what is left after all.
    """
    left = Counter(kept)
    left.subtract(victim for victim in victims if victim != NONE)
    for card, many in left.items():
        if many < 0:
            return say("{card} can be lost only once: each Ace takes a card of its own.", card=card)
    for ace, victim in zip(aces, victims, strict=True):
        others = victims_of(ace, tuple(left.elements()))
        if victim == NONE and others:
            return say("{ace} takes a card of its suit while you have one: {others:or}.", ace=ace, others=others)
    return None


@lru_cache(maxsize=512)
def ways_to_pay(aces: Cards, kept: Cards) -> tuple[Cards, ...]:
    """Every answer that fits: for each Ace a card that is lost to it, or nothing."""
    ways = product(*((*victims_of(ace, kept), NONE) for ace in aces))
    return tuple(victims for victims in ways if misfit(kept, aces, victims) is None)


def lost(victims: Cards) -> Cards:
    """The cards in an answer, without its nothings."""
    return in_order(tuple(card for card in victims if card != NONE))


@lru_cache(maxsize=512)
def cheapest_way(aces: Cards, kept: Cards, per_suit: bool) -> Cards:
    """The answer that leaves most points, then most cards, then takes the lowest ranks, then the first suits."""
    answers = {lost(victims): victims for victims in reversed(ways_to_pay(aces, kept))}

    def cost(cards: Cards) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
        left = tuple((Counter(kept) - Counter(cards)).elements())
        ranks = tuple(decktet.RANKS.index(rank(card)) for card in cards)
        places = tuple(FOR_SALE.index(card) for card in cards)
        return -sum(points_of_take(left, per_suit)), len(cards), ranks, places

    return answers[min(answers, key=cost)]


def next_with_a_sun(seat: int, state: State) -> int:
    """The next player to the left who has a Sun face up; maybe the same again."""
    return next(other for other in clockwise(seat + 1, len(state.suns)) if state.suns[other])


def opened(state: State, called: bool) -> State:
    """A new auction: everybody with a Sun bids once, the player whose turn it is as the last."""
    bidders = tuple(seat for seat in clockwise(state.lead + 1, len(state.suns)) if state.suns[seat])
    return replace(state, auction=Auction(bidders, called), auctions=state.auctions + 1)


def running(state: State) -> Auction:
    """The bidding that is going on."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


class SunBid(Game[State]):
    """Sun Bid for two to four players."""

    title = "Sun Bid"
    seats = (2, 4)
    options = (
        Listed(
            "stacks2",
            say("The Suns of two players"),
            "A",
            (("A", say("9-6-5-2 against 8-7-4-3")), ("B", say("9-6-4-3 against 8-7-5-2"))),
            say("Which Suns the two begin with."),
            seats=(2,),
        ),
        Listed(
            "equal_pawns",
            say("Equal Pawns"),
            "off",
            (("off", say("no")), ("on", say("yes"))),
            say("If so, Harvest and Lightkeeper may each be bid on the other; they, Window and Bard count 10."),
            seats=(3, 4),
        ),
        Listed(
            "sequence_scoring",
            say("A card in sequence scores"),
            "once",
            (("once", say("once")), ("per_suit", say("once for each suit"))),
            say("Does a card in sequence score once, or once for each of its suits in which it has a neighbour?"),
        ),
    )
    length = say("Three rounds of about ten auctions; 40 to 80 short turns for each.")
    credits = say(
        "Sun Bid is by Greg James, after Reiner Knizia's Ra, with an idea of P. D. Magnus for equal Pawns; the "
        "published rules are under CC BY-NC-SA 3.0, this page is our own account of them. "
        "The Decktet is a design by P. D. Magnus."
    )
    cover = faces(("AS", "9MS", "XS"))

    def start(self, seats: int, options: Options) -> State:
        stacks = {2: STACKS_FOR_TWO[str(options["stacks2"])], 3: STACKS_FOR_THREE, 4: STACKS_FOR_FOUR}[seats]
        terms = Terms(
            stacks,
            copies=1 if seats == 2 else 2,
            full=4 if seats == 2 else 5,
            equal_pawns=options["equal_pawns"] == "on",
            per_suit=options["sequence_scoring"] == "per_suit",
        )
        nothing: tuple[Cards, ...] = ((),) * seats
        return State(terms, FOR_SALE * terms.copies, stacks, nothing, nothing, (0,) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat, stack in enumerate(draw.shuffle(state.terms.stacks)):
            state = yield Dealt(seat, stack)
        yield self._round(state)

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over:
            return None
        auction = view.auction
        if auction is None:
            if seat != view.lead:
                return None
            return self._ask_for_a_turn(view, seat) if view.deck else self._ask_for_a_last_auction(view, seat)
        if auction.aces:
            return self._ask_for_victims(view, auction, seat) if seat == auction.leader else None
        return self._ask_for_a_bid(view, auction, seat) if seat == auction.bidders[0] else None

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        auction = view.auction
        if auction is None and not view.deck:
            return {"flip": say("There is no card left to flip.")}
        if auction is None and not any(self._uses(view, seat)):
            if not any(rank(card) in "PT" for card in view.takes[seat]):
                return {"use": say("You have no Pawn and no Court in your take.")}
            return {"use": say("No Pawn or Court of yours shares a suit with a card of the pool.")}
        if auction is not None and not auction.aces and auction.called and seat == view.lead and not auction.high:
            return {"pass": say("You called this auction, and nobody else has bid.")}
        return {}

    def _ask_for_a_turn(self, view: State, seat: int) -> Decision:
        uses = tuple(self._uses(view, seat))
        what = (
            say("Do you flip a card, call an auction, or use a Pawn or Court?")
            if uses
            else say("Do you flip a card or call an auction?")
        )
        return Decision(
            seat,
            say("{what} In the pool: {pool}.", what=what, pool=in_order(view.pool)),
            (Act("flip"), Act("call"), *uses),
            default=Choice("flip"),
            topic=f"round {view.round}",
            public=True,
        )

    def _uses(self, view: State, seat: int) -> Iterator[Act]:
        """One act for each Pawn or Court that shares a suit with something in the pool."""
        for card in dict.fromkeys(in_order(view.takes[seat])):
            targets = in_order(tuple(target for target in view.pool if share_a_suit(card, target)))
            if rank(card) in "PT" and targets:
                yield Act("use", (OneOf("card", things((card,))), OneOf("target", things(targets))), "use {} for {}")

    def _ask_for_a_last_auction(self, view: State, seat: int) -> Decision:
        return Decision(
            seat,
            say("The deck is empty. Do you call a last auction of {pool}?", pool=in_order(view.pool)),
            (Act("pass"), Act("call")),
            default=Choice("pass"),
            topic=f"round {view.round}",
            public=True,
        )

    def _ask_for_a_bid(self, view: State, auction: Auction, seat: int) -> Decision:
        own, equal_pawns = by_value(view.suns[seat]), view.terms.equal_pawns
        suns = tuple(sun for sun in own if not auction.high or beats(sun, auction.high, equal_pawns))
        must = auction.called and seat == view.lead and not auction.high
        why = say("A bid is a Sun of yours that lies face up and is higher than any bid so far.")
        bid = Act("bid", (OneOf("sun", tuple(sun_thing(sun, view.terms) for sun in suns), why),))
        return Decision(
            seat,
            self._what_is_asked(view, auction, must),
            (*(() if must else (Act("pass"),)), *((bid,) if suns else ())),
            default=Choice("bid", suns[:1]) if must else Choice("pass"),
            topic=f"auction {view.auctions}",
            public=True,
        )

    def _what_is_asked(self, view: State, auction: Auction, must: bool) -> Text:
        lot = (
            (*in_order(view.pool), view.centre) if view.pool else say("{centre} and an empty pool", centre=view.centre)
        )
        if must:
            return say("Nobody else has bid for {lot}, so you must. Which Sun?", lot=lot)
        if auction.leader is None:
            return say("What do you bid for {lot}? Nobody has bid yet.", lot=lot)
        return say(
            "Do you bid more than {high}, the bid of {leader:seat}, for {lot}?",
            lot=lot,
            high=auction.high,
            leader=auction.leader,
        )

    def _ask_for_victims(self, view: State, auction: Auction, seat: int) -> Decision:
        kept = in_order(view.takes[seat])
        aces = hungry(auction.aces, kept)
        blanks = []
        for ace, victims in zip(aces, zip(*ways_to_pay(aces, kept), strict=True), strict=True):
            spared = (Thing(NONE, "nothing"),) if NONE in victims else ()
            blanks.append(OneOf(SUITS[suits(ace)], (*things(victims_of(ace, kept)), *spared)))
        phrase = "discard " + ", ".join(f"{{}} for {SUITS[suits(ace)].lower()}" for ace in aces)
        return Decision(
            seat,
            say("What do you lose from your take to {aces}?", aces=aces),
            (Act("discard", tuple(blanks), phrase if len(aces) > 1 else ""),),
            default=Choice("discard", cheapest_way(aces, kept, view.terms.per_suit)),
            topic=f"auction {view.auctions}",
            public=True,
        )

    def objects(self, view: State, seat: int, choice: Choice) -> Text | None:
        if choice.verb != "discard":
            return None
        kept = in_order(view.takes[seat])
        return misfit(kept, hungry(running(view).aces, kept), choice.every_text())

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        ((seat, choice),) = choices.items()
        cards = choice.every_text()
        match choice.verb:
            case "flip":
                yield from self._flip(state, seat, draw)
            case "call":
                yield Called(seat)
            case "use":
                state = yield Used(seat, *cards)
                yield LeadPassed(next_with_a_sun(seat, state))
            case "discard":
                state = yield PaidForAces(seat, running(state).aces, lost(cards))
                yield from self._go_on(state)
            case "pass" if state.auction is None:
                state = yield LetGo(seat)
                yield from self._end_round(state)
            case _:
                state = yield Bid(seat, *cards) if cards else Passed(seat)
                if not running(state).bidders:
                    yield from self._close(state)

    def _flip(self, state: State, seat: int, draw: Draw) -> Chapter[State]:
        """One more card in the pool: it may be the one that fills it, or the last one."""
        state = yield Flipped(seat, draw.pick(state.deck))
        if len(state.pool) == state.terms.full:
            return (yield PoolFilled())
        if not state.deck:
            return (yield DeckRanOut(next_with_a_sun(seat, state)))
        return (yield LeadPassed(next_with_a_sun(seat, state)))

    def _close(self, state: State) -> Chapter[State]:
        """Everybody has bid or passed."""
        auction = running(state)
        if auction.leader is None:
            state = yield Unsold()
        else:
            state = yield Won(auction.leader, in_order(state.pool), auction.high, state.centre)
            if state.auction is not None:
                return (yield from self._pay_for_aces(state, auction.leader, state.auction.aces))
        return (yield from self._go_on(state))

    def _pay_for_aces(self, state: State, seat: int, aces: Cards) -> Chapter[State]:
        """The winner is asked only where it makes a difference."""
        losses = {lost(victims) for victims in ways_to_pay(aces, in_order(state.takes[seat]))}
        if len(losses) > 1:
            return state
        state = yield PaidForAces(seat, aces, losses.pop())
        return (yield from self._go_on(state))

    def _go_on(self, state: State) -> Chapter[State]:
        """After an auction: the next turn, or the end of the round."""
        if state.deck and any(state.suns):
            return (yield LeadPassed(next_with_a_sun(state.lead, state)))
        return (yield from self._end_round(state))

    def _end_round(self, state: State) -> Chapter[State]:
        state = yield RoundEnded(state.round, spent=not any(state.suns))
        sums = self._sums(state)
        for seat, cards in enumerate(state.takes):
            bonus = HIGHEST_SUN_TOTAL if sums[seat] == max(sums) else 0
            state = yield Scored(seat, bonus, *points_of_take(cards, state.terms.per_suit))
        return (yield Ended() if state.round == ROUNDS else self._round(state))

    def _round(self, state: State) -> RoundBegan:
        """The next round. The highest of all Suns begins; if that lies in the centre, the highest that somebody has."""
        sun = max((sun for own in state.suns for sun in own), key=SUNS.index)
        seat = next(seat for seat, own in enumerate(state.suns) if sun in own)
        return RoundBegan(state.round + 1, seat, sun)

    def _sums(self, state: State) -> tuple[int, ...]:
        """The sum of everybody's Suns, face up and face down."""
        return tuple(
            sum_of_suns(up + down, state.terms.equal_pawns) for up, down in zip(state.suns, state.spent, strict=True)
        )

    def standing(self, state: State) -> Standing:
        if not state.over:
            return Standing(state.scores)
        highest = tuple(max(map(SUNS.index, suns)) for suns in state.suns)
        return Standing.by(
            tuple(zip(state.scores, self._sums(state), highest, strict=True)),
            (say("the sum of the Suns"), say("the highest single Sun")),
        )

    def board(self, view: State, seat: int) -> Board:
        others = clockwise(seat + 1, len(view.suns), without=(seat,))
        return Board(
            title=say("Sun Bid, round {round} of {rounds}", round=view.round, rounds=ROUNDS),
            turn=self._turn(view),
            up=self._up(view) if not view.over else (),
            mine=self._mine(view, seat) if seat != SPECTATOR else (),
            others=tuple(part for other in others for part in self._belongings(view, other)),
            scores=(self._scores(view),),
        )

    def _turn(self, view: State) -> Text:
        auction = view.auction
        if view.over:
            return say("The game is over.")
        if auction is None and view.deck:
            return say("It is {seat's} turn.", seat=view.lead)
        if auction is None:
            return say("The deck is empty. {seat} may call a last auction.", seat=view.lead)
        if auction.aces:
            return say("{seat} must discard for {aces}.", seat=auction.leader, aces=auction.aces)
        if auction.leader is None:
            return say("It is {seat's} turn to bid. Nobody has bid yet.", seat=auction.bidders[0])
        return say(
            "It is {seat's} turn to bid. The high bid is {high}, by {leader:seat}.",
            seat=auction.bidders[0],
            high=auction.high,
            leader=auction.leader,
        )

    def _up(self, view: State) -> tuple[Part, ...]:
        parts: list[Part] = [
            Row(say("The pool"), faces(in_order(view.pool))),
            Row(say("The Sun in the centre"), (sun_face(view.centre, view.terms),)),
        ]
        if view.auction is not None and view.auction.bidders:
            parts.append(Line(self._how_it_began(view, view.auction)))
            parts.append(Line(say("Still to bid, in this order: {seats:seats}.", seats=view.auction.bidders)))
        counts = (
            (say("cards in the pool"), len(view.pool)),
            (say("cards in a full pool"), view.terms.full),
            (say("cards to come"), len(view.deck)),
        )
        return (*parts, Amounts(counts))

    def _how_it_began(self, view: State, auction: Auction) -> Text:
        if not auction.called:
            return say("The pool is full. Nobody has to bid.")
        if auction.leader is None:
            return say("{seat} called, and must bid if nobody else does.", seat=view.lead)
        return say("{seat} called.", seat=view.lead)

    def _mine(self, view: State, seat: int) -> tuple[Part, ...]:
        points = points_of_take(view.takes[seat], view.terms.per_suit)
        worth = say("Your take is worth nothing yet.")
        if any(points):
            worth = say(
                "Your take is worth {points:point|points}: {parts}.", points=sum(points), parts=in_words(*points)
            )
        return (*self._belongings(view, seat), *(() if view.over else (Line(worth),)))

    def _belongings(self, view: State, seat: int) -> tuple[Part, ...]:
        down = Row(say("{seat's} Suns face down", seat=seat), sun_faces(view.spent[seat], view.terms))
        return (
            Row(say("{seat's} Suns to bid", seat=seat), sun_faces(view.suns[seat], view.terms)),
            *((down,) if view.spent[seat] else ()),
            Row(say("{seat's} take", seat=seat), faces(in_order(view.takes[seat]))),
        )

    def _scores(self, view: State) -> Grid:
        columns = [(say("points"), view.scores), (say("sum of Suns"), self._sums(view))]
        # At the end the points count the takes already.
        if not view.over:
            worth = tuple(sum(points_of_take(cards, view.terms.per_suit)) for cards in view.takes)
            columns.append((say("take now"), worth))
        rows = tuple((seat, tuple(column[seat] for _, column in columns)) for seat in range(len(view.scores)))
        return Grid(tuple(head for head, _ in columns), rows)

    def longest(self, seats: int, options: Options) -> int:
        # In a round each card is flipped once and each Pawn and Court used once. An auction costs a Sun, or a full
        # pool; it is called, bid for by everybody and paid for. The deal is an entry, and the last question of a round.
        cards, full, suns = (30, 4, 8) if seats == 2 else (60, 5, 12)
        uses = cards * 4 // 30
        return 1 + ROUNDS * (cards + uses + (suns + cards // full) * (seats + 2) + 1)

    def tally(self, state: State) -> Mapping[str, int]:
        aces = state.auction.aces if state.auction is not None else ()
        return {
            "cards": len(state.deck + state.pool + state.gone + aces) + sum(map(len, state.takes)),
            "Suns": 1 + sum(map(len, state.suns + state.spent)),
        }

    def prospect(self, state: State, seat: int) -> int:
        hopes = tuple(self._hope(state, each) for each in range(len(state.suns)))
        return hopes[seat] - max(hope for each, hope in enumerate(hopes) if each != seat)

    def _hope(self, state: State, seat: int) -> int:
        """Points in tenths, and what the Suns that can still be bid are likely to become."""
        cards = state.takes[seat]
        points = state.scores[seat]
        if not state.over:
            points += sum(points_of_take(cards, state.terms.per_suit))
        return 10 * points + sum(15 + 2 * SUNS.index(sun) for sun in state.suns[seat])

    def word(self, value: Any) -> str:
        return decktet.spoken(value)


def sun_face(sun: str, terms: Terms) -> Face:
    """A Sun as it lies on the table, with its value in place of its suits."""
    return Face("decktet", sun, decktet.name(sun), sun_note(sun, terms))


def sun_faces(suns: Cards, terms: Terms) -> tuple[Face, ...]:
    """Suns as they lie on the table."""
    return tuple(sun_face(sun, terms) for sun in by_value(suns))


def sun_thing(sun: str, terms: Terms) -> Thing:
    """A Sun as it is named in a choice: by its name or by its value."""
    value = str(value_of_sun(sun, terms.equal_pawns))
    return Thing(sun, decktet.name(sun), sun_note(sun, terms), (value,))


def sun_note(sun: str, terms: Terms) -> str:
    """The value of a Sun; where values are equal without the Suns being so, its rank too."""
    value = str(value_of_sun(sun, terms.equal_pawns))
    if terms.equal_pawns and rank(sun) in decktet.RANK_NAMES and sun != SUNS[0]:
        return f"{decktet.RANK_NAMES[rank(sun)]}, {value}"
    return value
