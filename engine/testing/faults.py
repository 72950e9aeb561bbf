"""The faults that mutants are made of: servers that leak or accept too much, and games that break a law.

Faults are planted by subclassing, so nothing in the process is patched and nothing stays behind. The steps of a planted
fault are counted as the game's own. This module must never be part of a game that is played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any, ClassVar, cast
from zlib import crc32

from engine import codec
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import F, Fact, fact, secrets_of
from engine.game import Game, Standing, Story
from engine.options import Options, OptionValue
from engine.table import Table
from engine.tell import say
from engine.testing.bench import Bench, Server
from engine.testing.differences import kind_of_fact
from engine.testing.values import hidden_in, inside


class Leak(Server):
    """Shows one secret field to everyone."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind = kind
        self._name = name

    def seen(self, happened: F, reader: int) -> F:
        visible = super().seen(happened, reader)
        if type(happened).__name__ == self._kind:
            return cast(F, replace(cast(Any, visible), **{self._name: getattr(happened, self._name)}))
        return visible


class OpenDoor(Server):
    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        return table


class AnySeat(Server):
    """Accepts from any seat what one of them may choose."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        asks = table.position.open()
        if seat not in asks and any(choice in decision for decision in asks.values()):
            return table
        return super().submit(table, seat, choice)


class Equal(Server):
    """Accepts anything that is equal to a choice."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        asks = table.position.open()
        own = type(choice) is Choice and type(seat) is int and seat in asks
        if own and any(choice == possible for possible in asks[seat].choices(200)):
            return table
        return super().submit(table, seat, choice)


class Sticky(Server):
    """Puts the choice into the box before checking it."""

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        if type(choice) is Choice and type(seat) is int:
            cast("dict[int, Choice]", table.position.box)[seat] = choice
        return super().submit(table, seat, choice)


class Glass(Server):
    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        shown = super().page(table, reader, since)
        return {**shown, "board in words": shown["board in words"] + codec.dumps(table.position.box)}


class Prophet(Server):
    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        shown = super().page(table, reader, since)
        return {**shown, "board in words": shown["board in words"] + table.position.seed.hex()}


class Unusual(Server):
    """Shows the whole truth, and the seed, at tables with one value of one option."""

    def __init__(self, option: str, value: OptionValue) -> None:
        self._option = option
        self._value = value

    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        shown = super().page(table, reader, since)
        if table.options[self._option] != self._value:
            return shown
        truth = codec.dumps((table.position.state, table.position.box)) + table.position.seed.hex()
        return {**shown, "board in words": shown["board in words"] + truth}


# Faults of the game.


def changed(bench: Bench, *, counting: bool | None = None, **methods: Any) -> Bench:
    """Return the bench with other methods in its game. Each gets the sound game as its first argument."""
    sound = bench.game

    def bound(method: Any) -> Any:
        return lambda self, *arguments: method(sound, *arguments)

    kind: Any = type(sound)
    body = {name: bound(method) for name, method in methods.items()}
    changed: Game[Any] = type(
        kind.__name__, (kind,), {**body, "__module__": kind.__module__, "__doc__": kind.__doc__}
    )()
    return Bench(changed, thorough=bench.thorough, counting=bench.counting if counting is None else counting)


def peeking(game: Game[Any], view: Any, seat: int) -> Decision | None:
    decision = game.asks(view, seat)
    return decision if decision is None or hidden_in(view) else replace(decision, prompt=say("It is good for you."))


def speechless(game: Game[Any], view: Any, seat: int) -> Decision | None:
    decision = game.asks(view, seat)
    return None if decision is None else replace(decision, default=Choice("keep silent"))


def endless(game: Game[Any], state: Any) -> Standing:
    return replace(game.standing(state), ranking=())


def hopeless(_game: Game[Any], _state: Any, _seat: int) -> int:
    return 0


def standing_still(option: str, value: OptionValue) -> dict[str, Any]:
    """Return a start and a story. With one value of one option nothing happens any more from the second entry on."""
    agreed: dict[str, OptionValue] = {}

    def start(game: Game[Any], seats: int, options: Options) -> Any:
        agreed.update(options)
        return game.start(seats, options)

    def resolve(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
        if agreed[option] != value:
            yield from game.resolve(state, choices, draw)

    return {"start": start, "resolve": resolve}


def spinning(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
    """A story that never comes to its first fact."""
    for number in count():
        if number < 0:
            yield from game.resolve(state, choices, draw)


def pondering(game: Game[Any], view: Any, seat: int) -> Decision | None:
    """A question that is never put."""
    return next((game.asks(view, seat) for number in count() if number < 0), None)


def alone(game: Game[Any], view: Any, seat: int) -> Decision | None:
    """A question with one public answer, so that the table decides for itself forever."""
    return None if seat else Decision(0, say("Go on."), (Act("go"),), Choice("go"), public=True)


def nothing(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
    """A story without a fact."""
    yield from ()


@fact
class Clue(Fact[Any]):
    """Something that everyone is told, and that follows from a secret."""

    number: int
    silent: ClassVar[bool] = True

    def apply(self, state: Any) -> Any:
        return state


def clued(game: Game[Any], state: Any, draw: Draw) -> Story[Any]:
    """A deal with a public number made of its secrets."""
    secrets = []
    story = game.setup(state, draw)
    try:
        happened = next(story)
        while True:
            secrets += [getattr(happened, name) for name, _ in secrets_of(kind_of_fact(happened))]
            happened = story.send((yield happened))
    except StopIteration:
        yield Clue(crc32(codec.dumps(secrets).encode()))


def middle_number(bench: Bench) -> tuple[str, int] | None:
    """Return the verb of the widest amount met and a number inside it that nobody chose; None if there is none."""
    chosen = {(c.verb, value) for playout in bench.playouts() for _, c in playout.moves for value in c.values}
    widest = max(
        (
            (blank.count(), act.verb, blank)
            for table in bench.tables()
            for decision in table.position.open().values()
            for act in decision.acts
            for blank in act.blanks
            if isinstance(blank, Amount)
        ),
        key=lambda each: each[0],
        default=None,
    )
    if widest is None:
        return None
    _, verb, blank = widest
    inner = range(blank.low + 1, blank.high)
    middle = sorted(inner, key=lambda n: abs(2 * n - blank.low - blank.high))
    return next(((verb, n) for n in middle if n in blank and (verb, n) not in chosen), None)


def stumbling(verb: str, number: int) -> Any:
    """Return a `resolve` that fails on one number."""

    def resolve(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
        if any(choice.verb == verb and number in choice.values for choice in choices.values()):
            raise ValueError(f"{number} is too much")
        yield from game.resolve(state, choices, draw)

    return resolve


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


def lucky() -> dict[str, Any]:
    """Return a deal and a story that use other chance."""
    asked: Counter[object] = Counter()

    def resolve(game: Game[Any], state: Any, choices: Mapping[int, Choice], draw: Draw) -> Story[Any]:
        return game.resolve(state, choices, _Elsewhere(asked, codec.dumps((state, choices))))

    def setup(game: Game[Any], state: Any, draw: Draw) -> Story[Any]:
        return game.setup(state, _Elsewhere(asked, codec.dumps(state)))

    return {"resolve": resolve, "setup": setup}


def minted(bench: Bench) -> Iterator[Any]:
    """Yield a `resolve` whose first fact adds one thing that the tally counts."""
    first = next(bench.tables(), None)
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
