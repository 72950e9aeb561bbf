"""The cards of Sorcerous Futures, and what their numbers say."""

from __future__ import annotations

from typing import Final

from engine.chance import Draw
from engine.decks.decktet import ACES, EXCUSE, NUMBERS, PAWNS, number
from engine.facts import take

Cards = tuple[str, ...]
MARKET: Final[Cards] = NUMBERS + PAWNS
MARKERS: Final[Cards] = (*ACES, EXCUSE)
"""What the valuations lie under, in the order in which they are kept."""
GROUPS: Final = 4
GROUP: Final = 5
AUCTIONS: Final = GROUPS * GROUP
DECK: Final = len(MARKET) - len(MARKERS)
PAWN_VALUATION: Final = 1
PAWN_OPENING: Final = 10


def valuation(card: str) -> int:
    """What a card counts under an Ace or the Excuse: its number, a Pawn 1."""
    return PAWN_VALUATION if card in PAWNS else number(card)


def opening_bid(card: str) -> int:
    """What the seller bids at once in an open auction: the number of the card, 10 for a Pawn."""
    return PAWN_OPENING if card in PAWNS else number(card)


def known(card: object) -> bool:
    """Whether the reader knows of a card here: there is one, and it is not hidden."""
    return isinstance(card, str) and card != ""


def without(cards: Cards, gone: Cards) -> Cards:
    """The cards that are not among those gone. What is hidden among these takes nothing away."""
    return tuple(card for card in cards if card not in gone)


def some(bag: Cards, many: int, draw: Draw) -> Cards:
    """So many cards out of the bag, any of them equally likely, in the order in which they came."""
    drawn: list[str] = []
    for _ in range(many):
        drawn.append(draw.pick(bag))
        bag = take(bag, drawn[-1])
    return tuple(drawn)
