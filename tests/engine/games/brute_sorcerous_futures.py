"""The slow, plain ways to what Sorcerous Futures works out quickly: each from other premises than the game's own."""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

from engine.decks.decktet import FACES


def words_on(card):
    """What stands on a card, as it is printed on the board: `5`, `Moons`, `Leaves`."""
    return FACES[card].note.split()


def counts(card):
    """What a card counts as a valuation, read off its printed words."""
    first = words_on(card)[0]
    return 1 if first == "Pawn" else int(first)


def final_score(gold, bought, under, crown_suit):
    """Gold and cards; `under` has the card under each Ace by the name of its suit, and under `Excuse`."""
    points = gold
    for card in bought:
        for suit in words_on(card)[1:]:
            points += counts(under[suit])
            if suit == crown_suit:
                points += counts(under["Excuse"])
    return points


def closed_winner(bids, active):
    """Walk clockwise from the active player, and let only a better bid take the lead."""
    best = active
    for step in range(1, len(bids)):
        seat = (active + step) % len(bids)
        if bids[seat] > bids[best]:
            best = seat
    return best


def law_of_the_ritual():
    """How likely each result is, as coin tosses: Crowns A1 A2 are of seat 0's suits, B1 B2 of seat 1's, C1 C2 of seat 2's.

    Each seat tosses for which of the two foreign sets it draws from. Two who draw from the same set share its Crowns in
    random order; who draws alone gets one of the two at random.
    """
    law: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for sets in product("BC", "CA", "AB"):
        ways = []
        for firsts in product((1, 2), repeat=3):
            got = tuple(f"{letter}{first}" for letter, first in zip(sets, firsts, strict=True))
            if len(set(got)) == 3:
                ways.append(got)
        for got in ways:
            law[got] += Fraction(1, 8 * len(ways))
    return law


def allowed_crowns(barred):
    """Every way to hand out Crowns, by the first letters of their suits, so that nobody gets a barred one."""
    return {
        given
        for given in permutations("MSWLYK", len(barred))
        if all(suit not in own for suit, own in zip(given, barred, strict=True))
    }
