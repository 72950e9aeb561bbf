"""Playouts: games played on by quick choices alone, and how good the place looks where they stop."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Amount, Choice, Decision
from engine.facts import SPECTATOR
from engine.game import Game
from engine.search.course import Course
from engine.search.level import Level

REACH: Final = 4
"""How far from its centre a prospect counts in full, in average distances: the value is a straight line up to there."""


def quick_choice(game: Game[Any], state: Any, decision: Decision, draw: Draw) -> Choice:
    """Return a choice at first sight: the game's own, or else the default half of the time, because any bid may be far too much."""
    choice = game.quick(state, decision, draw)
    if choice is not None:
        return choice
    if draw.below(2):
        return decision.default
    act = draw.pick(decision.acts)
    choice = Choice(act.verb, tuple(map(partial(_low, draw=draw), act.blanks)))
    return choice if game.objects(state, decision.seat, choice) is None else decision.default


def quick_choices(course: Course, draw: Draw, without: int | None = None) -> dict[int, Choice]:
    """Return quick choices for a turn: one for each other seat that is asked, or a single one that ends the turn at once."""
    found = {}
    for seat, decision in course.opened.items():
        if seat == without:
            continue
        found[seat] = quick_choice(course.game, course.state, decision, draw)
        if found[seat].verb in decision.closes:
            return {seat: found[seat]}
    return found


class Horizon:
    """Where a bot stops thinking ahead: when some topics are over, counted from the one it decides about, or after some turns.

    It's the same for every choice, however soon a choice ends the topic: what comes later helps one player or another, and
    would tip the scales.
    """

    __slots__ = ("_topic", "_topics", "_turns")

    def __init__(self, game: Game[Any], topic: str, level: Level) -> None:
        self._topic = topic
        self._topics = 1 if game.independent_topics else level.topics
        self._turns = level.turns

    def reached(self, course: Course) -> bool:
        """Whether to stop here. To be asked once before each turn."""
        if not course.asks or not self._turns:
            return True
        self._turns -= 1
        topic = next(iter(course.asks.values())).topic
        if topic != self._topic:
            self._topic = topic
            self._topics -= 1
        return self._topics <= 0


def play_on(course: Course, draw: Draw, horizon: Horizon) -> None:
    """Play on by quick choices up to the horizon."""
    while not horizon.reached(course):
        course.go(quick_choices(course, draw))


class Worlds:
    """Truths that fit a view, to be drawn by how well each fits what the others have done.

    They're drawn from a number of truths imagined once; where a game doesn't say how well one fits, each is imagined when drawn.
    """

    def __init__(self, game: Game[Any], view: Any, reader: int, draw: Draw, number: int) -> None:
        self._imagine = partial(game.imagine, view, reader, draw)
        self._draw = draw
        weighs = type(game).plausible is not Game.plausible
        self._truths = [self._imagine() for _ in range(number if weighs else 0)]
        self._sums = list(accumulate(game.plausible(truth, reader) for truth in self._truths))

    def draw(self) -> Any:
        """Return one of the truths. The same one may come again."""
        if not self._truths:
            return self._imagine()
        return self._truths[bisect_right(self._sums, self._draw.below(self._sums[-1]))]


def imagined(game: Game[Any], view: Any, reader: int, draw: Draw, tries: int) -> Any:
    """Return a truth that fits a view, of several by how well each fits what the others have done."""
    return Worlds(game, view, reader, draw, tries).draw()


def public_truth(game: Game[Any], truth: Any, draw: Draw, tries: int) -> Any:
    """Return a truth that fits what everyone can see of another one."""
    return imagined(game, game.mask(truth, SPECTATOR), SPECTATOR, draw, tries)


class Judge:
    """Turns states into values from 0 to 1 for each seat: what it can expect of its place and its score.

    The scale comes from a few playouts of the position at hand, because points mean something else in each game.
    """

    def __init__(self, game: Game[Any], samples: list[Any]) -> None:
        self._game = game
        prospects = [self._prospects(state) for state in samples]
        columns = list(zip(*prospects, strict=True))
        self._centres = [sum(column) / len(column) for column in columns]
        spread = sum(
            abs(each - centre) for column, centre in zip(columns, self._centres, strict=True) for each in column
        )
        self._reach = max(1.0, REACH * spread / (len(samples) * len(columns)))

    def values(self, state: Any) -> list[float]:
        """Return the value of a state for each seat."""
        scores = [
            min(1.0, max(0.0, 0.5 + (prospect - centre) / (2 * self._reach)))
            for prospect, centre in zip(self._prospects(state), self._centres, strict=True)
        ]
        standing = self._game.standing(state)
        if not standing.over:
            return scores
        return [(_place(standing.ranking, seat) + score) / 2 for seat, score in enumerate(scores)]

    def _prospects(self, state: Any) -> list[int]:
        return [self._game.prospect(state, seat) for seat in range(len(self._game.standing(state).scores))]


def _place(ranking: tuple[tuple[int, ...], ...], seat: int) -> float:
    """Return 1 for a win, a share of it for a shared one, and a little for being ahead of others."""
    seats = sum(map(len, ranking))
    behind = 0.0
    for tied in reversed(ranking):
        if seat in tied:
            break
        behind += len(tied)
    behind += (len(tied) - 1) / 2
    won = 1 / len(ranking[0]) if seat in ranking[0] else 0.0
    return (3 * won + behind / max(1, seats - 1)) / 4


def _low(blank: Any, draw: Draw) -> Any:
    """Return a value for a blank: any, but for an amount one that is likelier to be low."""
    if isinstance(blank, Amount):
        number = blank.low + draw.below(draw.below(blank.high - blank.low + 1) + 1)
        return number if number in blank else next(blank.values())
    return blank.sample(draw)
