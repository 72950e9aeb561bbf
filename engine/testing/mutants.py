"""Mutants: faults planted on purpose, which the kit must notice.

A mutant is a bench with one fault in its game or its server, and the law that must notice it. This module must never be
part of a game that is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from engine.facts import fact, secrets_of
from engine.game import Game
from engine.options import OptionValue
from engine.table import Table
from engine.testing import courses, deals, doors, faults, laws, numbers, twins, views
from engine.testing.bench import BROKEN, Bench, Law, Trouble
from engine.testing.differences import kind_of_fact, secret_fields
from engine.testing.plans import values_of
from engine.testing.values import hidden_in


@fact
class Mutant:
    """A planted fault, the law that must notice it, and the bench it is planted in."""

    name: str
    law: Law
    bench: Bench


def mutants(bench: Bench) -> Iterator[Mutant]:
    """Yield every fault that can be planted in this game."""
    game = bench.game
    for kind, name in sorted(secret_fields(game)):
        yield Mutant(
            f"{kind}.{name} is told to everyone", twins.secret_twins, bench.with_server(faults.Leak(kind, name))
        )
    yield Mutant("a server that accepts anything", doors.keeps_the_door, bench.with_server(faults.OpenDoor()))
    yield Mutant("a server that forgets who is asked", doors.keeps_the_door, bench.with_server(faults.AnySeat()))
    yield Mutant("a server that takes True for 1", doors.keeps_the_door, bench.with_server(faults.Equal()))
    # This one spoils its tables, so it gets playouts of its own.
    spoiled = Bench(game, thorough=bench.thorough, server=faults.Sticky())
    yield Mutant("a refused choice that stays in the box", doors.keeps_the_door, spoiled)
    if any(len(table.position.open()) > 1 for table in bench.tables()):
        yield Mutant("a page that shows the box", twins.box_twins, bench.with_server(faults.Glass()))
    yield Mutant("a page that shows the seed", twins.seed_twins, bench.with_server(faults.Prophet()))
    for minted in faults.minted(bench):
        yield Mutant("something appears out of nothing", laws.conserves, faults.changed(bench, resolve=minted))
    if any(_is_hidden_from_one_asked(table) for table in bench.tables()):
        yield Mutant(
            "a decision that peeks at the truth", views.asks_from_views, faults.changed(bench, asks=faults.peeking)
        )
    yield Mutant("a default that is not allowed", views.asks_from_views, faults.changed(bench, asks=faults.speechless))
    if any(
        bound > 1 for table in bench.tables() for entry in table.log[:1] + table.log[-1:] for bound, _ in entry.drawn
    ):
        yield Mutant("chance from elsewhere", laws.reruns, faults.changed(bench, **faults.lucky()))
    yield Mutant("a game that never ends", laws.ends, faults.changed(bench, standing=faults.endless))
    if any(p.whole() and len(set(game.standing(p.tables[-1].position.state).scores)) > 1 for p in bench.playouts()):
        yield Mutant("bots that don't know who won", laws.ends, faults.changed(bench, prospect=faults.hopeless))
    yield from _endless(bench)
    yield from _with_options(bench)
    if any(secrets_of(kind_of_fact(f)) for p in bench.playouts() if p.tables for f in p.tables[0].log[0].facts):
        yield Mutant("a clue about secrets in the deal", deals.deal_twins, faults.changed(bench, setup=faults.clued))
    if (unchosen := faults.middle_number(bench)) is not None:
        stumbling = faults.changed(bench, resolve=faults.stumbling(*unchosen))
        yield Mutant("a number that breaks the game", numbers.takes_every_number, stumbling)


def _endless(bench: Bench) -> Iterator[Mutant]:
    """Yield games that would hang a check. Their steps are counted even where those of the game are not."""
    for name, methods in (
        ("a story that never begins", {"resolve": faults.spinning}),
        ("a question that is never put", {"asks": faults.pondering}),
        ("a table that decides for itself forever", {"asks": faults.alone, "resolve": faults.nothing}),
    ):
        yield Mutant(name, laws.ends, faults.changed(bench, counting=True, **methods))


def _with_options(bench: Bench) -> Iterator[Mutant]:
    """Yield faults behind one value of an option: in a thorough run every unusual one, or else that of the shortest games."""
    unusual: list[tuple[str, OptionValue]] = [
        (option.name, value) for option in bench.game.options for value in values_of(option) if value != option.default
    ]
    # Secret twins take long, and look at the same positions.
    leaks = twins.secret_twins if bench.thorough and secret_fields(bench.game) else twins.seed_twins
    for option, value in unusual if bench.thorough else sorted(unusual, key=partial(_longest, bench.game))[:1]:
        leaky = bench.with_server(faults.Unusual(option, value))
        yield Mutant(f"a page that shows the truth with {option}={value}", leaks, leaky)
        still = faults.changed(bench, **faults.standing_still(option, value))
        yield Mutant(f"a game that stands still with {option}={value}", courses.ends_in_time, still)


def _longest(game: Game[Any], unusual: tuple[str, OptionValue]) -> int:
    return game.longest(game.seats[0], game.settle(game.seats[0], dict([unusual])))


def check_mutants(bench: Bench) -> Iterator[Trouble]:
    """Every planted fault is noticed by its law, beyond the troubles that were there before."""
    for mutant in mutants(bench):
        if not noticed(mutant, frozenset(trouble.what for trouble in bench.troubles(mutant.law))):
            yield Trouble("notices mutants", f"“{mutant.name}” was not noticed")


def noticed(mutant: Mutant, before: frozenset[str] = frozenset()) -> bool:
    """Whether the law finds a trouble that was not there before the fault was planted."""
    try:
        return any(trouble.what not in before for trouble in mutant.bench.found(mutant.law))
    except BROKEN:
        # A law that fails on a fault has noticed it.
        return True


def _is_hidden_from_one_asked(table: Table) -> bool:
    return any(hidden_in(table.view(seat)) for seat in table.position.open())
