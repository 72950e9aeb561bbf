"""Players of known strength, whose games follow the model that ratings assume: what ratings and predictions must be right about."""

import math
import random
from dataclasses import dataclass, field
from typing import Final

from pbem.domain.ratings import NEW, Rating, chances, rate

SPREAD: Final = 150
"""The standard deviation of strengths, in points."""

SIZES: Final = (2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9)
"""How many players a table has; more often few."""

_LUCK: Final = 400 / math.log(10)


@dataclass(slots=True)
class Tenth:
    """Predictions of a tenth, such as from 30 % to 40 %: how many, the chances they gave, and how many won."""

    predictions: int = 0
    predicted: float = 0.0
    won: int = 0

    @property
    def points_off(self) -> float:
        """By how many points in a hundred they were too high."""
        return 100 * (self.predicted - self.won) / self.predictions


@dataclass(slots=True)
class Crowd:
    """Some players, and what their ratings say of them."""

    luck: random.Random
    players: int
    spread: float = SPREAD
    sizes: tuple[int, ...] = SIZES
    strengths: list[float] = field(init=False)
    ratings: list[Rating] = field(init=False)
    tenths: list[Tenth] = field(init=False)

    def __post_init__(self) -> None:
        self.strengths = [self.luck.gauss(1500, self.spread) for _ in range(self.players)]
        self.ratings = [NEW] * self.players
        self.tenths = [Tenth() for _ in range(10)]

    def play(self) -> None:
        """Play one game: predict it first, then rate it."""
        seated = self.luck.sample(range(self.players), self.luck.choice(self.sizes))
        before = [self.ratings[player] for player in seated]
        shown = [self.strengths[player] - _LUCK * math.log(-math.log(self.luck.random())) for player in seated]
        ranks = [1 + sum(other > own for other in shown) for own in shown]
        for chance, rank in zip(chances(before), ranks, strict=True):
            tenth = self.tenths[min(int(10 * chance), 9)]
            tenth.predictions, tenth.predicted = tenth.predictions + 1, tenth.predicted + chance
            tenth.won += rank == 1
        for player, after in zip(seated, rate(before, ranks), strict=True):
            self.ratings[player] = after

    def rank_correlation(self) -> float:
        """Spearman's, of strengths and ratings: 1 if both have the same order."""
        by_strength = sorted(range(self.players), key=lambda player: self.strengths[player])
        order = sorted(range(self.players), key=lambda player: self.ratings[player].mu)
        ranks = {player: rank for rank, player in enumerate(order)}
        off = sum((rank - ranks[player]) ** 2 for rank, player in enumerate(by_strength))
        return 1 - 6 * off / (self.players * (self.players**2 - 1))

    def within_uncertainty(self) -> float:
        """The share of players whose strength is within the uncertainty of their rating."""
        mean = sum(each.mu for each in self.ratings) / self.players - sum(self.strengths) / self.players
        pairs = zip(self.ratings, self.strengths, strict=True)
        return sum(abs(each.mu - mean - strength) <= each.uncertainty for each, strength in pairs) / self.players
