"""Sorcerous Futures

You buy cards without knowing what they will be worth. Everybody can see into a different corner of the future, and
everybody's gold tells a little of what was seen there: watch what the others pay, and do not let them watch you.

The cards. There are six suits. The market is the twenty-four cards from 2 to 9, each with two suits, and the four
Pawns, each with three. Everybody begins with 90 gold, and gold left at the end is points.

Three players. Everybody gets two Aces, face up. Under each Ace lies a card of the market, face down, which only the
owner of the Ace may look at: its number is the value of that suit, and a Pawn makes it 1. One more card lies under the
Excuse, where nobody may look until ten cards have been sold; then it is turned up.

Four players. One player has the Excuse instead of Aces, and alone knows the card under it. The other three have two
Aces each.

The Crowns. Everybody has a secret Crown, and it is never of the suit of an own Ace. Three players get theirs by chance:
the two Crowns of your own suits go to the right, then one of every two to the left, then both to the right again, and
of the two you have then one is kept, each time blindly. With four players the player with the Excuse gives one to each
of the others, keeps one of any suit, and so knows them all; this comes before anybody looks at a card.

The market. Five cards are turned up, and sold one after the other; then the next five, four times in all. The player
with the Ace of Suns begins, and the turn to sell goes to the left, whoever buys. It is you who choose which card is
sold next, and how.

Open. You bid the number of the card at once, neither more nor less, and 10 for a Pawn. Then each of the others, in turn
to the left, may bid more or pass, once. If you have been outbid, you have the last word: you may bid more again, or
pass. The highest bidder pays and takes the card. You can only sell a card openly if you have the gold for that first
bid.

Closed. Everybody bids in secret, and 0 is a bid. All bids are shown together. The highest pays and takes the card, the
others pay nothing. If several are highest it goes to you, or else to the first of them on your left; so it is yours for
nothing if nobody bids.

No gold. Whoever cannot bid more passes, and whoever has nothing left bids 0; nobody is asked for that.

The end. Twenty cards are sold, one is never shown, and all is revealed. Each card you bought scores the value of every
suit on it, two for a number card and three for a Pawn. If it shows the suit of your Crown, it scores the card under
the Excuse as well. Add your gold: the most points win. A tie goes to the player with the lower cards in front: the two
under the own Aces together, or the one under the Excuse. If that is equal too, the win is shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any, Final

from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Thing
from engine.decks.decktet import (
    ACES,
    CROWNS,
    EXCUSE,
    NAMES,
    NUMBERS,
    PAWNS,
    SUITS,
    faces,
    in_order,
    number,
    spoken,
    suits,
    things,
)
from engine.facts import SPECTATOR, Fact, fact, is_hidden, put, secret, take
from engine.game import Chapter, Game, Listed, Options, Standing, Story
from engine.seats import clockwise, left_of
from engine.tell import Text, say

Cards = tuple[str, ...]

MARKET: Final[Cards] = NUMBERS + PAWNS
MARKERS: Final[Cards] = (*ACES, EXCUSE)
"""What the valuations lie under, in the order in which they are kept."""

GOLD: Final = 90
GROUPS: Final = 4
GROUP: Final = 5
AUCTIONS: Final = GROUPS * GROUP
DECK: Final = len(MARKET) - len(MARKERS)
EXCUSE_TURNED_BEFORE: Final = 3
"""With three players the card under the Excuse is turned up before this group."""

PAWN_VALUATION: Final = 1
PAWN_OPENING: Final = 10


@fact
class Terms:
    """What was agreed before the game. `excuse` is the seat that shall have the Excuse; None: drawn, or three play."""

    excuse: int | None
    sly: bool


@fact
class FaceDown:
    """What lies face down. An empty name stands where nothing lies yet, or where nobody has looked yet."""

    valuations: Cards
    crowns: Cards
    aside: Cards = CROWNS
    seven: Cards = ()
    """What a sly Excuse player saw: the valuations, without their places."""


@fact
class Auction:
    """A card that is being sold. `waiting` are those who may still speak: one by one, or all at once if it is closed."""

    card: str
    leader: int
    high: int
    waiting: tuple[int, ...]
    closed: bool = False


@fact
class State:
    """A table of Sorcerous Futures. `bag` has no order; in a view it holds all that the reader cannot place."""

    terms: Terms
    gold: tuple[int, ...]
    aces: tuple[Cards, ...]
    bought: tuple[Cards, ...]
    down: FaceDown
    bag: Cards = MARKET
    excuse: int | None = None
    bank: int = 0
    active: int = 0
    group: int = 0
    row: Cards = ()
    auction: Auction | None = None
    over: bool = False


# What can happen.


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
    """{seat} [sees|see] the seven cards that will lie under the Aces and the Excuse: {cards}."""

    seat: int
    cards: Cards = secret()

    def sentence(self) -> Text:
        """Whoever saw them is told which they are."""
        told = "{seat} [sees|see] the seven cards that will lie under the Aces and the Excuse"
        if any(map(is_hidden, self.cards)):
            return say(f"{told}.", seat=self.seat)
        return say(f"{told}: {{cards}}.", seat=self.seat, cards=self.cards)

    def apply(self, state: State) -> State:
        return replace(state, down=replace(state.down, seven=self.cards))


@fact
class Looked(Fact[State]):
    """{seat} [looks|look] at what lies under {markers}: {cards}."""

    seat: int
    markers: Cards
    cards: Cards = secret()

    def sentence(self) -> Text:
        """Whoever looked is told which card lies where."""
        if any(map(is_hidden, self.cards)):
            return say("{seat} [looks|look] at what lies under {markers}.", seat=self.seat, markers=self.markers)
        found = tuple(
            say("under {marker} lies {card}", marker=marker, card=card)
            for marker, card in zip(self.markers, self.cards, strict=True)
        )
        return say("{seat} [looks|look]: {found}.", seat=self.seat, found=found)

    def apply(self, state: State) -> State:
        valuations = state.down.valuations
        for marker, card in zip(self.markers, self.cards, strict=True):
            valuations = put(valuations, MARKERS.index(marker), card)
        return replace(state, down=replace(state.down, valuations=valuations), bag=without(state.bag, self.cards))


@fact
class Began(Fact[State]):
    """{seat} [has|have] the Ace of Suns and [begins|begin]."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, active=self.seat)


