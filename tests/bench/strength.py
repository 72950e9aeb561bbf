"""How strong the bots are: one level alone among others of another, until the interval clears the bar or games run out.

    .venv/bin/python -m tests.bench.strength GAME SEATS [LEVEL] [OTHERS] [MOST GAMES] [ITERATIONS]

`OTHERS` is a level, or `greedy`, which stays as it was so that levels can be compared over time. Game 1 has seed 1, and so on,
and the seat that plays alone changes with each game.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Final

from engine.bots import greedy
from engine.chance import Draw, Stream
from engine.decisions import Choice, Decision
from engine.game import Game, load
from engine.search import LEVELS, choose
from engine.table import begin

MOST_GAMES: Final = 200
WIDTH: Final = 2.4
"""Standard deviations of the interval: wide, because it is looked at after every game."""

Player = Callable[[Game[Any], Any, Decision, Draw], Choice]


@dataclass(frozen=True)
class Strength:
    """The share of wins in some games, the interval that it's known to lie in, and the share that was to be shown."""

    games: int
    won: float
    low: float
    high: float
    bar: float

    @property
    def shown(self) -> bool:
        """Whether the whole interval is above the bar: too few games show nothing."""
        return self.low > self.bar

    def __str__(self) -> str:
        verdict = "shown" if self.shown else "NOT SHOWN"
        return f"{self.won:.1f} of {self.games} games ({self.low:.0%} to {self.high:.0%}); a bar of {self.bar:.0%} is {verdict}"


def player(name: str, iterations: int = 0) -> Player:
    """A bot by its name: a level, perhaps with another number of iterations, or `greedy`."""
    if name == "greedy":
        return greedy
    level = LEVELS[name]
    if iterations and level.iterations:
        level = replace(level, iterations=iterations)
    return lambda game, view, decision, draw: choose(game, view, decision, level, draw)


def much_stronger(seats: int) -> float:
    """The share of wins that an expert must reach: 1.6 times the fair one, or 70 % of two players' games."""
    return 0.7 if seats == 2 else 1.6 / seats


def as_strong(seats: int) -> float:
    """The fair share of wins."""
    return 1 / seats


def share_won(game: Game[Any], seats: int, alone: int, one: Player, others: Player, seed: int, options: Any) -> float:
    """The share of the win that falls to the seat that plays alone."""
    table, luck = begin(game, seats, seed.to_bytes(32, "big"), options), Stream(b"strength", seed)
    while asks := [seat for seat in table.position.open() if seat not in table.position.box]:
        seat = asks[0]
        decision = game.asks(table.view(seat), seat)
        assert decision is not None
        bot = one if seat == alone else others
        table = table.submit(seat, bot(game, table.view(seat), decision, luck))
    first = game.standing(table.position.state).ranking[0]
    return (alone in first) / len(first)


def interval(games: int, won: float) -> tuple[float, float]:
    """The interval of the share of wins, by Wilson."""
    share, z = won / games, WIDTH
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return middle - half, middle + half


def measure(game: Game[Any], seats: int, one: Player, others: Player, bar: float, most: int = MOST_GAMES) -> Strength:
    """Play until the interval is above or below the bar, or for the most games."""
    # A whole game of Sunset Poker takes hours of thought in all.
    options = {"max_rounds": 2} if game.slug == "sunset-poker" else {}
    won = 0.0
    for number in range(1, most + 1):
        won += share_won(game, seats, number % seats, one, others, number, options)
        low, high = interval(number, won)
        if low > bar or high < bar:
            break
    return Strength(number, won, low, high, bar)


def main() -> None:
    """Measure one cell and print it."""
    name, seats, level, others, most, iterations = [
        *sys.argv[1:],
        *("", "", "expert", "regular", "20", "0")[len(sys.argv) - 1 :],
    ]
    bar = much_stronger if level == "expert" else as_strong
    found = measure(load(name), int(seats), player(level, int(iterations)), player(others), bar(int(seats)), int(most))
    print(f"{name}, {seats} seats: {level} among {others} won {found}", flush=True)


if __name__ == "__main__":
    main()
