"""Mutants: faults planted on purpose, which the kit must notice.

A mutant is a bench with one fault in its game or its server, and the law that must notice it. Faults are planted by
subclassing, so nothing in the process is patched and nothing stays behind. This module must never be part of a game that
is played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, cast

from engine import codec
from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.facts import F, Fact, fact
from engine.game import Game, Standing, Story
from engine.table import Table
from engine.tell import say
from engine.testing import doors, laws, twins, views
from engine.testing.bench import Bench, Law, Server, Trouble
from engine.testing.differences import secret_fields
from engine.testing.values import hidden_in, inside


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
        yield Mutant(f"{kind}.{name} is told to everyone", twins.secret_twins, bench.with_server(_Leak(kind, name)))
    yield Mutant("a server that accepts anything", doors.keeps_the_door, bench.with_server(_OpenDoor()))
    yield Mutant("a server that forgets who is asked", doors.keeps_the_door, bench.with_server(_AnySeat()))
    yield Mutant("a server that takes True for 1", doors.keeps_the_door, bench.with_server(_Equal()))
    # This one spoils its tables, so it gets playouts of its own.
    spoiled = Bench(game, thorough=bench.thorough, server=_Sticky())
    yield Mutant("a refused choice that stays in the box", doors.keeps_the_door, spoiled)
    if any(len(table.position.open()) > 1 for table in _tables(bench)):
        yield Mutant("a page that shows the box", twins.box_twins, bench.with_server(_Glass()))
    yield Mutant("a page that shows the seed", twins.seed_twins, bench.with_server(_Prophet()))
    for minted in _minted(bench):
        yield Mutant("something appears out of nothing", laws.conserves, _other(bench, resolve=minted))
    if any(_is_hidden_from_one_asked(table) for table in _tables(bench)):
        yield Mutant("a decision that peeks at the truth", views.asks_from_views, _other(bench, asks=_peeking))
    yield Mutant("a default that is not allowed", views.asks_from_views, _other(bench, asks=_speechless))
    if any(
        bound > 1 for table in _tables(bench) for entry in table.log[:1] + table.log[-1:] for bound, _ in entry.drawn
    ):
        yield Mutant("chance from elsewhere", laws.reruns, _other(bench, **_lucky()))
    yield Mutant("a game that never ends", laws.ends, _other(bench, standing=_endless))


def check_mutants(bench: Bench) -> Iterator[Trouble]:
    """Every planted fault is noticed by its law, beyond the troubles that were there before."""
    for mutant in mutants(bench):
        if not noticed(mutant, frozenset(trouble.what for trouble in bench.troubles(mutant.law))):
            yield Trouble("notices mutants", f"“{mutant.name}” was not noticed")


def noticed(mutant: Mutant, before: frozenset[str] = frozenset()) -> bool:
    """Whether the law finds a trouble that was not there before the fault was planted."""
    try:
        return any(trouble.what not in before for trouble in mutant.law(mutant.bench))
    except Exception:  # noqa: BLE001 - a law that fails on a fault has noticed it.
        return True


# Faults of the server.


class _Leak(Server):
    """Shows one secret field to everyone."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind = kind
        self._name = name

    def seen(self, happened: F, reader: int) -> F:
        visible = super().seen(happened, reader)
        if type(happened).__name__ == self._kind:
            return cast(F, replace(cast(Any, visible), **{self._name: getattr(happened, self._name)}))
        return visible


class _OpenDoor(Server):
    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        return table


class _AnySeat(Server):
    """Accepts from any seat what one of them may choose."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        asks = table.position.open()
        if seat not in asks and any(choice in decision for decision in asks.values()):
            return table
        return super().submit(table, seat, choice)


class _Equal(Server):
    """Accepts anything that is equal to a choice."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        asks = table.position.open()
        own = type(choice) is Choice and type(seat) is int and seat in asks
        if own and any(choice == possible for possible in asks[seat].choices(200)):
            return table
        return super().submit(table, seat, choice)


