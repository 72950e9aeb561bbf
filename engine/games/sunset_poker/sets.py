"""The cards in the game, and the best Set of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import permutations
from typing import Final

from engine.decks.decktet import BASIC, EXTENDED, RANK_NAMES, SUITS, rank, suits
from engine.facts import fact
from engine.tell import Text, say

Cards = tuple[str, ...]
# The Pawns make the deck divisible by eight, and only the whole extended deck is divisible by nine.
DECKS: Final[Mapping[int, Cards]] = {8: EXTENDED[:40], 9: EXTENDED}
CIRCLE: Final = "A23456789PTX"
"""The ranks in a circle: the first follows the last. Ranks that are not in the deck are left out."""
_NEIGHBOURS: Final = {
    card: frozenset(other for other in EXTENDED if not set(suits(card)).isdisjoint(suits(other))) for card in EXTENDED
}
"""The cards that share a suit with a card."""
HEIGHTS: Final = "23456789PTXA"
"""The ranks, lowest first."""
KINDS: Final = ("split", "run", "straight flush", "kind")
"""The kinds of Set, lowest first."""


@fact
class BestSet:
    """The best Set of some cards. Without cards there is no Set."""

    kind: str
    cards: Cards

    def strength(self) -> tuple[int, int, int]:
        """Return what is compared: the size, then the kind, then the highest card."""
        return len(self.cards), KINDS.index(self.kind), max(map(height, self.cards), default=0)

    def words(self) -> Text:
        """Return the Set as players call it."""
        if not self.cards:
            return say("no Set")
        size, top = len(self.cards), rank(max(self.cards, key=height))
        if self.kind != "kind":
            template = {
                "split": "a split of {size}, {top} high",
                "run": "a run of {size}, {top} high",
                "straight flush": "a straight flush of {size}, {top} high",
            }[self.kind]
        else:
            template = {1: "a single {top}", 2: "a pair of {top}s"}.get(size, "{size} of a kind, {top}s")
        return say(template, size=size, top=RANK_NAMES.get(top, top))

    def spelled_out(self) -> Text:
        """Return the Set as players call it, and the two ranks of a split. Sets that tie may have different ones."""
        if self.kind != "split":
            return self.words()
        top, low = (rank(each) for each in (max(self.cards, key=height), min(self.cards, key=height)))
        ranks = "{best} ({top}s and {low}s)" if len(self.cards) > 2 else "{best} ({top} and {low})"
        return say(ranks, best=self.words(), top=RANK_NAMES.get(top, top), low=RANK_NAMES.get(low, low))


def deck_for(seats: int) -> Cards:
    """Return the deck for this number of players."""
    return DECKS.get(seats, BASIC)


def cards_each(seats: int) -> int:
    """Return the number of cards in a full hand, and in a new pack."""
    return len(deck_for(seats)) // seats


@cache
def circle_for(seats: int) -> str:
    """Return the ranks in the deck, in a circle."""
    ranks = {rank(card) for card in deck_for(seats)}
    return "".join(letter for letter in CIRCLE if letter in ranks)


@cache
def height(card: str) -> int:
    """Return how high a card is in a comparison. The Ace is always highest."""
    return HEIGHTS.index(rank(card))


@lru_cache(maxsize=2**15)
def best_set(cards: Cards, circle: str, split_min: int) -> BestSet:
    """Return the best Set of these cards; any of several equal ones."""
    held = _by_rank(cards, circle)
    # Sets that are smaller than the largest need not be looked for.
    size = _largest(held, circle, split_min)
    sets = [BestSet("kind", same) for same in held.values() if len(same) == size]
    sets += (BestSet("run", row) for row in rows(held, circle, size) if len(row) == size)
    for suit in SUITS:
        of_suit = tuple([card for card in cards if suit in suits(card)])
        if len(of_suit) >= size:
            found = rows(_by_rank(of_suit, circle), circle, size)
            sets += (BestSet("straight flush", row) for row in found if len(row) == size)
    sets += (BestSet("split", split) for split in splits(held, max(split_min, size)))
    return max(sets, key=BestSet.strength)


def size_of_best_set(cards: Cards, circle: str, split_min: int) -> int:
    """Return how many cards the best Set of these cards has, in less time than it takes to find it."""
    return _largest(_by_rank(cards, circle), circle, split_min)


def _largest(held: Mapping[str, Cards], circle: str, split_min: int) -> int:
    least, most = sorted(map(len, held.values()))[-2:]
    split = min(most, least + 1) + least if least else 0
    longest: dict[str, int] = {}
    size = max(most, split if split >= split_min else 0)
    # A row may lead over the end of the circle, but not past the rank that it began with. A straight flush is a row too.
    for letter in circle * 2:
        longest = {
            card: 1 + max((many for before, many in longest.items() if before in _NEIGHBOURS[card]), default=0)
            for card in held[letter]
        }
        size = max(size, *longest.values()) if longest else size
    return min(size, max(len(circle), most, split))


def rows(held: Mapping[str, Cards], circle: str, least: int = 1) -> Iterator[Cards]:
    """Yield, for each rank, the longest row that begins with it: a card of each rank, each sharing a suit with the next.

    How a row continues depends only on its last card, so one row is kept for each possible last card. Rows that can't have the
    `least` number of cards, for want of a rank, are left out.
    """
    around = [held[letter] for letter in circle] * 2
    for i in range(len(circle)):
        if () in around[i : i + least]:
            continue
        longest: Cards = ()
        ends: dict[str, Cards] = {card: (card,) for card in around[i]}
        for cards in around[i + 1 : i + len(circle)]:
            ends = {card: (*row, card) for card in cards for last, row in ends.items() if last in _NEIGHBOURS[card]}
            if not ends:
                break
            longest = next(iter(ends.values()))
        if longest:
            yield longest


def splits(held: Mapping[str, Cards], least: int) -> Iterator[Cards]:
    """Yield the largest split of every two ranks that has at least so many cards: equal numbers of both, or one more of the first."""
    for some, others in permutations(filter(None, held.values()), 2):
        if len(some) >= len(others) and min(len(some), len(others) + 1) + len(others) >= least:
            yield some[: len(others) + 1] + others


def _by_rank(cards: Cards, circle: str) -> dict[str, Cards]:
    found: dict[str, Cards] = dict.fromkeys(circle, ())
    for card in cards:
        if rank(card) in found:
            found[rank(card)] += (card,)
    return found
