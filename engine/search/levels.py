"""The levels of the bots: how far each looks ahead, and how it settles on a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.course import Course, Luck
from engine.search.level import Level
from engine.search.playout import Horizon, imagined, play_on, quick_choices
from engine.search.search import Search
from engine.search.tree import worth_trying

VERSION: Final = 1
"""The version of the bots. Raise it when any of them would choose differently; a test holds them to it."""


LEVELS: Final[Mapping[str, Level]] = {
    level.name: level
    for level in (
        # One world and few choices: it sees what is near, and is often wrong about what others hold and do.
        Level("beginner", worlds=1, choices=4, turns=4),
        Level("regular", worlds=8, choices=10),
        Level("expert", choices=12, iterations=300, topics=2, turns=24),
    )
}


USUAL: Final = "regular"
"""The level of bots that nobody has chosen."""


def choose(game: Game[Any], view: Any, offers: Decision, level: Level, random: Draw) -> Choice:
    """Return a choice for the seat that has this view and is made these offers."""
    if offers.only() is not None:
        return offers.default
    if not level.iterations:
        return _look_ahead(game, view, offers, level, random)
    return Search(game, view, offers, random, level).run(level.iterations)


def _look_ahead(game: Game[Any], view: Any, offers: Decision, level: Level, random: Draw) -> Choice:
    """Return the choice that looks best after quick play in a few worlds, the same for every choice."""
    luck = Luck(random.below(2**32))
    found = worth_trying(game, view, offers, luck, level.choices)
    hopes = [0] * len(found)
    seats = len(game.standing(view).scores)
    for _ in range(level.worlds):
        truth, seed = imagined(game, view, offers.seat, luck, 3), luck.below(2**32)
        for place, choice in enumerate(found):
            hopes[place] += hope(game, seats, truth, offers.seat, choice, level, Luck(seed))
    return found[hopes.index(max(hopes))]


def hope(game: Game[Any], seats: int, truth: Any, seat: int, choice: Choice, level: Level, luck: Luck) -> int:
    """Return how good it looks for a seat after this choice and some quick ones."""
    course = Course(game, seats, truth, lambda _turn: luck)
    topic = course.asks[seat].topic
    ends_turn = choice.verb in course.asks[seat].closes
    others = {} if ends_turn else quick_choices(course, luck, without=seat)
    course.go({**others, seat: choice} if len(others) + 1 == len(course.opened) or ends_turn else others)
    play_on(course, luck, Horizon(topic, level.topics, level.turns))
    return game.prospect(course.state, seat)
