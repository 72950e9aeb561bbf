"""What only bots need: how good a state looks, and what the hidden cards may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.chance import Draw

from .sets import Cards, deck_for
from .state import State, best_of, full_hand, points_for_folding

POINT: Final = 1000
"""The weight of a point for a bot: more than the difference between any two Sets."""


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
