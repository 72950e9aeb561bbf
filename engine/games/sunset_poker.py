"""Sunset Poker

Everybody builds a hand out of passing packs, then shows it card by card, and at every card asks the same question: run
with a small profit while the Sun is up, or stay and fight for everything? Whoever takes the Sun shuts the door on those
who wanted to slip out, and nobody knows who will dare.

The cards. The Decktet: 36 cards for three to seven players, with the Pawns for eight, with Pawns, Courts and the Excuse
for nine. Three players get twelve cards each, four nine, five seven, six six, and seven to nine players five. What does
not divide evenly stays face down and unseen for the round. Everybody starts with 50 points.

The draft. You are dealt a pack. Pick one card for your hand and pass the rest to the left; everybody does so at once,
and goes on with the pack that arrives. The last card of a pack is simply yours.

The play. Clockwise from the first player, each in turn does one thing: play a card face up, take the Sun from the
middle, or fold. The Sun can be taken once. If you fold while it is still there, you gain a point for every card you
have played. If somebody has taken it, were it yourself, you lose half a point for every card you have played, rounded
up. Whoever has played the last card is finished and waits. The round is over when everybody has folded or is finished;
unplayed cards are never shown.

The showdown. The finished players compare their best Sets. The best one gains a point for each card of a full hand,
and all that the others lost in this round. Every other finished player loses a point for each card. If the best Sets
are equal in everything, those who tie gain and lose nothing, and what was lost is gone; so it is when nobody finished.
Points never fall below zero, and being down to zero puts nobody out.

Sets. A larger Set beats a smaller one. Of the same size, the kind counts, from high to low:
X of a kind: cards of one rank.
Straight flush: two or more ranks in a row, one card each, and one suit that is on all the cards.
Run: two or more ranks in a row, one card each, every card sharing a suit with the next.
Split: two ranks, as evenly as can be: one and one, two and one, two and two, three and two, and so on.
Of the same kind, the highest card counts; the Ace is the highest, then Crown, Court, Pawn, 9 and down to 2. In a row
the ranks go round in a circle: Ace, 2 to 9, Pawn, Court (where they are in the deck), Crown, and Ace again, so an Ace
may stand below a 2 and above a Crown in the same row. The Excuse is in no Set; it is only a card to play.

The end. The winner of a round is the first player of the next; without one the first player's left neighbour is. When
after a round somebody has 100 points, the highest score wins; if it is shared, another round is played. After 25
rounds the highest score wins in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any, Final

from engine.board import Board, Grid, Line, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision, OneOf
from engine.decks.decktet import (
    BASIC,
    EXTENDED,
    RANK_NAMES,
    SUITS,
    faces,
    in_order,
    rank,
    spoken,
    suits,
    things,
)
from engine.facts import SPECTATOR, Fact, fact, is_hidden, put, secret, take
from engine.game import Chapter, Game, Listed, Number, Options, Standing, Story
from engine.seats import clockwise, left_of
from engine.tell import Text, say

Cards = tuple[str, ...]

START_POINTS: Final = 50

# The Pawns make the deck divisible by eight, and only the whole extended deck is divisible by nine.
DECKS: Final[Mapping[int, Cards]] = {8: EXTENDED[:40], 9: EXTENDED}

CIRCLE: Final = "A23456789PTX"
"""The ranks in a row. After the last comes the first again; ranks that are not in the deck are left out."""

HEIGHTS: Final = "23456789PTXA"
"""The ranks from the lowest card to the highest."""

POINT: Final = 1000
"""What a point is worth to a bot: more than the difference of any two Sets."""

KINDS: Final = ("split", "run", "straight flush", "kind")
"""The kinds of Set, lowest first."""


@fact
class Terms:
    """What was agreed before the game."""

    target: int
    max_rounds: int
    split_min: int
    nominal: bool


@fact
class State:
    """A table of Sunset Poker.

    `deck` is what was not dealt, in no order; in a view it is what the reader was not dealt. A pack keeps the order in
    which it was dealt. `turn` is None during the draft; `sun` is who has taken the Sun; `lost` is what the winner of
    the round will collect.
    """

    terms: Terms
    deck: Cards
    scores: tuple[int, ...]
    hands: tuple[Cards, ...]
    packs: tuple[Cards, ...]
    played: tuple[Cards, ...]
    round: int = 0
    first: int = 0
    turn: int | None = None
    sun: int | None = None
    folded: tuple[int, ...] = ()
    lost: int = 0
    over: bool = False


@fact
class BestSet:
    """The best Set of some cards; without cards, none."""

    kind: str
    cards: Cards

    def strength(self) -> tuple[int, int, int]:
        """What is compared: the size, then the kind, then the highest card."""
        return len(self.cards), KINDS.index(self.kind), max(map(height, self.cards), default=0)

    def words(self) -> Text:
        """The Set as players call it."""
        if not self.cards:
            return say("no Set")
        size, top = len(self.cards), rank(max(self.cards, key=height))
        if self.kind != "kind":
            template = {
                "split": "a split of {size} with {top} high",
                "run": "a run of {size} with {top} high",
                "straight flush": "a straight flush of {size} with {top} high",
            }[self.kind]
        else:
            template = {1: "a single {top}", 2: "a pair of {top}s"}.get(size, "{size} of a kind ({top}s)")
        return say(template, size=size, top=RANK_NAMES.get(top, top))


# What can happen.


@fact
class RoundBegan(Fact[State]):
    """Round {round} begins with new packs. {seat} will play first."""

    round: int
    seat: int
    shared: bool = False

    def sentence(self) -> Text:
        template = (
            "The top score is shared, so there is a round {round}, with new packs. {seat} will play first."
            if self.shared
            else "Round {round} begins with new packs. {seat} will play first."
        )
        return say(template, round=self.round, seat=self.seat)

    def apply(self, state: State) -> State:
        none: tuple[Cards, ...] = ((),) * len(state.scores)
        return replace(
            state,
            deck=deck_for(len(state.scores)),
            hands=none,
            packs=none,
            played=none,
            round=self.round,
            first=self.seat,
            turn=None,
            sun=None,
            folded=(),
        )


@fact
class Dealt(Fact[State]):
    """{seat} [is|are] dealt {cards}."""

    silent = True
    seat: int
    cards: Cards = secret()

    def apply(self, state: State) -> State:
        deck = tuple(card for card in state.deck if card not in self.cards)
        return replace(state, deck=deck, packs=put(state.packs, self.seat, self.cards))


@fact
class Picked(Fact[State]):
    """{seat} [picks|pick] {card}. Whoever picks and whoever gets the pack next know the rest of it."""

    seat: int
    left: int
    card: str = secret()
    rest: Cards = secret("seat", "left")

    def sentence(self) -> Text | None:
        # That everybody has picked is told once; here each reader is told of the own card only.
        return None if is_hidden(self.card) else say("{seat} [picks|pick] {card}.", seat=self.seat, card=self.card)

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.seat, (*state.hands[self.seat], self.card))
        return replace(state, hands=hands, packs=put(state.packs, self.seat, self.rest))


@fact
class PassedOn(Fact[State]):
    """Everybody has picked a card; the packs, {cards:card|cards} each, go to the left."""

    cards: int

    def apply(self, state: State) -> State:
        return replace(state, packs=(state.packs[-1], *state.packs[:-1]))


@fact
class PlayBegan(Fact[State]):
    """The last cards go to their hands and the play begins. {seat} [is|are] first."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, turn=self.seat)


