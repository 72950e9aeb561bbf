"""A trouble seen again: the game at the place that a message names, choice by choice.

A place such as `2 players, purse=40, playing any #0, after 12 of 25 choices` is enough to play the same game again, because
its seed is made from it. This module must never judge what happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from engine import grammar
from engine.decisions import Refused
from engine.facts import fact
from engine.game import Game
from engine.table import Table
from engine.tell import say
from engine.testing.bench import BROKEN, NAMES, Bench, describe, play
from engine.testing.numbers import gone_on
from engine.testing.plans import Plan, options_in
from engine.testing.source import raised_at
from engine.testing.steps import bounded

_PLACE: Final = re.compile(
    r"(\d+) players, (.+), playing (.+) #(\d+)"
    r"(?:, after (\d+)(?: of \d+)? choices|, entry (\d+))?(?:, then player (\d+): (.+))?"
)


@fact
class Place:
    """A plan, how many choices or entries are played, and a choice after them: its seat and its words."""

    plan: Plan
    choices: int | None
    entries: int | None
    then: tuple[int, str] | None


def place_in(game: Game[Any], text: str) -> Place:
    """Return the place that a message names. Raises Refused if it names none."""
    found = _PLACE.fullmatch(text.strip().strip("()"))
    if found is None:
        raise Refused(say("That is no place of a message: it begins with “{example}”.", example="3 players, "))
    seats, options, style, number, choices, entry, seat, written = found.groups()
    most = None if choices is None else int(choices) + 1
    return Place(
        Plan(int(seats), options_in(game, options), style, int(number), most),
        choices=None if choices is None else int(choices),
        entries=None if entry is None else int(entry) + 1,
        then=None if seat is None else (int(seat) - 1, written),
    )


def repeat(game: Game[Any], text: str) -> Iterator[str]:
    """Yield the lines of a game up to a place: the seed, each choice with what followed, what is asked, and the fault."""
    place = place_in(game, text)
    yield f"{game.title}, {place.plan}, seed {place.plan.seed.hex()}"
    with bounded(game):
        playout = play(game, place.plan)
    tables = playout.tables[: None if place.choices is None else place.choices + 1]
    shown = 0
    for number, table in enumerate(tables):
        if number:
            seat, choice = playout.moves[number - 1]
            decision = tables[number - 1].position.asks()[seat]
            yield f"{number}. {NAMES[seat]}: {grammar.write(decision, choice)}"
        yield from _facts(game, table, shown)
        shown = len(table.log)
        if place.entries is not None and shown >= place.entries:
            return
    if playout.fault and len(tables) == len(playout.tables):
        yield f"{playout.code}: {playout.fault}"
    elif tables:
        yield from _asked(tables[-1])
    if place.then is not None:
        yield from _then(game, tables[-1], *place.then)


def _then(game: Game[Any], table: Table, seat: int, written: str) -> Iterator[str]:
    choice = grammar.read(table.asks()[seat], written)
    yield f"then {NAMES[seat]}: {written}"
    for tied in (False, True):
        try:
            with bounded(game):
                after = gone_on(Bench(game), table, seat, choice, tied)
        except BROKEN as error:
            yield f"{raised_at(game, error)}: {describe(error)}"
            return
        yield from _facts(game, after, len(table.log))


def _facts(game: Game[Any], table: Table, since: int) -> Iterator[str]:
    """Yield what happened, with all secrets."""
    teller = game.teller(None, NAMES)
    for number, entry in enumerate(table.log[since:], start=since):
        yield from (f"   entry {number}: {teller.tell(happened) or happened}" for happened in entry.facts)


def _asked(table: Table) -> Iterator[str]:
    for seat, decision in table.position.open().items():
        sealed = " (sealed)" if seat in table.position.box else ""
        yield f"{NAMES[seat]} is asked{sealed}: {', '.join(grammar.usages(decision))}"