@fact
class ExcuseTurnedUp(Fact[State]):
    """The card under the Excuse is turned up: it is {card}."""

    card: str

    def apply(self, state: State) -> State:
        valuations = put(state.down.valuations, MARKERS.index(EXCUSE), self.card)
        return replace(state, down=replace(state.down, valuations=valuations), bag=take(state.bag, self.card))


@fact
class TurnedUp(Fact[State]):
    """Group {group} of 4 comes up for sale: {cards}."""

    group: int
    cards: Cards

    def apply(self, state: State) -> State:
        return replace(state, group=self.group, row=self.cards, bag=without(state.bag, self.cards))


@fact
class Opened(Fact[State]):
    """{seat} [sells|sell] {card} openly and [bids|bid] {gold}."""

    seat: int
    card: str
    gold: int

    def apply(self, state: State) -> State:
        # Whoever sells speaks last, and only if somebody has bid more.
        order = clockwise(self.seat + 1, len(state.gold))
        return replace(state, auction=Auction(self.card, self.seat, self.gold, order))


@fact
class Closed(Fact[State]):
    """{seat} [sells|sell] {card} by closed bids."""

    seat: int
    card: str

    def apply(self, state: State) -> State:
        order = clockwise(self.seat, len(state.gold))
        return replace(state, auction=Auction(self.card, self.seat, 0, order, closed=True))


@fact
class Bid(Fact[State]):
    """{seat} [bids|bid] {gold}."""

    seat: int
    gold: int

    def apply(self, state: State) -> State:
        auction = running(state)
        waiting = auction.waiting[1:]
        return replace(state, auction=replace(auction, leader=self.seat, high=self.gold, waiting=waiting))


@fact
class Passed(Fact[State]):
    """{seat} [passes|pass]."""

    seat: int

    def apply(self, state: State) -> State:
        auction = running(state)
        return replace(state, auction=replace(auction, waiting=auction.waiting[1:]))


@fact
class BidsShown(Fact[State]):
    """The bids for {card} are {bids}."""

    card: str
    bids: tuple[int, ...]

    def sentence(self) -> Text:
        """Every bid with its bidder."""
        bids = tuple(say("{gold} from {seat}", gold=gold, seat=seat) for seat, gold in enumerate(self.bids))
        return say("The bids for {card}: {bids}.", card=self.card, bids=bids)

    def apply(self, state: State) -> State:
        return state


