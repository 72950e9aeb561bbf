"""Ratings: how strong players are, as far as the endings of their games tell; and what chance to win follows from that.

A rating is a belief: the strength is about `mu`, and `sigma` says how far it may be off. After a game each belief is moved by
how the ranks differ from what was to be expected. That is the method of Weng and Lin for the model of Plackett and Luce, by the
library `openskill`, for two players or more. Of tied players each counts as ahead of the others equally often: the change is the
mean of orders without ties (the library's own treatment of a tie gives the player after it as much as those in it).

    s² = S² + 2 × the mean of the players' sigma²        S = 400 / ln 10
    chance to win = exp(mu / s) / the sum of exp(mu / s) over all players

So 400 points more win ten times as often, at tables of any size. The library would have s grow with the number of players, so
that a rating won at large tables would mean less at small ones. `rate` hands it numbers scaled so that s is the above.

This module must never know a person, a table or a moment: the order of endings is all that counts.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from openskill.models import PlackettLuce

from pbem.domain.results import level_of

OVERALL: Final = ""
"""The kind of the rating that all games count for."""

_SCALE: Final = 400 / math.log(10)
_NOISE: Final = 3.0
"""What is added to an uncertainty with each game, in quadrature: strength changes, so no rating is ever quite certain."""

SPREAD: Final = 2
"""An uncertainty is shown as this many sigma: about 19 strengths in 20 are within it."""

PROVISIONAL: Final = 150
"""A rating with a larger uncertainty than this is provisional."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, and the number of rated games behind it."""

    mu: float = 1500.0
    sigma: float = 150.0
    games: int = 0

    @property
    def shown(self) -> int:
        """The number that people read."""
        return round(self.mu)

    @property
    def uncertainty(self) -> int:
        """How far the strength may be from it, either way."""
        return round(SPREAD * self.sigma)

    @property
    def provisional(self) -> bool:
        """Whether it is still too uncertain to rely on."""
        return self.uncertainty > PROVISIONAL


NEW: Final = Rating()
"""The rating of someone without a rated game."""

Key = tuple[str, str]
"""A player, and the kind of game that their rating is for."""


@dataclass(frozen=True, slots=True)
class Change:
    """How one game changed one rating of a player."""

    player: str
    kind: str
    before: Rating
    after: Rating

    @property
    def gain(self) -> int:
        """The difference of the two numbers that people read."""
        return self.after.shown - self.before.shown


def rate(ratings: Sequence[Rating], ranks: Sequence[int]) -> tuple[Rating, ...]:
    """The ratings after a game in which these players came at these ranks; tied players have the same rank."""
    count = len(ratings)
    assert count == len(ranks) >= 2, "a rating tells how players compare"
    orders = [_rate_in_order(ratings, order) for order in _orders(ranks)]
    return tuple(
        Rating(
            math.fsum(mu for mu, _sigma in of_player) / len(orders),
            math.fsum(sigma for _mu, sigma in of_player) / len(orders),
            before.games + 1,
        )
        for before, of_player in zip(ratings, zip(*orders, strict=True), strict=True)
    )


def chances(ratings: Sequence[Rating]) -> tuple[float, ...]:
    """The chance of each player to win; those of a game add up to 1."""
    spread = math.sqrt(_SCALE**2 + 2 * sum(each.sigma**2 for each in ratings) / len(ratings))
    best = max(each.mu for each in ratings)
    weights = [math.exp((each.mu - best) / spread) for each in ratings]
    return tuple(weight / sum(weights) for weight in weights)


def changes(kind: str, ranks: Sequence[tuple[str, int]], current: Mapping[Key, Rating]) -> list[Change]:
    """What a game of a kind changes: of each player the rating for that kind, and the overall one.

    Bots of a level are one player: with several seats, the mean of their changes is theirs. Nothing changes if the game counts
    for fewer than two players, or twice for the same person.
    """
    players = [player for player, _rank in ranks]
    seats = Counter(players)
    if len(seats) < 2 or any(many > 1 and level_of(player) is None for player, many in seats.items()):
        return []
    found = list[Change]()
    for of_kind in (kind, OVERALL):
        before = [current.get((player, of_kind), NEW) for player in players]
        rated = list(zip(players, rate(before, [rank for _player, rank in ranks]), strict=True))
        for player in seats:
            after = _mean([rating for who, rating in rated if who == player])
            found.append(Change(player, of_kind, current.get((player, of_kind), NEW), after))
    return found


def _mean(ratings: Sequence[Rating]) -> Rating:
    """The mean of a player's ratings after a game, one for each seat."""
    mu, sigma = (math.fsum(each) / len(ratings) for each in zip(*((r.mu, r.sigma) for r in ratings), strict=True))
    return Rating(mu, sigma, ratings[0].games)


def _rate_in_order(ratings: Sequence[Rating], ranks: Sequence[float]) -> list[tuple[float, float]]:
    """The new mu and sigma of players without ties."""
    count = len(ratings)
    model, narrow = _model(count), math.sqrt(2 / count)
    teams = [[model.rating(each.mu, each.sigma * narrow)] for each in ratings]
    rated = model.rate(teams, ranks=list(ranks))
    return [
        (before.mu + (after.mu - before.mu) / narrow**2, after.sigma / narrow)
        for before, (after,) in zip(ratings, rated, strict=True)
    ]


def _orders(ranks: Sequence[int]) -> list[list[float]]:
    """Ranks without ties: in them each tied player has each position of the tie equally often."""
    tied = [[number for number, rank in enumerate(ranks) if rank == each] for each in sorted({*ranks})]
    rounds = math.lcm(*map(len, tied))
    orders = [[number for group in tied for number in _turned(group, turns)] for turns in range(rounds)]
    if any(len(group) > 2 for group in tied):
        orders += [[number for group in tied for number in _turned(group[::-1], turns)] for turns in range(rounds)]
    return [[float(order.index(number)) for number in range(len(ranks))] for order in orders]


def _turned(group: list[int], turns: int) -> list[int]:
    start = turns % len(group)
    return group[start:] + group[:start]


def _model_gamma(_c: float, players: int, *_of_player: Any) -> float:
    """How fast an uncertainty shrinks: by what the game tells. `_rate_in_order` scales its numbers by as much."""
    return players / 2


@cache
def _model(players: int) -> PlackettLuce:
    start = Rating()
    return PlackettLuce(
        mu=start.mu,
        sigma=start.sigma,
        beta=_SCALE / math.sqrt(players),
        tau=_NOISE * math.sqrt(2 / players),
        gamma=_model_gamma,
    )
