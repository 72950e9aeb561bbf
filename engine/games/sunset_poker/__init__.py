"""Sunset Poker

Draft a hand, then reveal it one card at a time. With each card you decide: fold for a small profit, or stay in and fight for
everything? Once someone takes the Sun, folding costs you points. The game ends when someone reaches 100 points, and the
highest score wins.

The draft. Everyone gets a pack of cards. All at the same time, you each keep one card and pass the rest to the left, until
the packs are empty.

The play. You take turns clockwise. On your turn, do one of three things:
Play: put a card from your hand face up in front of you.
Take: take the Sun from the middle. Only one player can.
Fold: drop out of the round. If the Sun is still in the middle, you gain a point for each card you've played. If it has been
taken, even by you, you lose half a point for each card you've played, rounded up.
Once you've played your last card, you've finished, and you wait for the showdown.

The showdown. When everyone has folded or finished, the players who finished compare their best Sets. The winner gains a
point for each card in a full hand, plus all the points the others lost this round. Every other player who finished loses a
point for each card in a full hand.

Sets. A larger Set beats a smaller one. If they're the same size, the better kind wins. From best to worst, the kinds are:
X of a kind: cards of the same rank.
Straight flush: two or more ranks in a row, one card of each, all sharing a suit.
Run: two or more ranks in a row, one card of each, every card sharing a suit with the next.
Split: two ranks, divided as evenly as possible: one and one, two and one, two and two, and so on.
If the kind is the same too, the Set with the highest card wins: Ace, Crown, Court, Pawn, then 9 down to 2.

The end. Everyone starts with 50 points. If someone has 100 or more after a round, the player with the highest score wins; if
players tie for it, play another round. After 25 rounds, the highest score wins even if it's below 100 or shared.

Fine print. A full hand is twelve cards with three players, nine with four, seven with five, six with six, and five with
seven or more. Cards left over from the deal stay face down, and unplayed cards are never shown. With eight players, the
Pawns are added to the deck; with nine, the Pawns, the Courts and the Excuse, which doesn't fit in any Set. Ranks go round in
a circle: the Ace and the 2 come after the Crown, and the Pawn and the Court between the 9 and the Crown. If players tie for
the best Set, they neither gain nor lose anything, and nobody gets the points the others lost. Nobody gets them if nobody
finishes, either. A score can't fall below 0. The winner of a round starts the next one; if there's no winner, the player to
the left of the last starter does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.decktet import faces, spoken
from engine.facts import take
from engine.game import Chapter, Game, Lesson, Standing, Story
from engine.options import Options
from engine.seats import left_of
from engine.tell import Text, say

from . import board, bots, decisions, lessons
from .examples import EXAMPLES
from .facts import (
    Beaten,
    Dealt,
    Ended,
    Folded,
    NobodyFinished,
    PassedOn,
    Picked,
    PlayBegan,
    Played,
    RoundBegan,
    SunTaken,
    Tied,
    Won,
)
from .sets import Cards, cards_each, deck_for
from .state import START_POINTS, State, best_of, full_hand, points_for_folding
from .terms import MAX_ROUNDS, SETTLE, SPLIT_MIN, TARGET, agreed


class SunsetPoker(Game[State]):
    """Sunset Poker for three to nine players."""

    title = "Sunset Poker"
    seats = (3, 9)
    options = (TARGET, MAX_ROUNDS, SPLIT_MIN, SETTLE)
    length = say("Five to ten rounds of 4 to 11 picks, with short turns.")
    mood = say("Drafting and nerve: leave early, or fight for it all.")
    credits = say(
        "Sunset Poker is by Christopher Menart. No licence is stated; this page is our own account of the "
        "rules. The Decktet is by P. D. Magnus."
    )
    hidden = ("a card", "cards")
    cover = faces(("6MW", "7WY", "8YK"))
    # No `bid_price`: nothing is bought. A round is won with cards that everyone picked, and its gain is in the swing.
    examples = EXAMPLES
    short = {"max_rounds": 1}
    # Seven cards a player: six to draft and at most seven to play.
    demo = 5
    independent_topics = True

    def start(self, seats: int, options: Options) -> State:
        none: tuple[Cards, ...] = ((),) * seats
        return State(agreed(options), deck_for(seats), (START_POINTS,) * seats, none, none, none)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        dealer = draw.below(len(state.scores))
        yield from self._deal(state, RoundBegan(1, left_of(dealer, len(state.scores))), draw)

    def asks(self, view: State, seat: int) -> Decision | None:
        return decisions.asks(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        return decisions.barred(view, seat)

    def lesson(self, view: State, seat: int) -> Lesson | None:
        return lessons.lesson(view, seat)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if state.turn is None:
            yield from self._pick(state, {seat: choice.text() for seat, choice in choices.items()})
            return
        ((seat, choice),) = choices.items()
        if choice.verb == "play":
            state = yield Played(seat, choice.text(), last=len(state.hands[seat]) == 1)
        elif choice.verb == "take":
            state = yield SunTaken(seat)
        else:
            state = yield self._fold(state, seat)
        if state.turn is None:
            yield from self._settle(state, draw)

    def _deal(self, state: State, began: RoundBegan, draw: Draw) -> Chapter[State]:
        state = yield began
        each, deck = full_hand(state), draw.shuffle(state.deck)
        for seat in range(len(state.scores)):
            state = yield Dealt(seat, tuple(deck[seat * each : (seat + 1) * each]))
        return state

    def _pick(self, state: State, picks: Mapping[int, str]) -> Chapter[State]:
        """Make all picks and pass the packs; the last card of a pack is taken without asking."""
        for seat, card in sorted(picks.items()):
            state = yield Picked(seat, left_of(seat, len(state.scores)), card, take(state.packs[seat], card))
        state = yield PassedOn(len(state.packs[0]))
        if len(state.packs[0]) > 1:
            return state
        for seat, pack in enumerate(state.packs):
            state = yield Picked(seat, left_of(seat, len(state.scores)), pack[0], ())
        return (yield PlayBegan(state.first))

    def _fold(self, state: State, seat: int) -> Folded:
        cards = len(state.played[seat])
        points = points_for_folding(cards, state.sun is not None)
        really = max(points, -state.scores[seat])
        return Folded(seat, cards, really, max(0, -(points if state.terms.nominal else really)))

    def _settle(self, state: State, draw: Draw) -> Chapter[State]:
        """Hold the showdown, losses before gains; then comes the next round, or the end."""
        best = {seat: best_of(state, cards) for seat, cards in enumerate(state.played) if seat not in state.folded}
        highest = max((each.strength() for each in best.values()), default=None)
        leaders = tuple(seat for seat, each in best.items() if each.strength() == highest)
        stake = full_hand(state)
        for seat, beaten in best.items():
            if seat not in leaders:
                really = min(stake, state.scores[seat])
                state = yield Beaten(seat, beaten, really, stake if state.terms.nominal else really)
        if len(leaders) == 1:
            state = yield Won(leaders[0], best[leaders[0]], stake, state.lost)
        elif leaders:
            state = yield Tied(leaders, best[leaders[0]])
        else:
            state = yield NobodyFinished()
        first = leaders[0] if len(leaders) == 1 else left_of(state.first, len(state.scores))
        return (yield from self._go_on(state, first, draw))

    def _go_on(self, state: State, first: int, draw: Draw) -> Chapter[State]:
        reached = max(state.scores) >= state.terms.target
        shared = state.scores.count(max(state.scores)) > 1
        if (reached and not shared) or state.round == state.terms.max_rounds:
            return (yield Ended(reached))
        return (yield from self._deal(state, RoundBegan(state.round + 1, first, reached), draw))

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((score,) for score in state.scores)) if state.over else Standing(state.scores)

    def board(self, view: State, seat: int) -> Board:
        return board.show(view, seat)

    def longest(self, seats: int, options: Options) -> int:
        # A round has one pick fewer than cards in a pack, a turn for each card of each hand, and one for the Sun.
        return 1 + MAX_ROUNDS.value_in(options) * cards_each(seats) * (seats + 1)

    def tally(self, state: State) -> Mapping[str, int]:
        cards = [
            *state.deck,
            *(card for piles in (state.hands, state.packs, state.played) for p in piles for card in p),
        ]
        return {"cards": len(cards), "different cards": len(set(cards))}

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
        return spoken(value)
