"""How players and face-down cards are put into words."""

from __future__ import annotations

from engine.decks.decktet import CROWNS, EXCUSE, SUITS, suits
from engine.tell import Text, say

from .cards import Cards, without
from .worth import worths_of


def worths_sentence(valuations: Cards) -> Text:
    """Return what every suit was worth, and by which card."""
    worths = worths_of(valuations)
    each = tuple(
        say("{suit} {worth} ({card})", suit=suit, worth=worths[suit], card=card)
        for suit, card in zip(SUITS, valuations, strict=False)
    )
    return say(
        "Suit values: {each}. Under the Excuse: {worth} ({card}).", each=each, worth=worths[EXCUSE], card=valuations[-1]
    )


def crowns_sentence(crowns: Cards) -> Text:
    """Return who has which Crown."""
    each = tuple(say("{suit} ({seat})", suit=suits(crown), seat=seat) for seat, crown in enumerate(crowns))
    aside = tuple(map(suits, without(CROWNS, crowns)))
    return say("Crowns: {each}. Set aside: {aside}.", each=each, aside=aside)
