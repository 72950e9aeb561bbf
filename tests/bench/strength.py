"""How strong the bots are: one level alone among others of another, until the interval clears the bar or games run out.

    .venv/bin/python -m tests.bench.strength GAME SEATS [LEVEL] [OTHERS] [MOST GAMES] [ITERATIONS]

`OTHERS` is a level, or `greedy`, which thinks as it always did, by the newest `prospect`, so that levels can be compared over time. Game 1 has seed 1, and so on,
and the seat that plays alone changes with each game. Each game that has been played is kept in `tests/bench/strength.jsonl` with the
versions of its rules and bots, and is not played again: hours of thought add up, also on other machines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import sqrt
from pathlib import Path
from typing import Any, Final

from engine.bots import greedy
from engine.chance import Draw, Stream
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.registry import load
from engine.search import LEVELS, choose
from engine.table import begin

MOST_GAMES: Final = 200
RECORD: Final = Path(__file__).with_name("strength.jsonl")
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


@dataclass(frozen=True)
class Bot:
    """A bot: its name with its version, for the record, and how it plays."""

    name: str
    play: Player


def bot(name: str, iterations: int = 0) -> Bot:
    """A bot by its name: a level, perhaps with another number of iterations, or `greedy`."""
    if name == "greedy":
        return Bot(name, greedy)
    level = LEVELS[name]
    if iterations and level.iterations:
        level = replace(level, iterations=iterations)
    return Bot(
        f"{level.name}/{level.version}/{level.iterations}",
        lambda game, view, decision, draw: choose(game, view, decision, level, draw),
    )


def much_stronger(seats: int) -> float:
    """The share of wins that an expert must reach: 1.6 times the fair one, or 70 % of two players' games."""
    return 0.7 if seats == 2 else 1.6 / seats


def as_strong(seats: int) -> float:
    """The fair share of wins."""
    return 1 / seats


@dataclass(frozen=True)
class Match:
    """Games of one bot among others, from seed 1 on."""

    game: Game[Any]
    seats: int
    alone: Bot
    others: Bot

    @property
    def options(self) -> dict[str, Any]:
        """The options of its games: a whole game of Sunset Poker takes hours of thought in all."""
        return {"max_rounds": 2} if self.game.slug == "sunset-poker" else {}

    def shares(self) -> Iterator[float]:
        """Yield the share of the win that falls to the bot that plays alone, game by game: as recorded, or played now."""
        known = dict(_recorded())
        for number in count(1):
            place = f"{self.game.slug}/{self.game.version} {self.seats} {self.alone.name} {self.others.name} {number}"
            if place not in known:
                known[place] = self.share_won(number)
                with RECORD.open("a") as record:
                    record.write(json.dumps([place, known[place]]) + "\n")
            yield known[place]

    def share_won(self, seed: int) -> float:
        """Play one game; the share of the win that falls to the bot that plays alone."""
        table, luck = begin(self.game, self.seats, seed.to_bytes(32, "big"), self.options), Stream(b"strength", seed)
        alone = seed % self.seats
        while asks := [seat for seat in table.position.open() if seat not in table.position.box]:
            seat = asks[0]
            decision = self.game.asks(table.view(seat), seat)
            assert decision is not None
            player = self.alone if seat == alone else self.others
            table = table.submit(seat, player.play(self.game, table.view(seat), decision, luck))
        first = self.game.standing(table.position.state).ranking[0]
        return (alone in first) / len(first)


def _recorded() -> Iterator[tuple[str, float]]:
    for line in RECORD.read_text().splitlines() if RECORD.exists() else ():
        place, share = json.loads(line)
        yield place, share


def interval(games: int, won: float) -> tuple[float, float]:
    """The interval of the share of wins, by Wilson."""
    share, z = won / games, WIDTH
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return middle - half, middle + half


def measure(match: Match, bar: float, most: int = MOST_GAMES) -> Strength:
    """Play until the interval is above or below the bar, or for the most games."""
    won = 0.0
    for games, share in enumerate(match.shares(), 1):
        won += share
        low, high = interval(games, won)
        if low > bar or high < bar or games == most:
            return Strength(games, won, low, high, bar)
    raise AssertionError("there is always another game")


def main() -> None:
    """Measure one cell and print it."""
    name, seats, level, others, most, iterations = [
        *sys.argv[1:],
        *("", "", "expert", "regular", "20", "0")[len(sys.argv) - 1 :],
    ]
    bar = much_stronger if level == "expert" else as_strong
    match = Match(load(name), int(seats), bot(level, int(iterations)), bot(others))
    print(f"{name}, {seats} seats: {level} among {others} won {measure(match, bar(int(seats)), int(most))}", flush=True)


if __name__ == "__main__":
    main()