@fact
class Played(Fact[State]):
    """{seat} [plays|play] {card}."""

    seat: int
    card: str
    last: bool = False

    def sentence(self) -> Text:
        template = "{seat} [plays|play] {card} and [is|are] finished." if self.last else "{seat} [plays|play] {card}."
        return say(template, seat=self.seat, card=self.card)

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.seat, take(state.hands[self.seat], self.card))
        played = put(state.played, self.seat, (*state.played[self.seat], self.card))
        return replace(state, hands=hands, played=played, turn=next_in(self.seat, hands, state.folded))


@fact
class SunTaken(Fact[State]):
    """{seat} [takes|take] the Sun. From now on it costs points to fold."""

    seat: int

    def apply(self, state: State) -> State:
        return replace(state, sun=self.seat, turn=next_in(self.seat, state.hands, state.folded))


@fact
class Folded(Fact[State]):
    """{seat} [folds|fold]. `points` is what the score changes by, `lost` what the winner will collect of it."""

    seat: int
    cards: int
    points: int
    lost: int = 0

    def sentence(self) -> Text:
        if not self.cards:
            template = "{seat} [folds|fold] without a card played."
        elif self.points > 0:
            template = "{seat} [folds|fold] after {cards:card|cards} and [gains|gain] {points:point|points}."
        elif self.points < 0:
            template = "{seat} [folds|fold] after {cards:card|cards} and [loses|lose] {points:point|points}."
        else:
            template = "{seat} [folds|fold] after {cards:card|cards} and [has|have] no points left to lose."
        return say(template, seat=self.seat, cards=self.cards, points=abs(self.points))

    def apply(self, state: State) -> State:
        folded = (*state.folded, self.seat)
        return replace(
            state,
            scores=put(state.scores, self.seat, state.scores[self.seat] + self.points),
            folded=folded,
            turn=next_in(self.seat, state.hands, folded),
            lost=state.lost + self.lost,
        )


