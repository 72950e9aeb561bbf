"""The Decktet, a deck of 45 cards with six suits, designed by P. D. Magnus.

A card is named by its id: rank letter, then suit letters in the order of the suits. Aces and Crowns have one suit, the
cards 2 to 9 two, Pawns and Courts three, the Excuse none. The basic deck is Aces, numbers and Crowns; Pawns, Courts and
the Excuse make it the extended deck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from engine.board import Face, Line
from engine.decisions import Thing
from engine.tell import Text, say

SUITS: Final = {"M": "Moons", "S": "Suns", "W": "Waves", "L": "Leaves", "Y": "Wyrms", "K": "Knots"}
"""The suits in their order, which sorting and tie-breaks follow."""

RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "P", "T", "X")
"""The ranks in order. The Excuse has none."""

RANK_NAMES: Final = {"A": "Ace", "P": "Pawn", "T": "Court", "X": "Crown"}

_IN_WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
"""Numbers of cards of one rank and suit; two decks have eight at most."""

NAMES: Final = {
    "AM": "Ace of Moons",
    "AS": "Ace of Suns",
    "AW": "Ace of Waves",
    "AL": "Ace of Leaves",
    "AY": "Ace of Wyrms",
    "AK": "Ace of Knots",
    "2MK": "Author",
    "2SY": "Desert",
    "2WL": "Origin",
    "3MW": "Journey",
    "3SK": "Painter",
    "3LY": "Savage",
    "4MS": "Mountain",
    "4WL": "Sailor",
    "4YK": "Battle",
    "5ML": "Forest",
    "5SW": "Discovery",
    "5YK": "Soldier",
    "6MW": "Lunatic",
    "6SY": "Penitent",
    "6LK": "Market",
    "7ML": "Chance Meeting",
    "7SK": "Castle",
    "7WY": "Cave",
    "8MS": "Diplomat",
    "8WL": "Mill",
    "8YK": "Betrayal",
    "9MS": "Pact",
    "9WY": "Darkness",
    "9LK": "Merchant",
    "XM": "Huntress",
    "XS": "Bard",
    "XW": "Sea",
    "XL": "End",
    "XY": "Calamity",
    "XK": "Windfall",
    "PMSL": "Harvest",
    "PSWK": "Lightkeeper",
    "PMYK": "Watchman",
    "PWLY": "Borderland",
    "TMWK": "Consul",
    "TSLK": "Window",
    "TMLY": "Rite",
    "TSWY": "Island",
    "E": "Excuse",
}
"""Every card with its name: the basic deck first, by rank and suit."""

EXTENDED: Final = tuple(NAMES)
BASIC: Final = EXTENDED[:36]
ACES: Final = EXTENDED[:6]
NUMBERS: Final = EXTENDED[6:30]
CROWNS: Final = EXTENDED[30:36]
PAWNS: Final = EXTENDED[36:40]
COURTS: Final = EXTENDED[40:44]
EXCUSE: Final = "E"

_PLACE: Final = {card: (RANKS.index(card[0]) if card[0] in RANKS else len(RANKS), i) for i, card in enumerate(EXTENDED)}


def rank(card: str) -> str:
    """Return the rank letter, or E for the Excuse."""
    return card[0]


def suits(card: str) -> str:
    """Return the suit letters in order."""
    return card[1:]


def number(card: str) -> int:
    """Return the number on a card from 2 to 9."""
    return int(card[0])


def name(card: str) -> str:
    """Return the name of a card without an article."""
    return NAMES[card]


def in_order(cards: tuple[str, ...]) -> tuple[str, ...]:
    """Sort cards by rank, then in the order of the deck."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))


def spoken(card: object) -> str:
    """Return a card as part of a sentence ("the Forest"), a suit letter as its name, or anything else as text."""
    text = str(card)
    if text in NAMES:
        return f"the {NAMES[text]}"
    return SUITS.get(text, text)


def _note(card: str) -> str:
    if card in ACES:
        return ""
    if card == EXCUSE:
        return "no suit"
    return " ".join([RANK_NAMES.get(card[0], card[0]), *(SUITS[letter] for letter in card[1:])])


def _also(card: str) -> tuple[str, ...]:
    if len(card) != 2:
        return ()
    # Never the suit first: abbreviated it would be a suit, which many cards have.
    suit = SUITS[card[1]]
    return f"{RANK_NAMES[card[0]]} of {suit}", f"{RANK_NAMES[card[0]]} {suit}"


FACES: Final = {card: Face("decktet", card, NAMES[card], _note(card)) for card in EXTENDED}
"""The face of every card."""

BACK: Final = Face("decktet", "back", "a card face down")

THINGS: Final = {card: Thing(card, NAMES[card], _note(card), _also(card)) for card in EXTENDED}
"""Every card as a thing to choose."""


def faces(cards: tuple[object, ...]) -> tuple[Face, ...]:
    """Return the faces of cards; hidden ones are face down."""
    return tuple(FACES[card] if isinstance(card, str) else BACK for card in cards)


def things(cards: tuple[str, ...]) -> tuple[Thing, ...]:
    """Return cards as things to choose from, each once."""
    return tuple([THINGS[card] for card in dict.fromkeys(cards)])


def _counted(ranks: list[str]) -> Iterator[str | Text]:
    """Yield ranks in words, those with a name once each: `two Pawns`."""
    for each, many in Counter(ranks).items():
        if each in RANK_NAMES and many > 1:
            yield say("{many} {rank}s", many=_IN_WORDS[many], rank=RANK_NAMES[each])
        else:
            yield from (RANK_NAMES.get(each, each),) * many


@lru_cache(maxsize=256)
def by_suit(cards: tuple[str, ...]) -> tuple[Line, ...]:
    """Return a line for each suit on these cards, with its ranks in order. A card is in the line of each of its suits."""
    ordered = [(rank(card), suits(card)) for card in in_order(cards)]
    found = ((suit, [each for each, has in ordered if suit in has]) for suit in SUITS)
    return tuple(
        Line(say("{suit} ({number}): {ranks}.", suit=suit, number=len(ranks), ranks=tuple(_counted(ranks))))
        for suit, ranks in found
        if ranks
    )
