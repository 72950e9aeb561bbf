"""Sorcerous Futures

Buy cards before anyone knows their full value. Each player sees a different part of the future, and every bid gives some of
it away: read the others, and don't let them read you. Cards and gold are worth points, and the most points win.

Values. Under each of the six Aces is a face-down card. Its number is the value of that suit; a Pawn counts as 1. There's a
seventh card under the Excuse, for the Crowns.

Three players. Everyone has two Aces and knows the cards under them. The card under the Excuse is turned up after ten sales.

Four players. Three players have two Aces each. The fourth has the Excuse, and is the only one who knows the card under it.

Crowns. Everyone has a secret Crown, never of the same suit as one of their own Aces. Each card you buy in your Crown's suit
also scores the value of the card under the Excuse.

A turn. Five cards are for sale at a time. The player with the Ace of Suns sells first; then the turn passes to the left,
whoever buys. When you're the seller, choose a card and the kind of auction:
Open: you bid exactly the card's number, or 10 for a Pawn. Going left, everyone else gets one chance to bid more or pass. If
you're outbid, you get one last bid.
Closed: everyone bids in secret, 0 or more. A tie goes to you if you're in it, and otherwise to the first tied player on your
left.
The highest bidder pays their bid and takes the card. Nobody else pays.

The end. After four groups of five cards, everything is revealed. Each of your cards scores the value of each of its suits;
cards in your Crown's suit also score the card under the Excuse. Add your gold: the player with the most points wins. Ties go
to the player with the lower total under their Aces or Excuse; if those are equal too, the win is shared.

The ritual. With three players, Crowns are passed around at random, unseen. You start with the two Crowns that match your
Aces. Everyone passes both to the right, then one of the two they were given to the left, then both of the two they now have
to the right, and keeps one of the two that arrive. With four players, the player with the Excuse gives each of the others a
Crown and keeps one of the rest, and so knows where they all are. Only then does anyone look under an Ace.

Fine print. The cards for sale are 2 to 9, with two suits each, and the four Pawns, with three. Everyone starts with 90 gold.
You can't choose an open auction if you can't afford the first bid. You're skipped if you can't afford to bid more, or if you
have no gold for a closed auction. The last card of the deck is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.decktet import ACES, CROWNS, SUITS, faces, in_order, spoken
from engine.game import Chapter, Game, Lesson, Standing, Story
from engine.options import Options
from engine.records import replace
from engine.rulings import Part, Ruling
from engine.seats import clockwise
from engine.tell import Text, say

from . import board, bots, decisions, lessons, worth
from .cards import AUCTIONS, GROUP, GROUPS, MARKERS, Cards, opening_bid, some
from .crowns import assignments, ritual
from .examples import EXAMPLES
from .facts import (
    Began,
    Bid,
    BidsShown,
    Bought,
    Closed,
    ExcuseTurnedUp,
    GaveCrown,
    GotAces,
    KeptCrown,
    Looked,
    Opened,
    Passed,
    Revealed,
    SawSeven,
    TookExcuse,
    TurnedUp,
)
from .state import EXCUSE_TURNED_BEFORE, GOLD, FaceDown, State, markers_of, running, winner_of
from .terms import EXCUSE_SEAT, SLY_EXCUSE, agreed


class SorcerousFutures(Game[State]):
    """Sorcerous Futures for three or four players."""

    title = "Sorcerous Futures"
    seats = (3, 4)
    options = (EXCUSE_SEAT, SLY_EXCUSE)
    length = say("20 auctions, with one or two short turns each.")
    mood = say("Bluff and deduction: every bid gives something away.")
    credits = say(
        "Sorcerous Futures is by Adam Blinkinsop and P. D. Magnus. The published rules are under CC "
        "BY-NC-SA 3.0; this page is our own account of them. The Decktet is by P. D. Magnus."
    )
    hidden = ("a face-down card", "face-down cards")
    cover = faces(("AM", "XW", "E"))
    examples = EXAMPLES
    demo = 3
    # The score counts the gold that was paid, and there's nearly always enough left for the next card.
    bid_price = Fraction(0)
    independent_topics = True
    rulings = (
        Ruling(1, frozenset({Part.VIEWS}), "Views keep what everyone has bid, which tells bots what others know."),
        Ruling(1, frozenset({Part.VIEWS}), "They say which of these bids were sealed."),
    )

    def start(self, seats: int, options: Options) -> State:
        return State(
            agreed(seats, options),
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
        return decisions.asks(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        return decisions.barred(view, seat)

    def objects(self, view: State, seat: int, choice: Choice) -> Text | None:
        return decisions.objects(view, seat, choice)

    def lesson(self, view: State, seat: int) -> Lesson | None:
        return lessons.lesson(view, seat)

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
        """Hand out the Crowns of the Excuse player's choice."""
        assert state.excuse is not None, "nobody has the Excuse"
        giver = state.excuse
        for seat in clockwise(0, len(state.gold), without=(giver,)):
            state = yield GaveCrown(giver, seat, crowns[seat])
        state = yield KeptCrown(giver, crowns[giver])
        return (yield from self._lay(state, draw))

    def _lay(self, state: State, draw: Draw) -> Chapter[State]:
        """Lay cards face down under the Aces and the Excuse, and turn up the first group.

        With three players the card under the Excuse stays in the bag until it is turned up: no one may see it before,
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
        """Turn up the next five cards."""
        group = state.group + 1
        if group == EXCUSE_TURNED_BEFORE and state.excuse is None:
            state = yield ExcuseTurnedUp(draw.pick(state.bag))
        return (yield TurnedUp(group, some(state.bag, GROUP, draw)))

    def _show_bids(self, state: State, card: str, choices: Mapping[int, Choice], draw: Draw) -> Chapter[State]:
        """Show all closed bids together; the highest buys."""
        bids = tuple(choices[seat].number() for seat in range(len(state.gold)))
        state = yield BidsShown(card, bids)
        winner = winner_of(bids, state.active)
        return (yield from self._sell(state, card, winner, bids[winner], draw))

    def _go_on(self, state: State, draw: Draw) -> Chapter[State]:
        """Go on after a bid or a pass: with the next player, or the sale. The leader need not raise their own bid."""
        auction = running(state)
        if auction.waiting not in ((), (auction.leader,)):
            return state
        return (yield from self._sell(state, auction.card, auction.leader, auction.high, draw))

    def _sell(self, state: State, card: str, winner: int, gold: int, draw: Draw) -> Chapter[State]:
        """Sell the card; then comes the next auction, the next group, or the end."""
        state = yield Bought(winner, card, gold)
        if state.row:
            return state
        if state.group < GROUPS:
            return (yield from self._turn_up(state, draw))
        return (yield Revealed(state.down.valuations, state.down.crowns))

    def standing(self, state: State) -> Standing:
        return worth.standing(state)

    def hindsight(self, view: State, end: State) -> State:
        return replace(view, down=end.down, over=True)

    def board(self, view: State, seat: int) -> Board:
        return board.show(view, seat)

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
        return bots.prospect(state, seat)

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        return bots.imagine(view, seat, draw)

    def mask(self, state: State, seat: int) -> State:
        return bots.mask(state, seat)

    def plausible(self, state: State, seat: int) -> int:
        return bots.plausible(state, seat)

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice | None:
        return bots.quick(view, decision, draw)

    def word(self, value: Any) -> str:
        return f"the Crown of {SUITS[value[1]]}" if value in CROWNS else spoken(value)
