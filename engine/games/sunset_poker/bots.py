"""What only bots need: how good a state looks, what the hidden cards may be, and a choice at first sight."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, cast

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.decktet import rank, suits
from engine.facts import HIDDEN, SPECTATOR, is_hidden
from engine.records import replace
from engine.seats import left_of

from .sets import CIRCLE, BestSet, Cards, deck_for
from .state import State, best_of, full_hand, points_for_folding, size_of_best

POINT: Final = 1000
"""The weight of a point for a bot: more than the difference between any two Sets."""
DRAFTED: Final = 3
"""How many times likelier a drafted hand is for each card more in its best Set."""
STRONG: Final = 50
"""The size of a strong Set, in hundredths of a full hand."""


def prospect(state: State, seat: int) -> int:
    """Return how good a state looks for a seat."""
    # The Set only breaks ties.
    others = state.scores[:seat] + state.scores[seat + 1 :]
    lead = state.scores[seat] - max(others)
    size, kind, top = best_of(state, state.hands[seat] + state.played[seat]).strength()
    hope = 0 if state.turn is None else _hope(state, seat)
    return POINT * lead + hope + 48 * size + 12 * kind + top


def _hope(state: State, seat: int) -> int:
    """Return what the rest of this round should bring if everyone who has not folded plays on."""
    if seat in state.folded:
        return 0
    rivals = [other for other in range(len(state.scores)) if other != seat and other not in state.folded]
    best = {each: best_of(state, state.hands[each] + state.played[each]).strength() for each in (seat, *rivals)}
    threats = [other for other in rivals if state.hands[other]]
    if all(best[seat] > best[other] for other in rivals):
        losses = sum(points_for_folding(len(state.played[other]), sun_taken=True) for other in threats)
        return POINT * (full_hand(state) + state.lost - (losses if state.sun is not None else 0))
    if not state.hands[seat]:
        return -POINT * full_hand(state)
    fold = points_for_folding(len(state.played[seat]), state.sun is not None)
    late = points_for_folding(len(state.played[seat]), sun_taken=True)
    # Each rival takes the Sun before the next turn about one time in ten; waiting itself is worth nothing.
    return POINT * fold - (fold - late) * POINT * len(threats) // 10 - 1


def imagine(view: State, seat: int, draw: Draw) -> State:
    """Return a whole truth that fits this view."""
    known = {card for piles in (view.hands, view.packs, view.played) for pile in piles for card in pile}
    unseen = draw.shuffle(card for card in deck_for(len(view.scores)) if card not in known)

    def fill(pile: tuple[object, ...]) -> Cards:
        return tuple(card if isinstance(card, str) else unseen.pop() for card in pile)

    hands, packs = tuple(map(fill, view.hands)), tuple(map(fill, view.packs))
    return replace(view, hands=hands, packs=packs, deck=tuple(unseen))


def mask(state: State, seat: int) -> State:
    """Return what a seat would know of this truth. Its `deck` is all that the seat can't place."""
    drafting, left = state.turn is None and not state.over, left_of(seat, len(state.scores))
    hands = tuple(hand if other == seat else _hidden(hand) for other, hand in enumerate(state.hands))
    # The pack on its way to the left was in the seat's hands before.
    passed = seat != SPECTATOR and any(state.hands)
    packs = tuple(
        pack if drafting and (other == seat or (passed and other == left)) else _hidden(pack)
        for other, pack in enumerate(state.packs)
    )
    known = {card for piles in (hands, packs, state.played) for pile in piles for card in pile if not is_hidden(card)}
    deck = tuple(card for card in deck_for(len(state.scores)) if card not in known)
    return replace(state, hands=hands, packs=packs, deck=deck)


def plausible(state: State, seat: int) -> int:
    """Return how well a truth fits a draft in which everyone picked cards that go together."""
    weight = 1
    for other, (hand, played) in enumerate(zip(state.hands, state.played, strict=True)):
        if other != seat and other not in state.folded:
            weight *= DRAFTED ** size_of_best(state, hand + played)
    return weight


def quick(view: State, decision: Decision, draw: Draw) -> Choice:
    """Return the card that fits best, and in the play the Sun or a fold by how strong the hand is."""
    seat = decision.seat
    if view.turn is None:
        hand = view.hands[seat]
        return Choice("pick", (max(view.packs[seat], key=lambda card: (_fits(card, hand), draw.below(4))),))
    best = best_of(view, view.hands[seat] + view.played[seat])
    rivals = [each for each in range(len(view.scores)) if each != seat and each not in view.folded]
    played = len(view.played[seat])
    strong = len(best.cards) >= (STRONG * full_hand(view) + 99) // 100
    if not rivals or (strong and not _is_matched(view, best, rivals)):
        if rivals and view.sun is None and played and not draw.below(4):
            return Choice("take")
        return _show(view, seat, best)
    if view.sun is not None:
        # The loss is small as long as few cards are played; with most of them played, it's as well to go on.
        folds = _is_matched(view, best, rivals) or draw.below(3)
        return Choice("fold") if folds else _show(view, seat, best)
    enough = played >= 2 and not draw.below(max(2, full_hand(view) - played))
    folds = enough or (played and _is_matched(view, best, rivals))
    return Choice("fold") if folds else _show(view, seat, best)


def _is_matched(view: State, best: BestSet, rivals: Iterable[int]) -> bool:
    """Return whether one of these players shows as good a Set."""
    size, strength = len(best.cards), best.strength()
    piles = [view.played[each] for each in rivals]
    return any(len(pile) >= size and best_of(view, pile).strength() >= strength for pile in piles)


def _show(view: State, seat: int, best: BestSet) -> Choice:
    """Play a card that's not in the best Set, if there is one: it tells others the least."""
    spare = [card for card in view.hands[seat] if card not in best.cards]
    return Choice("play", ((spare or view.hands[seat])[0],))


def _fits(card: str, hand: Cards) -> int:
    """Return how well a card goes with a hand."""
    return sum(_fit(card, held) for held in hand)


@cache
def _fit(card: str, held: str) -> int:
    """Return how well two cards go together: those of one rank, or of a suit and neighbouring ranks."""
    if rank(held) == rank(card):
        return 3
    if rank(card) not in CIRCLE or rank(held) not in CIRCLE:
        return 0
    apart = abs(CIRCLE.index(rank(card)) - CIRCLE.index(rank(held)))
    adjoining = apart in (1, len(CIRCLE) - 1) and not set(suits(card)).isdisjoint(suits(held))
    return 2 if adjoining else 0


def _hidden(pile: Cards) -> Cards:
    return cast("Cards", (HIDDEN,) * len(pile))
