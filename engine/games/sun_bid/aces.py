"""What a winner loses to the Aces in a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, count, product
from typing import Final

from engine.decks import decktet
from engine.decks.decktet import in_order, rank
from engine.facts import fact
from engine.tell import Text, say

from .cards import FOR_SALE, Cards, share_a_suit
from .scoring import points_of_take

NONE: Final = "none"
"""What an Ace costs if there is no card of its suit."""


def victims_of(ace: str, kept: Cards) -> Cards:
    """Return the cards that an Ace can cost, each once."""
    return tuple(dict.fromkeys(card for card in kept if share_a_suit(ace, card)))


def hungry(aces: Cards, kept: Cards) -> Cards:
    """Return the Aces that can cost something."""
    return tuple(ace for ace in aces if victims_of(ace, kept))


def misfit(kept: Cards, aces: Cards, victims: Cards) -> Text | None:
    """Return why these cards cannot pay for these Aces: one is used twice, or an Ace that could cost a card costs none.

    The Aces come one after the other in the winner's order. An Ace that is to find nothing had best come last, so it
    is enough to look at what is left after all.
    """
    left = Counter(kept)
    left.subtract(victim for victim in victims if victim != NONE)
    for card, many in left.items():
        if many < 0:
            return say("{card} can pay for only one Ace. Choose another card for the other.", card=card)
    for ace, victim in zip(aces, victims, strict=True):
        others = victims_of(ace, tuple(left.elements()))
        if victim == NONE and others:
            return say("{ace} must cost you a card of its suit. Choose {others:or}.", ace=ace, others=others)
    return None


def may_find_nothing(which: int, aces: Cards, kept: Cards) -> bool:
    """Whether this one of the Aces finds nothing in some way to pay: the others take all the cards of its suit."""
    others = aces[:which] + aces[which + 1 :]
    return _can_take(others, tuple(card for card in kept if share_a_suit(aces[which], card)))


def _can_take(aces: Cards, cards: Cards) -> bool:
    """Whether each of the cards can be taken by an Ace of its own."""
    if not cards:
        return True
    takers = (i for i, ace in enumerate(aces) if share_a_suit(ace, cards[0]))
    return any(_can_take(aces[:i] + aces[i + 1 :], cards[1:]) for i in takers)


@fact
class _Way:
    """A way to pay for the first of the Aces: what it leaves, and which of them found nothing."""

    done: int
    left: Cards
    hungry: Cards = ()

    def following(self, aces: Cards) -> Iterator[_Way]:
        """Yield the ways to go on with the next Ace, as far as those that found nothing can still be right in the end."""
        ace, done = aces[self.done], self.done + 1
        found = [_Way(done, _without(self.left, card), self.hungry) for card in victims_of(ace, self.left)]
        for way in (*found, _Way(done, self.left, in_order((*self.hungry, ace)))):
            if all(sum(share_a_suit(none, card) for card in way.left) <= len(aces) - done for none in way.hungry):
                yield way


def losses(aces: Cards, kept: Cards) -> Iterator[Cards]:
    """Yield the cards that can be lost to these Aces, each selection once."""
    found: set[Cards] = set()
    ways = [_Way(0, kept)]
    met = set(ways)
    while ways:
        way = ways.pop()
        if way.done < len(aces):
            following = [after for after in way.following(aces) if after not in met]
            ways += following
            met.update(following)
        elif way.left not in found:
            found.add(way.left)
            yield in_order(_difference(kept, way.left))


@lru_cache(maxsize=512)
def cheapest_way(aces: Cards, kept: Cards, per_suit: bool) -> Cards:
    """Return the way to pay that leaves the most points, then the most cards, then costs the lowest ranks, then the first suits."""
    cheapest = _cheapest_loss(aces, kept, lambda left: sum(points_of_take(left, per_suit)))
    return next(way for way in assignments(cheapest, aces) if misfit(kept, aces, way) is None)


def _cheapest_loss(aces: Cards, kept: Cards, points: Callable[[Cards], int]) -> Cards:
    """Return the cards of the cheapest way to pay, by best-first search.

    Until a way is complete, its other Aces are taken to cost the lowest cards and no points, so that it is never judged
    worse than it is. A card less never scores more.
    """
    least = tuple(
        () if may_find_nothing(place, aces, kept) else victims_of(ace, kept)[:1] for place, ace in enumerate(aces)
    )
    numbers = count()

    def judged(way: _Way, most: int, *, guessed: bool) -> tuple[int, int, list[int], list[int], bool, int, _Way]:
        cards = in_order((*_difference(kept, way.left), *chain.from_iterable(least[way.done :])))
        ranks = [decktet.RANKS.index(rank(card)) for card in cards]
        places = [FOR_SALE.index(card) for card in cards] if way.done == len(aces) else []
        return -most, len(cards), ranks, places, guessed, next(numbers), way

    ways = [judged(_Way(0, kept), points(kept), guessed=False)]
    met = {ways[0][-1]}
    while True:
        most, *_, guessed, _, way = heappop(ways)
        if guessed:
            # Until now it was thought to score as much as the way that it follows.
            heappush(ways, judged(way, points(way.left), guessed=False))
        elif way.done == len(aces):
            return in_order(_difference(kept, way.left))
        else:
            for after in way.following(aces):
                if after not in met:
                    met.add(after)
                    heappush(ways, judged(after, -most, guessed=True))


def _difference(cards: Cards, without: Cards) -> Cards:
    return tuple((Counter(cards) - Counter(without)).elements())


def _without(cards: Cards, card: str) -> Cards:
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]


def assignments(cards: Cards, aces: Cards) -> Iterator[Cards]:
    """Yield the ways in which Aces could cost exactly these cards: for each Ace a card of its suit, or NONE."""
    ways = product(*(dict.fromkeys((*victims_of(ace, cards), NONE)) for ace in aces))
    return (way for way in ways if lost(way) == cards)


def lost(victims: Cards) -> Cards:
    """Return the cards of a way to pay."""
    return in_order(tuple(card for card in victims if card != NONE))
