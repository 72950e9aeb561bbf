"""Looking ahead: each choice is tried in a few worlds, the same for all, and played on by quick choices for a while."""

from __future__ import annotations

from typing import Any

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.course import Course, Luck
from engine.search.level import Level
from engine.search.playout import Horizon, imagined, play_on, quick_choices
from engine.search.tree import worth_trying


def look_ahead(game: Game[Any], view: Any, offers: Decision, level: Level, random: Draw) -> Choice:
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
    play_on(course, luck, Horizon(game, topic, level))
    return game.prospect(course.state, seat)