class _Sticky(Server):
    """Puts the choice into the box before checking it."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        if type(choice) is Choice and type(seat) is int:
            cast("dict[int, Choice]", table.position.box)[seat] = choice
        return super().submit(table, seat, choice)


class _Glass(Server):
    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        shown = super().page(table, reader, since)
        return {**shown, "board in words": shown["board in words"] + codec.dumps(table.position.box)}


class _Prophet(Server):
    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        shown = super().page(table, reader, since)
        return {**shown, "board in words": shown["board in words"] + table.position.seed.hex()}


# Faults of the game.


def _other(bench: Bench, **methods: Any) -> Bench:
    """Return the bench with other methods in its game. Each gets the sound game as its first argument."""
    sound = bench.game

    def bound(method: Any) -> Any:
        return lambda self, *arguments: method(sound, *arguments)

    kind: Any = type(sound)
    body = {name: bound(method) for name, method in methods.items()}
    changed: Game[Any] = type(
        kind.__name__, (kind,), {**body, "__module__": kind.__module__, "__doc__": kind.__doc__}
    )()
    return Bench(changed, thorough=bench.thorough)


def _peeking(game: Game[Any], view: Any, seat: int) -> Decision | None:
    decision = game.asks(view, seat)
    return decision if decision is None or hidden_in(view) else replace(decision, prompt=say("It is good for you."))


def _speechless(game: Game[Any], view: Any, seat: int) -> Decision | None:
    decision = game.asks(view, seat)
    return None if decision is None else replace(decision, default=Choice("keep silent"))


def _endless(game: Game[Any], state: Any) -> Standing:
    return replace(game.standing(state), ranking=())


class _Elsewhere(Draw):
    """Chance that follows from no seed. It remembers where it was asked, and gives something else the next time."""

    def __init__(self, asked: Counter[object], where: str) -> None:
        self._asked = asked
        self._where = where
        self._many = 0

    def below(self, bound: int) -> int:
        self._many += 1
        self._asked[self._where, self._many] += 1
        return self._asked[self._where, self._many] % bound


def _lucky() -> dict[str, Any]:
    """Return a deal and a story that use other chance."""
    asked: Counter[object] = Counter()

    def resolve(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
        return game.resolve(state, choices, _Elsewhere(asked, codec.dumps((state, choices))))

    def setup(game: Game[Any], state: Any, draw: Draw) -> Story[Any]:
        return game.setup(state, _Elsewhere(asked, codec.dumps(state)))

    return {"resolve": resolve, "setup": setup}


def _minted(bench: Bench) -> Iterator[Any]:
    """Yield a `resolve` whose first fact adds one thing that the tally counts."""
    first = next(_tables(bench), None)
    if first is None:
        return
    state = first.position.state
    for each in fields(state):
        for more in (_one_more, _one_twice):
            if _counts(bench.game, state, each.name, more):
                yield _minting(each.name, more)
                return


def _minting(name: str, more: Callable[[Any], Any]) -> Any:
    def resolve(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
        story = game.resolve(state, choices, draw)
        happened = _with_more(next(story), name, more)
        try:
            while True:
                happened = story.send((yield happened))
        except StopIteration:
            return

    return resolve


def _with_more(happened: Fact[Any], name: str, more: Callable[[Any], Any]) -> Fact[Any]:
    """Return the fact with one thing more in a field of the state afterwards."""
    kind: Any = type(happened)

    def apply(self: Any, state: Any) -> Any:
        after = kind.apply(self, state)
        changed = inside(more, getattr(after, name))
        return after if changed is None else replace(after, **{name: changed})

    body = {"apply": apply, "__slots__": (), "__doc__": kind.__doc__, "__module__": kind.__module__}
    minting: Any = type(kind.__name__, (kind,), body)
    return cast("Fact[Any]", minting(**{each.name: getattr(happened, each.name) for each in fields(kind)}))


def _one_more(value: Any) -> Any:
    return value + 1 if type(value) is int else None


def _one_twice(value: Any) -> Any:
    return (*value, value[0]) if isinstance(value, tuple) and value and not isinstance(value[0], tuple) else None


def _counts(game: Game[Any], state: Any, name: str, more: Callable[[Any], Any]) -> bool:
    """Whether the tally counts one more in this field."""
    changed = inside(more, getattr(state, name))
    if changed is None:
        return False
    try:
        return dict(game.tally(replace(state, **{name: changed}))) != dict(game.tally(state))
    except Exception:  # noqa: BLE001 - a state that cannot be counted is another fault.
        return False


def _tables(bench: Bench) -> Iterator[Table]:
    return (table for playout in bench.playouts() for table in playout.tables)


def _is_hidden_from_one_asked(table: Table) -> bool:
    return any(hidden_in(table.view(seat)) for seat in table.position.open())
