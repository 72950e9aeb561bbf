"""The cards of Sorcerous Futures, and what their numbers say."""

from __future__ import annotations

from typing import Final

from engine.chance import Draw
from engine.decks.decktet import ACES, EXCUSE, NUMBERS, PAWNS, number
from engine.facts import take

Cards = tuple[str, ...]
MARKET: Final[Cards] = NUMBERS + PAWNS
MARKERS: Final[Cards] = (*ACES, EXCUSE)
"""What the face-down cards are under, in the order in which they are stored."""
GROUPS: Final = 4
GROUP: Final = 5
AUCTIONS: Final = GROUPS * GROUP
DECK: Final = len(MARKET) - len(MARKERS)
PAWN_VALUATION: Final = 1
PAWN_OPENING: Final = 10


def valuation(card: str) -> int:
    """Return what a card is worth under an Ace or the Excuse: its number; a Pawn is 1."""
    return PAWN_VALUATION if card in PAWNS else number(card)


def opening_bid(card: str) -> int:
    """Return the seller's first bid in an open auction: the number of the card; 10 for a Pawn."""
    return PAWN_OPENING if card in PAWNS else number(card)


def known(card: object) -> bool:
    """Whether there is a card here and the reader may see it."""
    return isinstance(card, str) and card != ""


def without(cards: Cards, gone: Cards) -> Cards:
    """Return the cards without those that are gone. Hidden ones take nothing away."""
    return tuple(card for card in cards if card not in gone)


def some(bag: Cards, many: int, draw: Draw) -> Cards:
    """Draw a number of cards from the bag and return them in the order drawn."""
    drawn: list[str] = []
    for _ in range(many):
        drawn.append(draw.pick(bag))
        bag = take(bag, drawn[-1])
    return tuple(drawn)
