"""Foresight: choices compared among others who think before they choose.

A bid is only as good as what the others bid. Looking ahead takes them for players who choose at first sight. Here the player who
is asked next looks ahead as well, in a hurry, by what their own seat sees in the imagined world, and so does the searcher
itself in its next turn. So the bot is one step ahead of a rival who looks ahead.

Nobody in these games may choose by what its seat can't see.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.course import Course, Luck
from engine.search.halving import best_of
from engine.search.level import Level
from engine.search.look_ahead import look_ahead
from engine.search.playout import Horizon, Worlds, quick_choice
from engine.search.tree import worth_trying

HASTY: Final = Level("hasty", worlds=2, choices=10, turns=6)
"""How everyone thinks in the imagined games."""
THOUGHTS: Final = 4
"""Choices in each game that someone thinks about. The later ones are quick."""
TRUTHS: Final = 512
"""Imagined truths to draw worlds from, by how plausible each is."""
GLANCES: Final = 12
"""Quick choices among those to compare, if there are many of a single act, such as a sealed bid."""


class Minds:
    """How everyone chooses in the games of one imagined world: with a few thoughts in each game, and quickly once those are spent.

    Anyone who knows the same there thinks the same, so what doesn't depend on a choice to be compared is thought only once.
    A seat's thoughts take no luck from the game: each has its own seed.
    """

    def __init__(self, game: Game[Any], seeds: Sequence[int], level: Level, thoughts: int) -> None:
        self._game = game
        self._seeds = seeds
        self._level = level
        self._most = self._left = thoughts
        self._known: dict[Hashable, Choice] = {}

    @property
    def thoughts(self) -> int:
        """How many choices were thought about so far: what was known already isn't thought again."""
        return len(self._known)

    def begin(self) -> None:
        """Begin another game in this world."""
        self._left = self._most

    def choices(self, course: Course, luck: Draw, without: int | None = None) -> dict[int, Choice]:
        """Return a choice for each other seat that is asked, or a single one that ends the turn at once."""
        found: dict[int, Choice] = {}
        for seat, decision in course.opened.items():
            if seat != without:
                found[seat] = self._choice(course.state, decision, luck)
                if found[seat].verb in decision.closes:
                    return {seat: found[seat]}
        return found

    def _choice(self, truth: Any, decision: Decision, luck: Draw) -> Choice:
        """Return what a seat chooses by what it sees of this truth."""
        if not self._left:
            return quick_choice(self._game, truth, decision, luck)
        self._left -= 1
        view = self._game.mask(truth, decision.seat)
        key = (decision.seat, view)
        if key not in self._known:
            self._known[key] = look_ahead(self._game, view, decision, self._level, Luck(self._seeds[decision.seat]))
        return self._known[key]


class Foresight:
    """One comparison, for one decision, in worlds that fit the view, or in one truth if that is known."""

    def __init__(
        self, game: Game[Any], view: Any, decision: Decision, draw: Draw, level: Level, truth: Any = None
    ) -> None:
        self._game = game
        self._view = view
        self._seat = decision.seat
        self._topic = decision.topic
        self._seats = len(game.standing(view).scores)
        self._level = level
        self._luck = Luck(draw.below(2**32))
        self._world = Worlds(game, view, decision.seat, self._luck, TRUTHS).draw if truth is None else lambda: truth
        self._hopes = dict.fromkeys(worth_trying(game, view, decision, self._luck, level.choices, GLANCES), 0)

    def run(self, iterations: int) -> Choice:
        """Play about this many games and return the choice that did best."""
        return best_of(list(self._hopes), iterations, self._compare, self._hopes.__getitem__)

    def _compare(self, choices: list[Choice]) -> None:
        """Try choices in one world."""
        truth = self._world()
        seed = self._luck.below(2**32)
        minds = Minds(self._game, (seed,) * self._seats, HASTY, THOUGHTS)
        for choice in choices:
            self._hopes[choice] += self._hope(truth, choice, seed, minds)

    def _hope(self, truth: Any, choice: Choice, seed: int, minds: Minds) -> int:
        """Return how good it looks after this choice, at the horizon."""
        luck = Luck(seed)
        minds.begin()
        course = Course(self._game, self._seats, truth, lambda _turn: luck)
        ends_turn = choice.verb in course.asks[self._seat].closes
        others = {} if ends_turn else minds.choices(course, luck, without=self._seat)
        course.go({**others, self._seat: choice} if len(others) + 1 == len(course.opened) or ends_turn else others)
        horizon = Horizon(self._game, self._topic, self._level)
        while not horizon.reached(course):
            course.go(minds.choices(course, luck))
        return self._game.prospect(course.state, self._seat)
