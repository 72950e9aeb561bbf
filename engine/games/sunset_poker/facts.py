"""What can happen in Sunset Poker."""

from __future__ import annotations

from engine.decks.decktet import name
from engine.facts import Fact, Step, fact, is_hidden, put, secret, take
from engine.records import replace
from engine.tell import Text, say

from .sets import BestSet, Cards, deck_for
from .state import State, next_in


@fact
class RoundBegan(Fact[State]):
    """Round {round} begins with new packs. {seat} [plays|play] first."""

    round: int
    seat: int
    shared: bool = False

    def sentence(self) -> Text:
        template = (
            "The top score is shared, so there's a round {round}, with new packs. {seat} [plays|play] first."
            if self.shared
            else "Round {round} begins with new packs. {seat} [plays|play] first."
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
    """{seat} [picks|pick] {card}. Only this player and the next to get the pack know the rest of it."""

    seat: int
    left: int
    card: str = secret()
    rest: Cards = secret("seat", "left")

    def sentence(self) -> Text | None:
        # `PassedOn` says once that everyone has picked; this only shows a reader their own card.
        return None if is_hidden(self.card) else say("{seat} [picks|pick] {card}.", seat=self.seat, card=self.card)

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.seat, (*state.hands[self.seat], self.card))
        return replace(state, hands=hands, packs=put(state.packs, self.seat, self.rest))


@fact
class PassedOn(Fact[State]):
    """Everyone has picked. The packs are passed left, with {cards:card|cards} in each."""

    cards: int

    def apply(self, state: State) -> State:
        return replace(state, packs=(state.packs[-1], *state.packs[:-1]))


@fact
class PlayBegan(Fact[State]):
    """Everyone keeps their last card. {seat} [plays|play] first."""

    seat: int

    def step(self) -> Step:
        return Step(opens=True)

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

    def step(self) -> Step:
        return Step(bids=((self.seat, say("{card}", card=name(self.card))),))

    def apply(self, state: State) -> State:
        hands = put(state.hands, self.seat, take(state.hands[self.seat], self.card))
        played = put(state.played, self.seat, (*state.played[self.seat], self.card))
        return replace(state, hands=hands, played=played, turn=next_in(self.seat, hands, state.folded))


@fact
class SunTaken(Fact[State]):
    """{seat} [takes|take] the Sun. From now on, folding costs points."""

    seat: int

    def step(self) -> Step:
        return Step(adds=((self.seat, say("the Sun")),))

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
            template = "{seat} [folds|fold] before playing a card."
        elif self.points > 0:
            template = "{seat} [folds|fold] after {cards:card|cards} and [gains|gain] {points:point|points}."
        elif self.points < 0:
            template = "{seat} [folds|fold] after {cards:card|cards} and [loses|lose] {points:point|points}."
        else:
            template = "{seat} [folds|fold] after {cards:card|cards} and [has|have] no points left to lose."
        return say(template, seat=self.seat, cards=self.cards, points=abs(self.points))

    def step(self) -> Step:
        return Step(adds=((self.seat, say("fold")),))

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
    """{seat} [wins|win] the round with {best} and [gains|gain] {points:point|points}, plus the {lost} the others lost."""

    seat: int
    best: BestSet
    points: int
    lost: int

    def sentence(self) -> Text:
        template = (
            "{seat} [wins|win] the round with {best} ({cards}), and [gains|gain] {points:point|points} plus "
            "the {lost} the others lost."
            if self.lost
            else "{seat} [wins|win] the round with {best} ({cards}), and [gains|gain] {points:point|points}."
        )
        values = {"points": self.points, "lost": self.lost}
        return say(template, seat=self.seat, best=self.best.words(), cards=self.best.cards, **values)

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)

    def apply(self, state: State) -> State:
        gained = state.scores[self.seat] + self.points + self.lost
        return replace(state, scores=put(state.scores, self.seat, gained), lost=0)


@fact
class Tied(Fact[State]):
    """{seats:seats} tie with {best}, gaining and losing nothing. Nobody gets the points the others lost."""

    seats: tuple[int, ...]
    best: BestSet

    def sentence(self) -> Text:
        return say(
            "{seats:seats} tie with {best}, gaining and losing nothing. Nobody gets the points the others lost.",
            seats=self.seats,
            best=self.best.words(),
        )

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, lost=0)


@fact
class NobodyFinished(Fact[State]):
    """Everyone has folded. Nobody wins the round, and nobody gets the points lost."""

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, lost=0)


@fact
class Ended(Fact[State]):
    """The game is over."""

    reached: bool

    def sentence(self) -> Text:
        return say("The target is reached." if self.reached else "That was the last round.")

    def apply(self, state: State) -> State:
        return replace(state, over=True)
