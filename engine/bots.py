"""Bots: they see one seat's view and its decision, and return a choice.

A bot has no memory and no privileges: it can take over any seat at any moment. `greedy` tries a few choices in a few
imagined worlds, plays each on until it is asked again, and takes the choice that looks best. The levels that people choose
from are in `search`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.chance import Draw, Stream
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.records import replace
from engine.search import LEVELS, Level, choose
from engine.table import Position

Bot = Callable[[Game[Any], Any, Decision, Draw], Choice]
"""Takes the game, the seat's own view, its decision and a source of chance; returns a choice."""

_MOST_TRIES: Final = 100
_CANDIDATES: Final = 12
_WORLDS: Final = 3
_HORIZON: Final = 12


def random_bot(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> Choice:
    """Return any legal choice, or the default if one is hard to find."""
    for _ in range(_MOST_TRIES):
        choice = decision.sample(draw)
        if game.objects(view, decision.seat, choice) is None:
            return choice
    return decision.default


def greedy(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> Choice:
    """Return the choice that looks best in a few imagined worlds, at the seat's next decision."""
    candidates = _candidates(game, view, decision, draw)
    if len(candidates) == 1:
        return candidates[0]
    worlds = [_imagine(game, view, decision.seat, draw) for _ in range(_WORLDS)]
    hopes = [sum(_hope(world, decision.seat, choice) for world in worlds) for choice in candidates]
    return candidates[hopes.index(max(hopes))]


def _at(level: Level) -> Bot:
    def bot(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> Choice:
        return choose(game, view, decision, level, draw)

    return bot


BOTS: Final[dict[str, Bot]] = {
    "random": random_bot,
    "greedy": greedy,
    **{name: _at(level) for name, level in LEVELS.items()},
}
VERSIONS: Final = {"random": 1, "greedy": 2, **{name: level.version for name, level in LEVELS.items()}}
"""The version of each bot. Raise it with every change of what it may choose, so that old choices are not made again by it."""


def searches(name: str) -> bool:
    """Whether a bot thinks for a second or so about each choice; the others take almost no time."""
    return name in LEVELS and LEVELS[name].iterations > 0


def signature(name: str) -> str:
    """Return the name of a bot with its version, as logs have it: `greedy/1`."""
    return f"{name}/{VERSIONS[name]}"


def _candidates(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> list[Choice]:
    """Return all choices if there are few, else the default and some others, including the cheapest of each act."""
    if decision.count() <= _CANDIDATES:
        found = decision.choices()
    else:
        firsts = [next(act.choices()) for act in decision.acts]
        found = [decision.default, *firsts, *(decision.sample(draw) for _ in range(_CANDIDATES))]
    distinct = dict.fromkeys(found)
    legal = [choice for choice in distinct if game.objects(view, decision.seat, choice) is None]
    return legal[:_CANDIDATES] or [decision.default]


def _imagine(game: Game[Any], view: Any, seat: int, draw: Draw) -> Position:
    """Return a world that fits the view. All candidates are tried in the same worlds, so that they compare."""
    seed = b"".join(draw.below(2**32).to_bytes(4, "big") for _ in range(4))
    seats = len(game.standing(view).scores)
    return Position(game, seats, seed, game.imagine(view, seat, draw))


def _hope(world: Position, seat: int, choice: Choice) -> int:
    """Return how good it looks for the seat when it is next asked after this choice, if the others play anyhow."""
    luck = Stream(world.seed, 2**32)
    position, _ = replace(world, box={}).submit(seat, choice)
    for _ in range(_HORIZON * position.seats):
        asked = {s: decision for s, decision in position.open().items() if s not in position.box}
        if not asked or (seat in asked and position.turn > world.turn):
            break
        other = next((s for s in asked if s != seat), seat)
        # Half of the time the others take the default, because random players would bid far too much.
        guess = random_bot(position.game, position.state, asked[other], luck) if luck.below(2) else asked[other].default
        position, _ = position.submit(other, guess)
    return position.game.prospect(position.state, seat)
