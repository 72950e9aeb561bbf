"""Sun Bid

Collect cards that score together, using a handful of Suns as your bids. The Sun you win with goes to the centre for the next
winner, so a strong bid now arms a rival later. After three rounds, the player with the most points wins.

Suns. Each Sun has a value: Ace 1, Desert 2, Painter 3, Mountain 4, Discovery 5, Penitent 6, Castle 7, Diplomat 8, Pact 9,
Harvest 10, Lightkeeper 11, Window 12, Bard 13. The Ace starts in the centre. Two players share out Suns 2 to 9; three or
four share out Suns 2 to 13.

A turn. On your turn, do one of three things:
Flip: turn over the top card of the deck and add it to the pool.
Call: start an auction for the pool, even if it's empty.
Use: discard a Pawn or Court you've won to take a card from the pool that shares a suit with it.
Play then passes to the left, to the next player with a face-up Sun.

An auction. An auction starts when someone calls one or when the pool is full, at four cards with two players or at five with
more. Going left, everyone gets one chance to bid, and the player whose turn it is bids last. Bid a face-up Sun higher than
any bid so far, or pass. If you called the auction and nobody else bids, you have to. If nobody bids for a full pool, it's
discarded.

Winning. Add the pool to your take, the cards you've won. Swap the Sun you bid with the one in the centre. The Sun you get
stays face down until the next round, so you can't bid it yet. Losing bids go back to their owners.

Aces. For each Ace in a pool you win, you must discard a card of its suit from your take, if you have one. It can be a card
you've just won. The Ace is discarded too.

The end of a round. A round ends when every Sun is face down, or when the deck runs out. Takes are scored and shuffled back
into the deck, all Suns are turned face up, and the player with the highest Sun starts the next round.

Scoring. Each round, you score:
Sun total: 5 points if your Suns, face up and face down, add up to the highest total. Tied players get 5 each.
Pawns and Courts: 3 points each.
Matching ranks: 2 points for each card whose number you have at least twice, and for each Crown if you have two or more.
Sequences: 1 point for each card that has a neighbour: a card one number higher or lower that shares a suit with it. An Ace
counts as 1, and a Crown as any number in its suit. Pawns and Courts don't count.
Your take is always scored in the way that gives you the most points.

The end. After three rounds, the player with the most points wins. Ties go to the higher Sun total, then to the highest
single Sun.

Fine print. The deck is made up of all cards without a Sun: Aces, 2 to 9, Crowns, two Pawns and two Courts. With three or
four players, there are two of each. The other suits on a Sun don't matter. You can't discard one Ace to pay for another from
the same pool. An Ace you take with a Pawn or Court costs you nothing and stays in your take. If the last card of the deck
doesn't fill the pool, the next player with a face-up Sun can call one last auction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision, Selection
from engine.decks import decktet
from engine.decks.decktet import faces, in_order
from engine.game import Chapter, Game, Lesson, Standing, Story
from engine.options import Options
from engine.tell import Text, say

from . import board, bots, decisions, lessons
from .aces import losses, lost
from .cards import FOR_SALE, SUNS, Cards
from .examples import EXAMPLES
from .facts import (
    Bid,
    Called,
    Dealt,
    DeckRanOut,
    Ended,
    Flipped,
    LeadPassed,
    LetGo,
    PaidForAces,
    Passed,
    PoolFilled,
    RoundBegan,
    RoundEnded,
    Scored,
    Unsold,
    Used,
    Won,
)
from .scoring import HIGHEST_SUN_TOTAL, points_of_take
from .state import ROUNDS, State, all_sums, next_with_a_sun, running
from .terms import EQUAL_PAWNS, SEQUENCE_SCORING, STACKS, agreed


class SunBid(Game[State]):
    """Sun Bid for two to four players."""

    title = "Sun Bid"
    seats = (2, 4)
    options = (STACKS, EQUAL_PAWNS, SEQUENCE_SCORING)
    length = say("Three rounds of 40 to 80 short turns.")
    mood = say("Push your luck: one more card, or the auction?")
    credits = say(
        "Sun Bid is by Greg James, after Reiner Knizia's Ra; the equal Pawns are P. D. Magnus's idea. The "
        "published rules are under CC BY-NC-SA 3.0; this page is our own account of them. The Decktet is "
        "by P. D. Magnus."
    )
    cover = faces(("AS", "9MS", "XS"))
    # No `bid_price`: a pool has no points of its own. They come at the end of a round from all that a take has become by then,
    # and a Sun costs none either: it's traded for another, and only the highest sum of Suns scores.
    examples = EXAMPLES
    demo = 3

    def start(self, seats: int, options: Options) -> State:
        terms = agreed(seats, options)
        nothing: tuple[Cards, ...] = ((),) * seats
        return State(terms, FOR_SALE * terms.copies, terms.stacks, nothing, nothing, (0,) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat, stack in enumerate(draw.shuffle(state.terms.stacks)):
            state = yield Dealt(seat, stack)
        yield self._round(state)

    def asks(self, view: State, seat: int) -> Decision | None:
        return decisions.asks(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        return decisions.barred(view, seat)

    def objects(self, view: State, seat: int, choice: Choice) -> Text | None:
        return decisions.objects(view, seat, choice)

    def selection(self, view: State, decision: Decision) -> Selection | None:
        return decisions.selection(view, decision)

    def choice_of(self, view: State, decision: Decision, selected: Sequence[str]) -> Choice:
        return Choice("discard", decisions.payment(view, decision, tuple(selected)))

    def lesson(self, view: State, seat: int) -> Lesson | None:
        return lessons.lesson(view, seat)

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
        """Add a card to the pool, which may fill it or be the last one."""
        state = yield Flipped(seat, draw.pick(state.deck))
        if len(state.pool) == state.terms.full:
            return (yield PoolFilled())
        if not state.deck:
            return (yield DeckRanOut(next_with_a_sun(seat, state)))
        return (yield LeadPassed(next_with_a_sun(seat, state)))

    def _close(self, state: State) -> Chapter[State]:
        """Close the auction, after every bidder has bid or passed."""
        auction = running(state)
        if auction.leader is None:
            state = yield Unsold()
        else:
            state = yield Won(auction.leader, in_order(state.pool), auction.high, state.centre)
            if state.auction is not None:
                return (yield from self._pay_for_aces(state, auction.leader, state.auction.aces))
        return (yield from self._go_on(state))

    def _pay_for_aces(self, state: State, seat: int, aces: Cards) -> Chapter[State]:
        """Pay for Aces. The winner is asked only if it makes a difference."""
        only, *more = islice(losses(aces, in_order(state.takes[seat])), 2)
        if more:
            return state
        state = yield PaidForAces(seat, aces, only)
        return (yield from self._go_on(state))

    def _go_on(self, state: State) -> Chapter[State]:
        """Go on after an auction: with the next turn, or the end of the round."""
        if state.deck and any(state.suns):
            return (yield LeadPassed(next_with_a_sun(state.lead, state)))
        return (yield from self._end_round(state))

    def _end_round(self, state: State) -> Chapter[State]:
        state = yield RoundEnded(state.round, spent=not any(state.suns))
        sums = all_sums(state)
        for seat, cards in enumerate(state.takes):
            bonus = HIGHEST_SUN_TOTAL if sums[seat] == max(sums) else 0
            state = yield Scored(seat, bonus, *points_of_take(cards, state.terms.per_suit))
        return (yield Ended() if state.round == ROUNDS else self._round(state))

    def _round(self, state: State) -> RoundBegan:
        """Begin the next round. The owner of the highest Sun has the first turn, not counting the centre."""
        sun = max((sun for own in state.suns for sun in own), key=SUNS.index)
        seat = next(seat for seat, own in enumerate(state.suns) if sun in own)
        return RoundBegan(state.round + 1, seat, sun)

    def standing(self, state: State) -> Standing:
        if not state.over:
            return Standing(state.scores)
        highest = tuple(max(map(SUNS.index, suns)) for suns in state.suns)
        return Standing.by(
            tuple(zip(state.scores, all_sums(state), highest, strict=True)),
            (say("the higher Sun total"), say("the highest single Sun")),
        )

    def board(self, view: State, seat: int) -> Board:
        return board.show(view, seat)

    def longest(self, seats: int, options: Options) -> int:
        # In a round each card is flipped once and each Pawn and Court used once. An auction costs a Sun, or a full
        # pool; it is called, everyone bids, and it is paid for. The deal is an entry, and so is the last decision of a round.
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
        """Return points in tenths, during the game with what the take scores and the Suns face up are likely to bring."""
        if state.over:
            return 10 * state.scores[seat]
        points = state.scores[seat] + sum(points_of_take(state.takes[seat], state.terms.per_suit))
        return 10 * points + sum(15 + 2 * SUNS.index(sun) for sun in state.suns[seat])

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice | None:
        return bots.quick(view, decision, draw)

    def word(self, value: Any) -> str:
        return decktet.spoken(value)
