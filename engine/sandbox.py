"""The sandbox: a game played on in thought, in a world imagined from one seat's view, and shown as that seat would see it.

    a seat's view -> a truth that fits it -> choices for any seat, by the rules -> what the seat would see

The world follows from its number and the view alone: two games that look the same to a seat have the same sandbox. Its imagined view hides what its
real view hides. This module must never be given a true state, a real seed or a sealed choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from engine import codec, grammar, orders
from engine.chance import Stream
from engine.decisions import Choice, Decision, Refused
from engine.facts import HIDDEN, Fact, fact, fold, seen
from engine.game import Game
from engine.search.playout import imagined
from engine.table import Position
from engine.tell import say

MOST_STEPS: Final = 40
"""The most choices in one line of thought."""

MOST_WORLDS: Final = 10**6
"""Worlds have smaller numbers than that."""

_HIDDEN: Final = codec.dumps(HIDDEN)
_TRUTHS: Final = 3
"""How many truths are imagined, to take one by how well it fits."""


@fact
class Step:
    """A choice in thought: whose, and in words."""

    seat: int
    words: str


@fact
class Thought:
    """Where a line of thought has led. `asked` is the seat to choose next, with its `decision`; `waiting` are others asked too.

    `seen_facts` is what the seat would have been told after each step; `order` its standing orders as they would be now.
    """

    view: Any
    asked: int | None
    decision: Decision | None
    waiting: tuple[int, ...]
    seen_facts: tuple[tuple[Fact[Any], ...], ...]
    order: orders.Order | None


def is_possible(game: Game[Any], view: Any) -> bool:
    """Whether a world can be imagined from this view: nothing is hidden in it, or the game says how."""
    return type(game).imagine is not Game.imagine or _HIDDEN not in codec.dumps(view)


def think(
    game: Game[Any],
    view: Any,
    seat: int,
    seats: int,
    turn: int,
    world: int,
    steps: Sequence[Step],
    order: orders.Order | None = None,
) -> Thought:
    """Return where these choices lead in a world. Raises Refused if one of them isn't possible there, or there are too many."""
    if len(steps) > MOST_STEPS:
        raise Refused(say("You can think up to {most} choices ahead.", most=MOST_STEPS))
    # Never the seed of the game: the number of the world is all that luck comes from.
    seed = sha256(b"sandbox/%d" % world).digest()
    truth = imagined(game, view, seat, Stream(seed, turn), _TRUTHS)
    position, seen_facts = Position(game, seats, seed, truth, turn + 1), list[tuple[Fact[Any], ...]]()
    for step in steps:
        asked = position.open().get(step.seat)
        if asked is None or step.seat in position.box:
            raise Refused(say("It wouldn't be {rival's} turn.", rival=step.seat))
        choice = grammar.read(asked, step.words)
        if step.seat == seat and order is not None:
            order = _followed(order, game, view, seat, choice)
        position, entries = position.submit(step.seat, choice)
        facts = tuple(seen(happened, seat) for entry in entries for happened in entry.facts)
        seen_facts.append(facts)
        view = fold(view, facts)
    still = [other for other in position.open() if other not in position.box]
    # The player's own choice first, so that they don't look at what others could do.
    still.sort(key=lambda other: (other != seat, other))
    decision = position.open()[still[0]] if still else None
    return Thought(view, still[0] if still else None, decision, tuple(still[1:]), tuple(seen_facts), order)


def _followed(order: orders.Order, game: Game[Any], view: Any, seat: int, choice: Choice) -> orders.Order | None:
    """The orders as they continue, if they would have made this choice."""
    given = orders.answer(order, game, view, seat)
    return given.order if given.choice == choice else order
