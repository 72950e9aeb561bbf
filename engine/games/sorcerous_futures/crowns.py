"""Who may have which Crown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations

from engine.chance import Draw
from engine.decisions import Thing
from engine.decks.decktet import CROWNS, NAMES, SUITS, suits

from .cards import Cards


def ritual(aces: tuple[Cards, ...], draw: Draw) -> Cards:
    """Return the Crowns of three players, dealt as if they were passed round the table face down."""
    hands = [tuple("X" + suits(ace) for ace in own) for own in aces]
    hands = to_the_right(hands)
    passed = [draw.below(2) for _ in hands]
    hands = [(hands[seat][1 - passed[seat]], hands[seat - 1][passed[seat - 1]]) for seat in range(len(hands))]
    return tuple(draw.pick(hand) for hand in to_the_right(hands))


def to_the_right(hands: Sequence[Cards]) -> list[Cards]:
    """Return the hands after everyone has passed theirs to the right."""
    return [*hands[1:], hands[0]]


@lru_cache(maxsize=256)
def assignments(aces: tuple[Cards, ...]) -> tuple[Cards, ...]:
    """Return every way to give each player a Crown not in the suit of their own Aces. The Excuse player has no Aces."""
    barred = [{suits(ace) for ace in own} for own in aces]
    return tuple(
        crowns
        for crowns in permutations(CROWNS, len(aces))
        if not any(suits(crown) in own for crown, own in zip(crowns, barred, strict=True))
    )


def crown_things(crowns: Cards) -> tuple[Thing, ...]:
    """Return Crowns as things to choose, by their suits."""
    return tuple(
        Thing(crown, SUITS[suits(crown)], NAMES[crown], (f"Crown of {SUITS[suits(crown)]}", NAMES[crown]))
        for crown in crowns
    )
