"""What a player's finished games say about them: places, seats, streaks and records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LEFT: Final = 0
"""Stands for a player's rank in a game that they left."""


@dataclass(frozen=True, slots=True)
class Played:
    """One finished game of a player: their seat, counted from 0, the number of `seats`, and their rank.

    `score` is None if they left, `margin` for all but a sole winner. `choices` is how often they chose each verb.
    """

    kind: str
    seat: int
    seats: int
    rank: int
    score: int | None
    margin: int | None
    choices: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Record:
    """A player's games, of one kind or all. `fair` is how many wins an equal share would be; `streak` is wins in a row.

    `ranks` counts games by rank, or LEFT. The highest score and the largest margin are None without one.
    """

    games: int
    wins: int
    fair: float
    ranks: Mapping[int, int]
    streak: int
    score: int | None
    margin: int | None
    choices: Mapping[str, int]


def record(played: Sequence[Played]) -> Record:
    """The record of these games, given in the order in which they ended."""
    choices = Counter[str]()
    for each in played:
        choices.update(each.choices)
    return Record(
        games=len(played),
        wins=sum(each.rank == 1 for each in played),
        fair=sum(1 / each.seats for each in played),
        ranks=Counter(LEFT if each.rank > each.seats else each.rank for each in played),
        streak=_longest(each.rank == 1 for each in played),
        score=max((each.score for each in played if each.score is not None), default=None),
        margin=max((each.margin for each in played if each.margin is not None), default=None),
        choices=choices,
    )


def by_kind(played: Sequence[Played]) -> dict[str, Record]:
    """The record of each kind of game, by name."""
    kinds = sorted({each.kind for each in played})
    return {kind: record([each for each in played if each.kind == kind]) for kind in kinds}


def by_seat(played: Sequence[Played]) -> dict[int, Record]:
    """The record at each seat, counted from 0."""
    seats = sorted({each.seat for each in played})
    return {seat: record([each for each in played if each.seat == seat]) for seat in seats}


def _longest(wins: Iterable[bool]) -> int:
    """The most wins in a row."""
    longest = now = 0
    for won in wins:
        now = now + 1 if won else 0
        longest = max(longest, now)
    return longest