@fact
class Beaten(Fact[State]):
    """{seat} [has|have] only {best} and [loses|lose] {points:point|points}."""

    seat: int
    best: BestSet
    points: int
    lost: int

    def sentence(self) -> Text:
        template = (
            "{seat} [has|have] only {best} and [loses|lose] {points:point|points}."
            if self.points
            else "{seat} [has|have] only {best} and no points left to lose."
        )
        return say(template, seat=self.seat, best=self.best.words(), points=self.points)

    def apply(self, state: State) -> State:
        scores = put(state.scores, self.seat, state.scores[self.seat] - self.points)
        return replace(state, scores=scores, lost=state.lost + self.lost)


@fact
class Won(Fact[State]):
    """{seat} [wins|win] the round with {best} and [gains|gain] {points:point|points}, and {lost} that the others lost."""

    seat: int
    best: BestSet
    points: int
    lost: int

    def sentence(self) -> Text:
        template = (
            "{seat} [wins|win] the round with {best} ({cards}) and [gains|gain] {points:point|points}, "
            "and the {lost:point|points} that others lost."
            if self.lost
            else "{seat} [wins|win] the round with {best} ({cards}) and [gains|gain] {points:point|points}."
        )
        values = {"points": self.points, "lost": self.lost}
        return say(template, seat=self.seat, best=self.best.words(), cards=self.best.cards, **values)

    def apply(self, state: State) -> State:
        gained = state.scores[self.seat] + self.points + self.lost
        return replace(state, scores=put(state.scores, self.seat, gained), lost=0)


@fact
class Tied(Fact[State]):
    """{seats:seats} tie with {best}: a perfect tie. They gain and lose nothing, and what others lost is gone."""

    seats: tuple[int, ...]
    best: BestSet

    def sentence(self) -> Text:
        return say(
            "{seats:seats} tie with {best}, a perfect tie: no gain and no loss, and what others lost is gone.",
            seats=self.seats,
            best=self.best.words(),
        )

    def apply(self, state: State) -> State:
        return replace(state, lost=0)


@fact
class NobodyFinished(Fact[State]):
    """Everybody has folded: nobody wins the round, and what was lost is gone."""

    def apply(self, state: State) -> State:
        return replace(state, lost=0)


@fact
class Ended(Fact[State]):
    """The game is over."""

    reached: bool

    def sentence(self) -> Text:
        return say(
            "The target is reached. The game is over." if self.reached else "That was the last round. The game is over."
        )

    def apply(self, state: State) -> State:
        return replace(state, over=True)


# The arithmetic of the rules.


def deck_for(seats: int) -> Cards:
    """The cards in the game."""
    return DECKS.get(seats, BASIC)


def cards_each(seats: int) -> int:
    """The cards in a full hand, and in a new pack."""
    return len(deck_for(seats)) // seats


@cache
def circle_for(seats: int) -> str:
    """The ranks in the game, in a row; after the last comes the first."""
    ranks = {rank(card) for card in deck_for(seats)}
    return "".join(letter for letter in CIRCLE if letter in ranks)


def height(card: str) -> int:
    """How high a card is in a comparison: the Ace always highest."""
    return HEIGHTS.index(rank(card))


