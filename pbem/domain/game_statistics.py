"""Statistics of a kind of game: what one finished game adds to the sums, and what the sums say.

A sum counts games, seats or bids for which something has a value, such as a game with four players. Sums name nobody.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Final


class What(StrEnum):
    """What is counted: games by number of players, whole days, turns and `name=value` of options; bids by their amount.

    A win is counted by `players/seat`, in parts of `WIN`, since tied winners share it.
    """

    PLAYERS = "players"
    DAYS = "days"
    TURNS = "turns"
    OPTION = "option"
    BID = "bid"
    WON = "won"


Sums = Mapping[tuple[str, str], int]
"""Counts by what is counted and its value."""

WIN: Final = 2520
"""One win, in parts that any number of winners up to ten can share."""

MOST: Final = 999
"""The largest number counted as itself, so that a kind of game has a bounded number of sums."""

MOST_SPANS: Final = 12
"""The most rows that a distribution is shown in."""

FEWEST_GAMES: Final = 30
"""Games that a seat must have been in before anything is said about it."""

CLEARLY: Final = 3
"""Standard deviations between a seat's wins and its share, from which chance explains the difference no longer."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of numbers, and how often one in it occurred."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class SeatWins:
    """How a seat did: games in which it existed, the wins, and those it would have had if all seats were equally good.

    `clearly` is whether chance alone doesn't explain the difference.
    """

    seat: int
    games: int
    wins: float
    fair: float
    clearly: bool


def counts_of(
    seats: int, days: int, turns: int, winners: Collection[int], options: Iterable[str], bids: Iterable[int]
) -> Counter[tuple[str, str]]:
    """What a finished game adds to the sums of its kind. `options` are written `name=value`."""
    found = Counter[tuple[str, str]]({
        (What.PLAYERS.value, str(seats)): 1,
        (What.DAYS.value, _number(days)): 1,
        (What.TURNS.value, _number(turns)): 1,
    })  # fmt: skip
    found.update((What.OPTION.value, each) for each in options)
    found.update((What.BID.value, _number(bid)) for bid in bids)
    for seat in winners:
        found[What.WON.value, f"{seats}/{seat + 1}"] += WIN // len(winners)
    return found


def of_what(sums: Sums, what: What) -> dict[str, int]:
    """The counts of one thing, by its value; those above nothing."""
    return {value: count for (each, value), count in sums.items() if each == what and count > 0}


def numbers_of(sums: Sums, what: What) -> dict[int, int]:
    """The counts of a thing whose values are numbers, by number in their order."""
    return dict(sorted((int(value), count) for value, count in of_what(sums, what).items()))


def spans(counts: Mapping[int, int]) -> list[Span]:
    """The distribution of numbers, in a few ranges of equal and round width from the lowest to the highest.

    >>> spans({1: 2, 13: 1, 24: 1})
    [Span(low=0, high=4, count=2), Span(low=5, high=9, count=0), Span(low=10, high=14, count=1), Span(low=15, high=19, count=0), Span(low=20, high=24, count=1)]
    """
    if not counts:
        return []
    low, high = min(counts), max(counts)
    widths = (first * 10**power for power in range(4) for first in (1, 2, 5))
    width = next(each for each in widths if high // each - low // each < MOST_SPANS)
    found = Counter[int]()
    for number, count in counts.items():
        found[number // width] += count
    return [Span(at * width, at * width + width - 1, found[at]) for at in range(low // width, high // width + 1)]


def median(counts: Mapping[int, int]) -> int:
    """The number that half of all are not above."""
    passed, half = 0, sum(counts.values()) / 2
    for number in sorted(counts):
        passed += counts[number]
        if passed >= half:
            return number
    raise ValueError("nothing was counted")


def seat_wins(sums: Sums) -> list[SeatWins]:
    """How each seat did, the first seat first."""
    games, won = numbers_of(sums, What.PLAYERS), of_what(sums, What.WON)
    found = []
    for seat in range(1, max(games, default=0) + 1):
        at = {players: count for players, count in games.items() if players >= seat}
        wins = sum(won.get(f"{players}/{seat}", 0) for players in at) / WIN
        fair = sum(count / players for players, count in at.items())
        deviation = sqrt(sum(count / players * (1 - 1 / players) for players, count in at.items()))
        enough = sum(at.values()) >= FEWEST_GAMES
        found.append(SeatWins(seat, sum(at.values()), wins, fair, enough and abs(wins - fair) > CLEARLY * deviation))
    return found


def _number(number: int) -> str:
    return str(max(0, min(number, MOST)))
