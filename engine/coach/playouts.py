"""The games that the coach imagines: played on to their end from a decision, and drawn again from an entry.

In games played on from a choice, the next choices of all seats look ahead in a hurry, and the later ones are quick. Among
players who all choose at first sight, the move that wins is one that nobody who thinks would fall for.

This module must never let a seat choose by what it can't see.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from engine.chance import Draw
from engine.coach.endings import Ended, Watch, counted_by, parts_of_win
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search import course
from engine.search.course import Course
from engine.search.foresight import HASTY, Minds
from engine.search.playout import imagined, quick_choices

THOUGHTS: Final = 15
"""Choices in a game that someone looks ahead for: those of the next few turns. With fewer, what a choice costs soon is
measured, and not what its player would have made good."""
THOUGHT: Final = 20
"""About as many quick choices take the time of looking ahead for one."""
LONGEST: Final = 2_000
"""Turns after which a game is called for the player in the lead."""
_TRIES: Final = 3


class Moment(NamedTuple):
    """A decision of the reviewed player: the truth and their view before it."""

    turn: int
    state: Any
    view: Any
    decision: Decision
    chosen: Choice


class Playouts:
    """Games imagined by what a player knew, or from the truth. `games` are those played to their end, and `cost` about as many
    quick choices as they took.
    """

    def __init__(self, game: Game[Any], seats: int, seat: int, luck: Draw, *, open_hands: bool) -> None:
        self.games = 0
        self.cost = 0
        self._game = game
        self._seats = seats
        self._seat = seat
        self._luck = luck
        self._open_hands = open_hands
        # In a game that doesn't say what is sensible at first sight, nobody can look ahead.
        self._thoughts = 0 if type(game).quick is Game.quick else THOUGHTS

    def world(self, moment: Moment) -> Any:
        """Return a truth in which the moment may have been: the only one with all hands open."""
        if self._open_hands:
            return moment.state
        return imagined(self._game, moment.view, self._seat, self._luck, _TRIES)

    def pairs(self, moment: Moment, other: Choice, many: int) -> list[tuple[Ended, Ended]]:
        """Play games to their end after the player's choice and after another one: in the same worlds, with the same luck,
        among the same players.
        """
        found = []
        counted = counted_by(self._game, moment.view, self._seat)
        for _ in range(many):
            truth, seed, minds = self.world(moment), self._luck.below(2**32), self.minds()
            mine, others = (
                self._end(truth, course.Luck(seed), minds, moment.decision, choice, counted)
                for choice in (moment.chosen, other)
            )
            found.append((mine, others))
            self.cost += THOUGHT * minds.thoughts
        return found

    def wins(self, moment: Moment, many: int) -> int:
        """Return the player's parts of the win in some games after their choice, all quick."""
        wins = 0
        for _ in range(many):
            luck = course.Luck(self._luck.below(2**32))
            played = self.begin(self.world(moment), luck)
            self.choose(played, luck, Minds(self._game, (), HASTY, 0), moment.decision, moment.chosen)
            wins += self.play_on(played, luck)[0][self._seat]
        return wins

    def minds(self) -> Minds:
        """Return how everyone chooses in another world."""
        return Minds(self._game, [self._luck.below(2**32) for _ in range(self._seats)], HASTY, self._thoughts)

    def begin(self, state: Any, luck: Draw) -> Course:
        """Begin a game from a state."""
        return Course(self._game, self._seats, state, lambda _turn: luck)

    def choose(
        self, played: Course, luck: Draw, minds: Minds, decision: Decision, choice: Choice, watch: Watch | None = None
    ) -> None:
        """Settle the turn in which the player makes this choice, and the others theirs."""
        minds.begin()
        ends_turn = choice.verb in decision.closes
        others = {} if ends_turn else minds.choices(played, luck, without=self._seat)
        complete = ends_turn or len(others) + 1 == len(played.opened)
        go(played, {**others, self._seat: choice} if complete else others, watch)

    def play_on(
        self, played: Course, luck: Draw, minds: Minds | None = None
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Play on to the end; return each seat's part of the win, and the scores."""
        while played.asks and played.turn < LONGEST:
            self.cost += len(played.asks)
            played.go(quick_choices(played, luck) if minds is None else minds.choices(played, luck))
        self.games += 1
        return parts_of_win(self._game, played.state)

    def _end(
        self, truth: Any, luck: Draw, minds: Minds, decision: Decision, choice: Choice, counted: Collection[str]
    ) -> Ended:
        """Play a game to its end after a choice."""
        played, watch = self.begin(truth, luck), Watch(self._game, self._seat, truth, decision.topic, counted)
        self.choose(played, luck, minds, decision, choice, watch)
        while played.asks and not watch.over:
            self.cost += len(played.asks)
            go(played, minds.choices(played, luck), watch)
        return Ended(*self.play_on(played, luck, minds), watch)


def go(played: Course, choices: Mapping[int, Choice], watch: Watch | None) -> None:
    """Play a turn, and watch what happens."""
    topic, before = next(iter(played.asks.values())).topic, played.state
    happened = played.go(choices)
    if watch is not None and not watch.over:
        watch.see(topic, before, happened, played.state)
