"""What cards are worth, and who wins."""

from __future__ import annotations

from engine.facts import take
from engine.game import Standing
from engine.tell import say

from .cards import COLOURS, Cards, colour, number
from .state import State


def worth_of_colours(cards: Cards) -> int:
    """Return the points for cards: n cards of a colour are worth 1 + 2 + ... + n."""
    colours = [colour(card) for card in cards]
    return sum([n * (n + 1) // 2 for n in map(colours.count, set(colours))])


def sum_of_numbers(cards: Cards) -> int:
    """Return the sum of the numbers, which breaks ties."""
    return sum(map(number, cards))


def cheapest_loss(cards: Cards) -> str:
    """Return the card to lose: the fewest colour points, then the lowest number, then the first colour."""

    def cost(card: str) -> tuple[int, int, int]:
        return (
            worth_of_colours(cards) - worth_of_colours(take(cards, card)),
            number(card),
            list(COLOURS).index(colour(card)),
        )

    return min(cards, key=cost)


def standing(state: State) -> Standing:
    """Return the standing: points for colours and, at the end, for the most coins; the sum of numbers breaks ties."""
    points = tuple(map(worth_of_colours, state.cards))
    if not state.over:
        return Standing(points)
    most = max(state.coins)
    scores = tuple(p + state.terms.bonus * (c == most) for p, c in zip(points, state.coins, strict=True))
    sums = tuple(map(sum_of_numbers, state.cards))
    return Standing.by(tuple(zip(scores, sums, strict=True)), (say("the higher total of card numbers"),))