@fact
class Bought(Fact[State]):
    """{seat} [takes|take] {card} for {gold} gold."""

    seat: int
    card: str
    gold: int

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
    """All is revealed: the valuations are {valuations}, and the players' Crowns {crowns}."""

    valuations: Cards
    crowns: Cards

    def sentence(self) -> Text:
        """The value of every suit, and whose Crown was which."""
        return say(
            "All is revealed. {worths} {crowns}", worths=told_worths(self.valuations), crowns=told_crowns(self.crowns)
        )

    def apply(self, state: State) -> State:
        aside = without(CROWNS, self.crowns)
        down = replace(state.down, valuations=self.valuations, crowns=self.crowns, aside=aside)
        return replace(state, down=down, bag=without(state.bag, self.valuations), over=True)


# The arithmetic of the rules.


def valuation(card: str) -> int:
    """What a card counts under an Ace or the Excuse: its number, a Pawn 1."""
    return PAWN_VALUATION if card in PAWNS else number(card)


def opening_bid(card: str) -> int:
    """What the seller bids at once in an open auction: the number of the card, 10 for a Pawn."""
    return PAWN_OPENING if card in PAWNS else number(card)


def worths_of(valuations: Cards, unknown: int = 0) -> dict[str, int]:
    """What each suit letter is worth, and the Excuse; `unknown` stands where the card cannot be seen."""
    return {
        marker[-1]: valuation(card) if known(card) else unknown
        for marker, card in zip(MARKERS, valuations, strict=True)
    }


def worth_of_card(card: str, worths: Mapping[str, int]) -> int:
    """What a bought card scores for its suits, to anybody."""
    return sum(worths[suit] for suit in suits(card))


def crown_bonus(card: str, worths: Mapping[str, int], crown: str) -> int:
    """What it scores besides, once, if it shows the suit of the owner's Crown."""
    return worths[EXCUSE] if known(crown) and suits(crown) in suits(card) else 0


def total_worth(cards: Cards, worths: Mapping[str, int], crown: str) -> int:
    """What all these cards score together for the owner of the Crown."""
    return sum(worth_of_card(card, worths) + crown_bonus(card, worths, crown) for card in cards)


def total_in_front(markers: Cards, worths: Mapping[str, int]) -> int:
    """The sum of the valuations under these Aces, or under the Excuse. The lower one breaks a tie."""
    return sum(worths[marker[-1]] for marker in markers)


def winner_of(bids: Sequence[int], active: int) -> int:
    """Who takes a closed auction: the highest; among several the first clockwise from the active player on."""
    return max(range(len(bids)), key=lambda seat: (bids[seat], -((seat - active) % len(bids))))


def ritual(aces: tuple[Cards, ...], draw: Draw) -> Cards:
    """The Crown of each of three players, as if the Crowns were passed round the table face down."""
    hands = [tuple("X" + suits(ace) for ace in own) for own in aces]
    hands = to_the_right(hands)
    passed = [draw.below(2) for _ in hands]
    hands = [(hands[seat][1 - passed[seat]], hands[seat - 1][passed[seat - 1]]) for seat in range(len(hands))]
    return tuple(draw.pick(hand) for hand in to_the_right(hands))


def to_the_right(hands: Sequence[Cards]) -> list[Cards]:
    """Everybody has passed the whole hand to the right, and so holds what the left neighbour held."""
    return [*hands[1:], hands[0]]


def assignments(aces: tuple[Cards, ...]) -> list[Cards]:
    """Every way to give each player one Crown that is of the suit of no own Ace; the Excuse player has no Aces."""
    barred = [{suits(ace) for ace in own} for own in aces]
    return [
        crowns
        for crowns in permutations(CROWNS, len(aces))
        if not any(suits(crown) in own for crown, own in zip(crowns, barred, strict=True))
    ]


def known(card: object) -> bool:
    """Whether the reader knows of a card here: there is one, and it is not hidden."""
    return isinstance(card, str) and card != ""


