"""Players made of code: they see one seat's view and the decision, and give a choice.

`greedy` tries each of a few choices in some imagined worlds, a truth that fits what it has seen, plays on until it is
asked again, and takes what looks best then. A bot has no memory and no privileges: it may be put in at any seat, at any
moment, and what it cannot see it has to imagine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from engine.chance import Draw, Stream
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.table import Position

Bot = Callable[[Game[Any], Any, Decision, Draw], Choice]
"""From the game, the seat's own view, its decision and a source of luck to a choice."""

_MOST_TRIES: Final = 100
_CANDIDATES: Final = 12
_WORLDS: Final = 3
_HORIZON: Final = 12


def random_bot(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> Choice:
    """Any choice the rules allow. Where blanks seldom fit together it falls back on what silence means."""
    for _ in range(_MOST_TRIES):
        choice = decision.sample(draw)
        if game.objects(view, decision.seat, choice) is None:
            return choice
    return decision.default


def greedy(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> Choice:
    """The choice that looks best in a few imagined worlds, one own decision ahead."""
    candidates = _candidates(game, view, decision, draw)
    if len(candidates) == 1:
        return candidates[0]
    worlds = [_imagine(game, view, decision.seat, draw) for _ in range(_WORLDS)]
    hopes = [sum(_hope(world, decision.seat, choice) for world in worlds) for choice in candidates]
    return candidates[hopes.index(max(hopes))]


BOTS: Final[dict[str, Bot]] = {"random": random_bot, "greedy": greedy}


def _candidates(game: Game[Any], view: Any, decision: Decision, draw: Draw) -> list[Choice]:
    """All choices if they are few; else what silence means and some others, the cheapest of a range among them."""
    if decision.count() <= _CANDIDATES:
        found = decision.choices()
    else:
        firsts = [next(act.choices()) for act in decision.acts]
        found = [decision.default, *firsts, *(decision.sample(draw) for _ in range(_CANDIDATES))]
    distinct = dict.fromkeys(found)
    legal = [choice for choice in distinct if game.objects(view, decision.seat, choice) is None]
    return legal[:_CANDIDATES] or [decision.default]


def _imagine(game: Game[Any], view: Any, seat: int, draw: Draw) -> Position:
    """A truth that fits the view, with luck of its own: the same for every candidate, so that they compare."""
    seed = b"".join(draw.below(2**32).to_bytes(4, "big") for _ in range(4))
    seats = len(game.standing(view).scores)
    return Position(game, seats, seed, game.imagine(view, seat, draw))


def _hope(world: Position, seat: int, choice: Choice) -> int:
    """How good it looks for the seat when it is next asked after this choice, if the others just do something."""
    luck = Stream(world.seed, 2**32)
    position, _ = replace(world, box={}).submit(seat, choice)
    for _ in range(_HORIZON * position.seats):
        asked = {s: decision for s, decision in position.open().items() if s not in position.box}
        if not asked or (seat in asked and position.turn > world.turn):
            break
        other = next((s for s in asked if s != seat), seat)
        # Half of the time the others are silent: players who always did something at random would bid far too much.
        guess = random_bot(position.game, position.state, asked[other], luck) if luck.below(2) else asked[other].default
        position, _ = position.submit(other, guess)
    return position.game.prospect(position.state, seat)