def points_for_folding(played: int, sun_taken: bool) -> int:
    """A gain of one for each card played, or a loss of one for each two, rounded up."""
    return -((played + 1) // 2) if sun_taken else played


def best_set(cards: Cards, circle: str, split_min: int) -> BestSet:
    """The best Set of these cards. Of equally good ones it does not matter which."""
    held = {letter: tuple(card for card in cards if rank(card) == letter) for letter in circle}
    sets = [BestSet("kind", same) for same in held.values()]
    for suit in SUITS:
        sets += (BestSet("straight flush", row) for row in rows(_of_suit(held, suit), circle))
    sets += (BestSet("run", row) for row in rows(held, circle))
    sets += (BestSet("split", split) for split in splits(held) if len(split) >= split_min)
    return max(sets, key=BestSet.strength)


def rows(held: Mapping[str, Cards], circle: str) -> Iterator[Cards]:
    """From each rank on, the longest row of ranks with one card each, every card sharing a suit with the next.

    How a row goes on depends on nothing but its last card, so one row is remembered for each card that it may end in.
    """
    for i in range(len(circle)):
        longest: Cards = ()
        ends: dict[str, Cards] = {card: (card,) for card in held[circle[i]]}
        for letter in circle[i + 1 :] + circle[:i]:
            ends = {
                card: (*row, card)
                for card in held[letter]
                for last, row in ends.items()
                if not set(suits(last)).isdisjoint(suits(card))
            }
            if not ends:
                break
            longest = next(iter(ends.values()))
        if longest:
            yield longest


def splits(held: Mapping[str, Cards]) -> Iterator[Cards]:
    """For each two ranks the largest split: as many cards of both, or one more of the first."""
    for some, others in permutations(held.values(), 2):
        if others and len(some) >= len(others):
            yield some[: len(others) + 1] + others


def next_in(seat: int, hands: tuple[Cards, ...], folded: tuple[int, ...]) -> int | None:
    """The next player clockwise who has neither folded nor finished; it may be the same one again."""
    return next((other for other in clockwise(seat + 1, len(hands), without=folded) if hands[other]), None)


def _of_suit(held: Mapping[str, Cards], suit: str) -> dict[str, Cards]:
    return {letter: tuple(card for card in cards if suit in suits(card)) for letter, cards in held.items()}


class SunsetPoker(Game[State]):
    """Sunset Poker for three to nine players."""

    title = "Sunset Poker"
    seats = (3, 9)
    options = (
        Number("target", say("Points that end the game"), 100, 51, 1000, say("How many points end the game.")),
        Number(
            "max_rounds",
            say("Rounds at most"),
            25,
            1,
            100,
            say("After how many rounds the game ends at the latest."),
        ),
        Listed(
            "split_min",
            say("The smallest split"),
            "2",
            (("2", say("two cards")), ("4", say("two pairs"))),
            say("The smallest split: two cards of any two ranks, or two pairs."),
        ),
        Listed(
            "settle",
            say("The winner collects"),
            "actual",
            (("actual", say("what others lost")), ("nominal", say("what others should have lost"))),
            say("The winner collects what others really lost, or what they should have lost had they had enough."),
        ),
    )
    length = say("Five to ten rounds; in each, four to eleven picks that all make at once, then short turns.")
    credits = say(
        "Sunset Poker is a design by Christopher Menart for the Decktet, which is by P. D. Magnus. No licence is stated; "
        "this page is our own account of it."
    )
    hidden = ("a card", "cards")
    cover = faces(("6MW", "7WY", "8YK"))
    short = {"max_rounds": 1}
    # Seven cards a player: six to draft and at most seven to play.
    demo = 5

    def start(self, seats: int, options: Options) -> State:
        terms = Terms(
            target=int(options["target"]),
            max_rounds=int(options["max_rounds"]),
            split_min=int(options["split_min"]),
            nominal=options["settle"] == "nominal",
        )
        none: tuple[Cards, ...] = ((),) * seats
        return State(terms, deck_for(seats), (START_POINTS,) * seats, none, none, none)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        dealer = draw.below(len(state.scores))
        yield from self._deal(state, RoundBegan(1, left_of(dealer, len(state.scores))), draw)

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over or seat == SPECTATOR:
            return None
        if view.turn is None:
            return self._ask_to_pick(view, seat)
        return self._ask_for_a_turn(view, seat) if seat == view.turn else None

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        if view.turn is None:
            why = say("It begins when everybody has picked a hand.")
            return {"play": why, "take": why, "fold": why}
        return {} if view.sun is None else {"take": say("{taker:seat} [has|have] taken the Sun.", taker=view.sun)}

    def _ask_to_pick(self, view: State, seat: int) -> Decision:
        pack = view.packs[seat]
        card = OneOf("card", things(in_order(pack)), why=say("It must be a card of the pack that you hold."))
        return Decision(
            seat,
            say("Which card do you pick? You have {own} of {full}.", own=len(view.hands[seat]), full=_full(view)),
            (Act("pick", (card,)),),
            default=Choice("pick", (pack[0],)),
            topic=f"round {view.round}",
        )

    def _ask_for_a_turn(self, view: State, seat: int) -> Decision:
        card = OneOf("card", things(in_order(view.hands[seat])), why=say("It must be a card of your hand."))
        sun = () if view.sun is not None else (Act("take", phrase="take the Sun"),)
        return Decision(
            seat,
            say("Do you play a card or fold?" if view.sun is not None else "Do you play a card, take the Sun or fold?"),
            (Act("play", (card,)), *sun, Act("fold")),
            default=Choice("fold"),
            topic=f"round {view.round}",
        )

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
        each, deck = _full(state), draw.shuffle(state.deck)
        for seat in range(len(state.scores)):
            state = yield Dealt(seat, tuple(deck[seat * each : (seat + 1) * each]))
        return state

    def _pick(self, state: State, picks: Mapping[int, str]) -> Chapter[State]:
        """Everybody's pick, and the packs move; the last card of a pack is taken without asking."""
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
        """The showdown of those who finished; all losses come before the gain. Then the next round, or the end."""
        best = {seat: _best(state, cards) for seat, cards in enumerate(state.played) if seat not in state.folded}
        highest = max((each.strength() for each in best.values()), default=None)
        leaders = tuple(seat for seat, each in best.items() if each.strength() == highest)
        stake = _full(state)
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
        first = view.first if seat == SPECTATOR else seat + 1
        others = clockwise(first, len(view.scores), without=(seat,))
        shows = view.over or view.turn is not None
        return Board(
            title=say(
                "Sunset Poker, round {round} of {last} at most",
                round=view.round,
                last=view.terms.max_rounds,
            ),
            turn=self._turn(view),
            up=self._up(view),
            mine=self._mine(view, seat) if seat != SPECTATOR else (),
            others=tuple(self._other(view, other) for other in others) if shows else (),
            scores=(self._scores(view),),
        )

    def _turn(self, view: State) -> Text:
        if view.over:
            return say("The game is over.")
        if view.turn is None:
            return say(
                "Everybody picks a card from a pack of {cards}. {first:seat} will play first.",
                cards=len(view.packs[0]),
                first=view.first,
            )
        return say("It is {seat's} turn.", seat=view.turn)

    def _up(self, view: State) -> tuple[Part, ...]:
        if view.over:
            return ()
        parts = [Line(say("The game ends when somebody has {target} points.", target=view.terms.target))]
        if view.turn is None:
            return tuple(parts)
        if view.sun is None:
            sun = say("The Sun is there: who folds now gains a point for each card played.")
        else:
            sun = say(
                "{sun:seat} [has|have] taken the Sun: who folds now loses half a point for each card played, rounded up.",
                sun=view.sun,
            )
        parts.append(Line(sun))
        if view.lost:
            lost = say(
                "The winner of the round will collect the {lost:point|points} lost so far.",
                lost=view.lost,
            )
            parts.append(Line(lost))
        return tuple(parts)

    def _mine(self, view: State, seat: int) -> tuple[Part, ...]:
        hand, played = view.hands[seat], view.played[seat]
        parts: list[Part] = []
        if view.packs[seat]:
            parts.append(Row(say("the pack to pick from"), faces(in_order(view.packs[seat]))))
        parts.append(Row(say("your hand"), faces(in_order(hand))))
        if played:
            parts.append(Row(say("you have played"), faces(in_order(played))))
        if (best := _best(view, hand + played)).cards:
            parts.append(Row(say("your best Set is {best}", best=best.words()), faces(best.cards)))
        if seat in view.folded:
            parts.append(Line(say("You have folded.")))
        elif hand and view.turn is not None:
            parts.append(Line(_folding(view, seat)))
        elif view.turn is not None:
            parts.append(Line(say("You are finished and wait for the showdown.")))
        return tuple(parts)

    def _other(self, view: State, other: int) -> Part:
        hand, played = len(view.hands[other]), view.played[other]
        folded = other in view.folded
        if not played:
            return Line(
                say("{seat} [has|have] folded without a card played.", seat=other)
                if folded
                else say("{seat}, {hand} in hand: no card played yet.", seat=other, hand=hand)
            )
        if folded:
            label = say("{seat}, folded", seat=other)
        elif not hand:
            label = say("{seat}, finished with {best}", seat=other, best=_best(view, played).words())
        else:
            label = say(
                "{seat}, {hand} in hand, so far {best}",
                seat=other,
                hand=hand,
                best=_best(view, played).words(),
            )
        return Row(label, faces(in_order(played)))

    def _scores(self, view: State) -> Grid:
        return Grid(
            (say("points"), say("in hand"), say("played")),
            tuple(
                (seat, (score, len(view.hands[seat]), len(view.played[seat]))) for seat, score in enumerate(view.scores)
            ),
        )

    def longest(self, seats: int, options: Options) -> int:
        # A round has a pick less than there are cards, a turn for each card of each hand, and one for the Sun.
        return 1 + int(options["max_rounds"]) * cards_each(seats) * (seats + 1)

    def tally(self, state: State) -> Mapping[str, int]:
        cards = [
            *state.deck,
            *(card for piles in (state.hands, state.packs, state.played) for p in piles for card in p),
        ]
        return {"cards": len(cards), "different cards": len(set(cards))}

    def prospect(self, state: State, seat: int) -> int:
        # The Set only tells two equal hopes apart.
        others = state.scores[:seat] + state.scores[seat + 1 :]
        lead = state.scores[seat] - max(others)
        size, kind, top = _best(state, state.hands[seat] + state.played[seat]).strength()
        hope = 0 if state.turn is None else self._hope(state, seat)
        return POINT * lead + hope + 48 * size + 12 * kind + top

    def _hope(self, state: State, seat: int) -> int:
        """What the rest of this round should bring if everybody who is still in plays to the end."""
        if seat in state.folded:
            return 0
        rivals = [other for other in range(len(state.scores)) if other != seat and other not in state.folded]
        best = {each: _best(state, state.hands[each] + state.played[each]).strength() for each in (seat, *rivals)}
        threats = [other for other in rivals if state.hands[other]]
        if all(best[seat] > best[other] for other in rivals):
            losses = sum(points_for_folding(len(state.played[other]), sun_taken=True) for other in threats)
            return POINT * (_full(state) + state.lost - (losses if state.sun is not None else 0))
        if not state.hands[seat]:
            return -POINT * _full(state)
        fold = points_for_folding(len(state.played[seat]), state.sun is not None)
        late = points_for_folding(len(state.played[seat]), sun_taken=True)
        # Each rival takes the Sun before the next turn about one time in ten; waiting itself is worth nothing.
        return POINT * fold - (fold - late) * POINT * len(threats) // 10 - 1

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        known = {card for piles in (view.hands, view.packs, view.played) for pile in piles for card in pile}
        unseen = draw.shuffle(card for card in deck_for(len(view.scores)) if card not in known)

        def fill(pile: tuple[object, ...]) -> Cards:
            return tuple(card if isinstance(card, str) else unseen.pop() for card in pile)

        hands, packs = tuple(map(fill, view.hands)), tuple(map(fill, view.packs))
        return replace(view, hands=hands, packs=packs, deck=tuple(unseen))

    def word(self, value: Any) -> str:
        return spoken(value)


def _full(state: State) -> int:
    return cards_each(len(state.scores))


def _best(state: State, cards: Cards) -> BestSet:
    return best_set(in_order(cards), circle_for(len(state.scores)), state.terms.split_min)


def _folding(view: State, seat: int) -> Text:
    """What folding would bring this player now."""
    points = max(points_for_folding(len(view.played[seat]), view.sun is not None), -view.scores[seat])
    if points > 0:
        return say("Folding now brings {points:point|points}.", points=points)
    if points < 0:
        return say("Folding now costs {points:point|points}.", points=-points)
    return say("Folding now costs nothing.")