def without(cards: Cards, gone: Cards) -> Cards:
    """The cards that are not among those gone. What is hidden among these takes nothing away."""
    return tuple(card for card in cards if card not in gone)


def crowned(down: FaceDown, seat: int, crown: str) -> FaceDown:
    """What lies face down once this seat has this Crown."""
    return replace(down, crowns=put(down.crowns, seat, crown), aside=take(down.aside, crown))


def markers_of(seat: int, state: State) -> Cards:
    """What lies in front of a player: two Aces, or the Excuse."""
    return (EXCUSE,) if seat == state.excuse else state.aces[seat]


def running(state: State) -> Auction:
    """The auction that is going on."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


def sold(state: State) -> int:
    """How many cards have been sold."""
    return GROUP * state.group - len(state.row)


class SorcerousFutures(Game[State]):
    """Sorcerous Futures for three or four players."""

    title = "Sorcerous Futures"
    seats = (3, 4)
    options = (
        Listed(
            "excuse_seat",
            say("Who has the Excuse"),
            "random",
            (
                ("random", say("whoever is drawn")),
                ("1", say("player 1")),
                ("2", say("player 2")),
                ("3", say("player 3")),
                ("4", say("player 4")),
            ),
            say("Who of four has the Excuse: drawn, or the player of this number, who volunteered."),
            seats=(4,),
        ),
        Listed(
            "sly_excuse",
            say("The Excuse sees the seven cards"),
            "off",
            (("off", say("no")), ("on", say("yes"))),
            say("Does the player with the Excuse see, after the Crowns, which seven cards will be dealt face down?"),
            seats=(4,),
        ),
    )
    length = say("20 auctions; in each of them one or two short answers.")
    credits = say(
        "Sorcerous Futures is a design by Adam Blinkinsop and P. D. Magnus; its rules are published under "
        "CC BY-NC-SA 3.0. The Decktet is by P. D. Magnus. This page is our own account of the game."
    )
    hidden = ("a card face down", "cards face down")
    cover = faces(("AM", "XW", "E"))

    def start(self, seats: int, options: Options) -> State:
        named = str(options["excuse_seat"])
        four = seats == 4
        return State(
            terms=Terms(
                excuse=int(named) - 1 if four and named != "random" else None,
                sly=four and options["sly_excuse"] == "on",
            ),
            gold=(GOLD,) * seats,
            aces=((),) * seats,
            bought=((),) * seats,
            down=FaceDown(valuations=("",) * len(MARKERS), crowns=("",) * seats),
        )

    def setup(self, state: State, draw: Draw) -> Story[State]:
        if len(state.gold) == 4:
            named = state.terms.excuse
            state = yield TookExcuse(draw.below(4) if named is None else named)
        aces = draw.shuffle(ACES)
        for seat in range(len(state.gold)):
            if seat != state.excuse:
                state = yield GotAces(seat, in_order((aces.pop(), aces.pop())))
        if state.excuse is None:
            for seat, crown in enumerate(ritual(state.aces, draw)):
                state = yield KeptCrown(seat, crown)
            yield from self._lay(state, draw)

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over:
            return None
        if view.group == 0:
            return self._ask_for_crowns(view, seat) if seat == view.excuse else None
        if view.auction is None:
            return self._ask_for_a_card(view, seat) if seat == view.active else None
        if view.auction.closed:
            return self._ask_for_a_closed_bid(view, view.auction, seat) if seat in view.auction.waiting else None
        return self._ask_for_more(view, view.auction, seat) if seat == view.auction.waiting[0] else None

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        selling = view.group > 0 and view.auction is None
        if not selling or any(opening_bid(card) <= view.gold[seat] for card in view.row):
            return {}
        least = min(map(opening_bid, view.row))
        why = say(
            "You would have to bid {least} at least, and you have {gold} gold.", least=least, gold=view.gold[seat]
        )
        return {"open": why}

    def _ask_for_crowns(self, view: State, seat: int) -> Decision:
        others = clockwise(0, len(view.gold), without=(seat,))
        blanks = tuple(
            OneOf(
                "Crown",
                crown_things(tuple(crown for crown in CROWNS if "A" + suits(crown) not in view.aces[other])),
                why=say("No Crown may go to a player who has the Ace of its suit."),
            )
            for other in others
        )
        gifts = ", ".join(f"{{}} to {other + 1}" for other in others)
        return Decision(
            seat,
            say(
                "Which Crown do you give to each of the others, and which do you keep? {numbers}.",
                numbers=tuple(say("{number} is {seat}", number=other + 1, seat=other) for other in others),
            ),
            (
                Act("deal", phrase="deal at random", note=say("deal them at random, as the rules allow")),
                Act("give", (*blanks, OneOf("Crown", crown_things(CROWNS))), phrase=f"give {gifts} and keep {{}}"),
            ),
            default=Choice("deal"),
            topic="the Crowns",
            public=True,
        )

    def _ask_for_a_card(self, view: State, seat: int) -> Decision:
        gold = view.gold[seat]
        affordable = tuple(card for card in view.row if opening_bid(card) <= gold)
        why = say("You would begin with a bid of its number, 10 for a Pawn, and you have {gold} gold.", gold=gold)
        closed = Act("closed", (OneOf("card", things(view.row)),), note=say("all bid in secret"))
        opened = Act("open", (OneOf("card", things(affordable), why),), note=say("you bid its number, 10 for a Pawn"))
        if affordable:
            prompt = say("Which card do you sell next, by closed bids or openly with your own first bid?")
        else:
            prompt = say("Which card do you sell next? You have too little gold to sell one openly.")
        return Decision(
            seat,
            prompt,
            (closed, opened) if affordable else (closed,),
            default=Choice("closed", (view.row[0],)),
            topic=f"auction {sold(view) + 1}",
            public=True,
        )

    def _ask_for_a_closed_bid(self, view: State, auction: Auction, seat: int) -> Decision:
        gold = view.gold[seat]
        return Decision(
            seat,
            say("What do you bid in secret for {card}?", card=auction.card),
            (Act("bid", (Amount("gold", 0, gold, why=say("You have {gold} gold.", gold=gold)),)),),
            default=Choice("bid", (0,)),
            topic=f"auction {sold(view) + 1}",
            public=True,
        )

    def _ask_for_more(self, view: State, auction: Auction, seat: int) -> Decision:
        gold = view.gold[seat]
        bid = Amount(
            "gold",
            auction.high + 1,
            gold,
            raising=True,
            why=say("The high bid is {high} and you have {gold} gold.", high=auction.high, gold=gold),
        )
        if seat == view.active:
            prompt = say(
                "Do you bid more than {high} for {card}? You have the last word.", high=auction.high, card=auction.card
            )
        else:
            prompt = say(
                "Do you bid more than {high} for {card}? You are asked only once.", high=auction.high, card=auction.card
            )
        return Decision(
            seat,
            prompt,
            (Act("pass"), *((Act("bid", (bid,)),) if bid.count() else ())),
            default=Choice("pass"),
            topic=f"auction {sold(view) + 1}",
            public=True,
        )

    def objects(self, view: State, seat: int, choice: Choice) -> Text | None:
        for crown in choice.values if choice.verb == "give" else ():
            if choice.values.count(crown) > 1:
                return say("{crown} can go to one player only, and you named it twice.", crown=crown)
        return None

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if state.auction is not None and state.auction.closed:
            yield from self._show_bids(state, state.auction.card, choices, draw)
            return
        ((seat, choice),) = choices.items()
        match choice.verb:
            case "give":
                *gifts, kept = choice.every_text()
                yield from self._crown(state, (*gifts[:seat], kept, *gifts[seat:]), draw)
            case "deal":
                yield from self._crown(state, draw.pick(assignments(state.aces)), draw)
            case "open":
                card = choice.text()
                yield Opened(seat, card, opening_bid(card))
            case "closed":
                yield Closed(seat, choice.text())
            case "bid":
                state = yield Bid(seat, choice.number())
                yield from self._go_on(state, draw)
            case "pass":
                state = yield Passed(seat)
                yield from self._go_on(state, draw)

    def _crown(self, state: State, crowns: Cards, draw: Draw) -> Chapter[State]:
        """The Excuse player hands out the Crowns."""
        assert state.excuse is not None, "nobody has the Excuse"
        giver = state.excuse
        for seat in clockwise(0, len(state.gold), without=(giver,)):
            state = yield GaveCrown(giver, seat, crowns[seat])
        state = yield KeptCrown(giver, crowns[giver])
        return (yield from self._lay(state, draw))

    def _lay(self, state: State, draw: Draw) -> Chapter[State]:
        """Cards are laid face down under the Aces and the Excuse, and the first group comes up.

        With three players the card under the Excuse stays in the bag until it is turned up: nobody may know it before,
        so it makes no difference which one it is.
        """
        markers = ACES if state.excuse is None else MARKERS
        laid = some(state.bag, len(markers), draw)
        if state.terms.sly and state.excuse is not None:
            state = yield SawSeven(state.excuse, in_order(laid))
        places = dict(zip(markers, laid, strict=True))
        for seat in range(len(state.gold)):
            own = markers_of(seat, state)
            state = yield Looked(seat, own, tuple(places[marker] for marker in own))
        state = yield Began(next(seat for seat, own in enumerate(state.aces) if "AS" in own))
        return (yield from self._turn_up(state, draw))

    def _turn_up(self, state: State, draw: Draw) -> Chapter[State]:
        """The next five cards."""
        group = state.group + 1
        if group == EXCUSE_TURNED_BEFORE and state.excuse is None:
            state = yield ExcuseTurnedUp(draw.pick(state.bag))
        return (yield TurnedUp(group, some(state.bag, GROUP, draw)))

    def _show_bids(self, state: State, card: str, choices: Mapping[int, Choice], draw: Draw) -> Chapter[State]:
        """All closed bids are shown together, and the highest buys."""
        bids = tuple(choices[seat].number() for seat in range(len(state.gold)))
        state = yield BidsShown(card, bids)
        winner = winner_of(bids, state.active)
        return (yield from self._sell(state, card, winner, bids[winner], draw))

    def _go_on(self, state: State, draw: Draw) -> Chapter[State]:
        """After a bid or a pass: the next player, or the sale. Nobody is asked to raise their own bid."""
        auction = running(state)
        if auction.waiting not in ((), (auction.leader,)):
            return state
        return (yield from self._sell(state, auction.card, auction.leader, auction.high, draw))

    def _sell(self, state: State, card: str, winner: int, gold: int, draw: Draw) -> Chapter[State]:
        """The card changes hands; then the next auction, the next group, or the end."""
        state = yield Bought(winner, card, gold)
        if state.row:
            return state
        if state.group < GROUPS:
            return (yield from self._turn_up(state, draw))
        return (yield Revealed(state.down.valuations, state.down.crowns))

    def standing(self, state: State) -> Standing:
        """During the game the score is the gold, which is all that everybody can count; at the end everything."""
        if not state.over:
            return Standing(state.gold)
        worths = worths_of(state.down.valuations)
        return Standing.by(
            tuple(
                (
                    gold + total_worth(state.bought[seat], worths, state.down.crowns[seat]),
                    -total_in_front(markers_of(seat, state), worths),
                )
                for seat, gold in enumerate(state.gold)
            ),
            (say("the lower value of the cards face down in front of a player"),),
        )

    def board(self, view: State, seat: int) -> Board:
        return Board(
            title=self._title(view),
            turn=self._turn(view),
            up=self._up(view),
            mine=self._mine(view, seat) if seat != SPECTATOR else (),
            others=tuple(
                Row(owner(other, view), faces(view.bought[other]))
                for other in clockwise(seat + 1, len(view.gold), without=(seat,))
            ),
            scores=(self._scores(view),),
        )

    def _title(self, view: State) -> Text:
        if view.over:
            return say("Sorcerous Futures, the end")
        if view.group == 0:
            return say("Sorcerous Futures, the Crowns")
        return say("Sorcerous Futures, auction {number} of {all}", number=sold(view) + 1, all=AUCTIONS)

    def _turn(self, view: State) -> Text:
        if view.over:
            return say("The game is over.")
        if view.group == 0:
            return say("{seat} [deals|deal] the Crowns.", seat=view.excuse)
        if view.auction is None:
            return say("It is {seat's} turn to sell a card.", seat=view.active)
        if view.auction.closed:
            return say(
                "Everybody bids in secret for {card}. A tie goes to {seat}, or else to the left.",
                card=view.auction.card,
                seat=view.active,
            )
        return say(
            "It is {seat's} turn to bid for {card}. The high bid is {high}, by {leader:seat}.",
            seat=view.auction.waiting[0],
            card=view.auction.card,
            high=view.auction.high,
            leader=view.auction.leader,
        )

    def _up(self, view: State) -> tuple[Part, ...]:
        parts: list[Part] = []
        row = view.row
        if view.over:
            parts += [Line(told_worths(view.down.valuations)), Line(told_crowns(view.down.crowns))]
        if view.auction is not None:
            row = take(row, view.auction.card)
            parts.append(Row(say("Being sold"), faces((view.auction.card,))))
            if not view.auction.closed:
                parts.append(Line(self._still_to_bid(view, view.auction)))
        if row:
            parts.append(Row(say("For sale") if view.auction is None else say("For sale later"), faces(row)))
        if view.group and not view.over:
            parts.append(Amounts(((say("cards to come"), AUCTIONS - GROUP * view.group),)))
            parts += self._under_the_excuse(view)
        return tuple(parts)

    def _still_to_bid(self, view: State, auction: Auction) -> Text:
        if auction.leader != view.active:
            return say("Still to bid: {seats:seats}.", seats=auction.waiting)
        return say("Still to bid: {seats:seats}; then {seat}, if outbid.", seats=auction.waiting[:-1], seat=view.active)

    def _under_the_excuse(self, view: State) -> tuple[Part, ...]:
        """With three players the Excuse lies beside the table."""
        card = view.down.valuations[-1]
        if view.excuse is not None:
            return ()
        if not known(card):
            return (Line(say("The card under the Excuse will be turned up after ten auctions.")),)
        return (Row(say("Under the Excuse"), faces((card,))),)

    def _mine(self, view: State, seat: int) -> tuple[Part, ...]:
        down, parts = view.down, list[Part]()
        parts.append(Amounts(((say("gold"), view.gold[seat]),)))
        for marker in markers_of(seat, view):
            if known(card := down.valuations[MARKERS.index(marker)]):
                parts.append(Row(say("Under {marker}", marker=marker), faces((card,))))
        if known(down.crowns[seat]):
            parts.append(Row(say("Crown"), faces((down.crowns[seat],))))
        if seat == view.excuse and known(down.crowns[seat]) and not view.over:
            parts.append(Line(told_crowns(down.crowns)))
        if down.seven and seat == view.excuse and not view.over:
            parts.append(Row(say("The seven cards face down"), faces(down.seven)))
        parts.append(Row(say("cards"), faces(view.bought[seat])))
        if view.group and not view.over:
            parts += self._known_to(view, seat)
        return tuple(parts)

    def _known_to(self, view: State, seat: int) -> tuple[Part, ...]:
        """What a player can say of values: suits without a known card count 0 in it."""
        worths, crown = worths_of(view.down.valuations), view.down.crowns[seat]
        missing = tuple(
            marker[-1] for marker, card in zip(MARKERS, view.down.valuations, strict=True) if not known(card)
        )
        row = view.row if view.auction is None else (view.auction.card,)
        each = tuple(say("{card} {worth}", card=NAMES[card], worth=total_worth((card,), worths, crown)) for card in row)
        mine = total_worth(view.bought[seat], worths, crown)
        return (
            Line(say("Your cards score {mine}, plus the worth of {missing}.", mine=mine, missing=missing)),
            Line(say("Counted like that, what is for sale would score you: {each}.", each=each)),
        )

    def _scores(self, view: State) -> Grid:
        scores = self.standing(view).scores
        if not view.over:
            return Grid(
                (say("gold"), say("cards")),
                tuple((seat, (gold, len(view.bought[seat]))) for seat, gold in enumerate(view.gold)),
            )
        worths = worths_of(view.down.valuations)
        rows = []
        for seat, gold in enumerate(view.gold):
            cards = view.bought[seat]
            plain = sum(worth_of_card(card, worths) for card in cards)
            bonus = sum(crown_bonus(card, worths, view.down.crowns[seat]) for card in cards)
            front = total_in_front(markers_of(seat, view), worths)
            rows.append((seat, (gold, plain, bonus, scores[seat], front)))
        return Grid((say("gold"), say("cards"), say("Crown"), say("points"), say("in front")), tuple(rows))

    def longest(self, seats: int, options: Options) -> int:
        # The deal, the Crowns of four players, and 20 auctions: choosing the card, then one answer each at most.
        return 2 + AUCTIONS * (1 + seats)

    def tally(self, state: State) -> Mapping[str, int]:
        laid = sum(card != "" for card in state.down.valuations)
        return {
            "gold": sum(state.gold) + state.bank,
            "cards": len(state.bag) + len(state.row) + sum(map(len, state.bought)) + laid,
            "Crowns": len(state.down.aside) + sum(crown != "" for crown in state.down.crowns),
        }

    def prospect(self, state: State, seat: int) -> int:
        # A card that nobody has seen is worth what the cards in the bag are worth on average, and the high bidder of an
        # open auction counts as its buyer.
        average = sum(map(valuation, state.bag)) // len(state.bag)
        worths = worths_of(state.down.valuations, average)
        gold, bought = state.gold, state.bought
        if state.auction is not None and not state.auction.closed:
            leader = state.auction.leader
            gold = put(gold, leader, gold[leader] - state.auction.high)
            bought = put(bought, leader, (*bought[leader], state.auction.card))
        scores = [
            own + total_worth(cards, worths, crown)
            for own, cards, crown in zip(gold, bought, state.down.crowns, strict=True)
        ]
        return scores[seat] - max(scores[:seat] + scores[seat + 1 :])

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        down = view.down
        # A sly Excuse player, who saw the seven, wonders only how they lie.
        saw = down.seven and not any(map(is_hidden, down.seven))
        pool = draw.shuffle(without(down.seven if saw else view.bag, down.valuations))
        valuations = tuple(pool.pop() if is_hidden(card) else card for card in down.valuations)
        crowns = self._imagine_crowns(view, draw)
        down = replace(
            down,
            valuations=valuations,
            crowns=crowns,
            aside=without(CROWNS, crowns),
            seven=in_order(valuations) if down.seven else (),
        )
        return replace(view, down=down, bag=without(view.bag, valuations))

    def _imagine_crowns(self, view: State, draw: Draw) -> Cards:
        """Crowns as they may have been dealt: by chance, and tried until they agree with what this reader knows."""
        told = view.down.crowns
        if not any(map(is_hidden, told)):
            return told
        while True:
            crowns = ritual(view.aces, draw) if view.excuse is None else draw.pick(assignments(view.aces))
            if all(is_hidden(seen) or crown == seen for crown, seen in zip(crowns, told, strict=True)):
                return crowns

    def word(self, value: Any) -> str:
        return f"the Crown of {SUITS[value[1]]}" if value in CROWNS else spoken(value)


def some(bag: Cards, many: int, draw: Draw) -> Cards:
    """So many cards out of the bag, any of them equally likely, in the order in which they came."""
    drawn: list[str] = []
    for _ in range(many):
        drawn.append(draw.pick(bag))
        bag = take(bag, drawn[-1])
    return tuple(drawn)


def crown_things(crowns: Cards) -> tuple[Thing, ...]:
    """The Crowns as they are named in a choice: by their suits."""
    return tuple(
        Thing(crown, SUITS[suits(crown)], NAMES[crown], (f"Crown of {SUITS[suits(crown)]}", NAMES[crown]))
        for crown in crowns
    )


def owner(seat: int, view: State) -> Text:
    """A player and what lies in front."""
    if seat == view.excuse:
        return say("{seat} with the Excuse", seat=seat)
    return say("{seat} with the Aces of {suits}", seat=seat, suits=tuple(map(suits, view.aces[seat])))


def told_worths(valuations: Cards) -> Text:
    """What every suit was worth, and why."""
    worths = worths_of(valuations)
    each = tuple(
        say("{suit} {worth} by {card}", suit=suit, worth=worths[suit], card=card)
        for suit, card in zip(SUITS, valuations, strict=False)
    )
    return say(
        "The suits are worth: {each}; the Excuse {worth} by {card}.",
        each=each,
        worth=worths[EXCUSE],
        card=valuations[-1],
    )


def told_crowns(crowns: Cards) -> Text:
    """Who has which Crown."""
    each = tuple(say("{suit} with {seat}", suit=suits(crown), seat=seat) for seat, crown in enumerate(crowns))
    aside = tuple(map(suits, without(CROWNS, crowns)))
    return say("The Crowns: {each}; set aside: {aside}.", each=each, aside=aside)
