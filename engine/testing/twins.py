"""Laws about secrets: two games that differ only in a secret look the same to a reader who may not know it.

There are three kinds of such twins. *Box twins* differ in the sealed choices of others. *Seed twins* differ in future
chance. *Secret twins* differ in a secret field: they are made from the facts, and both are played on, because a secret
can also leak through what the rules do with it.

Every kind of position is looked at with the usual options, and again with every set of unusual ones.

This module must never ask a server what is secret. Only `secret()` in the declaration of a fact decides that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from engine.chance import Draw, Stream
from engine.decisions import Choice, Decision
from engine.facts import SPECTATOR, Fact, fold, secrets_of, seen
from engine.table import Box, Position, Table
from engine.testing.bench import Bench, Playout, Trouble, as_seen_by, describe, readers, sampled, story
from engine.testing.coupled import Echo, Remembered
from engine.testing.differences import (
    Difference,
    Field,
    Pool,
    exchanges,
    kind_of_fact,
    other_values,
    secret_fields,
    with_difference,
)
from engine.testing.doors import offered
from engine.testing.values import atoms, exchanged

_TWINS: Final = 2
"""The most twins for each reader at each position."""

_TURNS: Final = 8
"""How many turns twins are played on for, at most."""

_METHODS: Final = {
    "the board": "board",
    "the board in words": "board",
    "the question": "asks",
    "the question from the view": "asks",
    "the prompt": "asks",
    "the usages": "asks",
    "the orders": "asks",
    "the what cannot be done": "barred",
    "the refusals": "objects",
    "the who is asked": "asks",
}
"""The method of a game that makes each part of a page."""

_TRIES: Final = 12
"""The most attempts to find a difference, or a choice that both twins allow."""


def box_twins(bench: Bench) -> Iterator[Trouble]:
    """The sealed choices of others, and whether there are any, change nothing that a reader sees."""
    for playout, at in chain(bench.positions(3, _seats(bench)), _with_options(bench)):
        table = playout.tables[at]
        asks = table.position.open()
        luck = Stream(playout.plan.seed, 2**53 + at)
        for reader in readers(playout.plan.seats):
            others = [seat for seat in asks if seat != reader]
            # One seat must not have chosen yet, or the turn would close.
            if reader not in asks or reader in table.position.box:
                others = others[1:]
            own = {seat: choice for seat, choice in table.position.box.items() if seat == reader}
            boxes = [own] + [own | _sealed(bench, asks, table, others, luck) for _ in range(2)]
            pages = [_news(bench, replace(table, position=replace(table.position, box=box)), reader) for box in boxes]
            for other in pages[1:]:
                if (what := _differing(pages[0], other)) is not None:
                    yield Trouble(
                        "box twins",
                        f"the {what} tells {name_of(reader)} about the box",
                        playout.where(at),
                        bench.line_of(_METHODS.get(f"the {what}", "")),
                    )
                    break


def seed_twins(bench: Bench) -> Iterator[Trouble]:
    """Future chance changes nothing that a reader sees."""
    for playout, at in chain(bench.positions(1, _seats(bench)), _with_options(bench)):
        table = playout.tables[at]
        twin = replace(table, position=replace(table.position, seed=bytes(32)))
        for reader in readers(playout.plan.seats):
            if (what := _differing(_news(bench, table, reader), _news(bench, twin, reader))) is not None:
                yield Trouble(
                    "seed twins",
                    f"the {what} tells {name_of(reader)} about the seed",
                    playout.where(at),
                    bench.line_of(_METHODS.get(f"the {what}", "")),
                )


def secret_twins(bench: Bench) -> Iterator[Trouble]:
    """Secrets hidden from a reader change nothing that the reader sees, now or when the game goes on.

    It is a trouble, too, if a secret field was never varied or a reader never saw a pair of twins.
    """
    fields = secret_fields(bench.game)
    if not fields:
        return
    twins = Twins(bench, fields)
    everyone = {*readers(bench.game.seats[1])}
    usual = bench.positions(3 if bench.thorough else 1, _seats(bench), kinds_of_secrets)
    for playout, at in chain(usual, _with_options(bench)):
        yield from twins.at(playout, at, exchanges)
    if twins.unvaried or twins.met < everyone:
        # Not every secret can be exchanged with another: several players may share a taste.
        for playout, at in bench.positions(3, _seats(bench), kinds_of_secrets):
            yield from twins.at(playout, at, other_values)
    for kind, name in sorted(twins.unvaried):
        yield Trouble("secret twins", f"the secret {kind}.{name} was never varied", code=bench.line_of(kind))
    for reader in sorted(everyone - twins.met):
        yield Trouble("secret twins", f"{name_of(reader)} never saw a pair of twins")
    if not twins.played_on:
        yield Trouble("secret twins", "no twins could be played on")


def kinds_of_secrets(table: Table) -> object:
    """Return the kinds of secrets at a table. Positions with different ones are of different kinds for twins."""
    return secrets_in(story(table))


def secrets_in(facts: Iterable[Fact[Any]]) -> frozenset[type]:
    """Return the kinds of facts among these that have secrets."""
    return frozenset(type(happened) for happened in facts if secrets_of(kind_of_fact(happened)))


class Twins:
    """The twins of one game, and what they have covered so far."""

    def __init__(self, bench: Bench, fields: Collection[Field]) -> None:
        self.unvaried = set(fields)
        self._fields = fields
        self.met: set[int] = set()
        self.played_on = 0
        self.bench = bench
        self._pools: dict[int, Pool] = {}
        for playout in bench.playouts():
            if playout.tables:
                self._pool(playout).add(story(playout.tables[-1]))

    def at(self, playout: Playout, at: int, ways: Any) -> Iterator[Trouble]:
        """Compare twins at one position, for every reader."""
        luck = Stream(playout.plan.seed, 2**54 + at)
        for reader in readers(playout.plan.seats):
            for table, twin, difference in self.pairs(playout, at, reader, ways, luck):
                self.unvaried -= difference.fields
                self.met.add(reader)
                for what in self._compare(table, twin, reader, difference, luck):
                    yield Trouble(
                        "secret twins",
                        f"{what} tells {name_of(reader)} {about(difference)}",
                        playout.where(at),
                        self._code(what, difference),
                    )

    def _code(self, what: str, difference: Difference) -> str:
        """Return where to look: the fact or method that tells the secret, or else the fact that has it."""
        source, (kind, _) = what.partition(",")[0], min(difference.fields)
        return self.bench.line_of(source) or self.bench.line_of(_METHODS.get(source, "")) or self.bench.line_of(kind)

    def pairs(
        self, playout: Playout, at: int, reader: int, ways: Any, luck: Draw
    ) -> Iterator[tuple[Table, Table, Difference]]:
        """Yield a table with its twins, beginning with those that vary a field for the first time."""
        table = playout.tables[at]
        found = ways(story(table), reader, self._pool(playout), self.unvaried or self._fields, luck)
        differences = [difference for difference, _ in zip(found, range(_TRIES), strict=False)]
        differences.sort(key=lambda difference: -len(difference.fields & self.unvaried))
        known: Table | None = None
        made = 0
        for difference in differences:
            if made == _TWINS:
                return
            twin = self._twin(table, reader, difference)
            if twin is not None:
                known = known or as_seen_by(table, self.bench.server, reader)
                made += 1
                yield known, twin, difference

    def _pool(self, playout: Playout) -> Pool:
        return self._pools.setdefault(playout.plan.seats, Pool())

    def _twin(self, table: Table, reader: int, difference: Difference) -> Table | None:
        """Return the table in the other truth, or None if the rules never lead there."""
        game, position = self.bench.game, table.position
        tale = with_difference(story(table), reader, difference)
        try:
            state = fold(game.start(position.seats, table.options), tale)
            if dict(game.tally(state)) != dict(game.tally(position.state)) or state == position.state:
                return None
            box = {
                seat: choice if seat == reader else in_the_other(choice, difference)
                for seat, choice in position.box.items()
            }
            twin = replace(position, state=state, box=box)
            asks = twin.asks()
            if any(seat not in asks or not offered(asks[seat], choice) for seat, choice in box.items()):
                return None
        except Exception:  # noqa: BLE001 - the rules never lead to a truth on which they fail.
            return None
        facts = iter(tale)
        log = tuple(replace(entry, facts=tuple(next(facts) for _ in entry.facts)) for entry in table.log)
        return as_seen_by(replace(table, position=twin, log=log), self.bench.server, reader)

    def _compare(self, table: Table, twin: Table, reader: int, difference: Difference, luck: Draw) -> Iterator[str]:
        server = self.bench.server
        try:
            what = _differing(server.page(table, reader), server.page(twin, reader))
        except Exception as error:  # noqa: BLE001 - a page must raise the same in both truths.
            what = f"page, which raises {describe(error)},"
        if what is not None:
            yield f"the {what}"
            return
        one, other = table.position, twin.position
        for _ in range(_TURNS):
            boxes = self._boxes(one, other, reader, difference, luck)
            if boxes is None:
                return
            outcome = self._outcome(one, other, boxes, reader, difference)
            if isinstance(outcome, str):
                yield outcome
                return
            if outcome is None:
                return
            self.played_on += 1
            one, other = outcome

    def _boxes(
        self, one: Position, other: Position, reader: int, difference: Difference, luck: Draw
    ) -> tuple[Box, Box] | None:
        """Return the same choices in both truths, or None if there are none."""
        game = self.bench.game
        asks, twins = one.asks(), other.asks()
        box: dict[int, Choice] = {}
        twin_box: dict[int, Choice] = {}
        if not asks or asks.keys() != twins.keys():
            return None
        for seat, decision in asks.items():
            for _ in range(_TRIES):
                choice = one.box.get(seat) or sampled(game, one.state, decision, luck)
                same = choice if seat == reader else in_the_other(choice, difference)
                if offered(twins[seat], same) and game.objects(other.state, seat, same) is None:
                    break
            else:
                return None
            if choice.verb in decision.closes:
                return {seat: choice}, {seat: same}
            box[seat], twin_box[seat] = choice, same
        return box, twin_box

    def _outcome(
        self, one: Position, other: Position, boxes: tuple[Box, Box], reader: int, difference: Difference
    ) -> tuple[Position, Position] | str | None:
        """Return both truths after the same choices and chance, what told them apart, or None if they may differ."""
        game = self.bench.game
        luck = Remembered(one.seed, one.turn)
        one, entry = one.enter(game.resolve(one.state, boxes[0], luck), luck, boxes[0])
        visible = tuple(seen(happened, reader) for happened in entry.facts)
        ends: list[tuple[Any, ...]] = []
        for by_place in (False, True):
            echo = Echo(luck, difference.mapping, by_place)
            try:
                after, twin = other.enter(game.resolve(other.state, boxes[1], echo), echo, boxes[1])
            except Exception:  # noqa: BLE001, S112 - chance is out of step, or the rules never lead to this truth.
                continue
            ends.append(tuple(seen(happened, reader) for happened in twin.facts))
            if ends[-1] == visible:
                return one, after
        if not ends or any(difference.named & {*atoms((visible, end))} for end in ends):
            return None
        first = next((f for f, g in zip(visible, ends[0], strict=False) if f != g), None)
        return f"{'the story' if first is None else type(first).__name__}, when the game goes on,"


def in_the_other(choice: Choice, difference: Difference) -> Choice:
    """Return a choice as it is made in the other truth."""
    return Choice(choice.verb, exchanged(choice.values, difference.mapping))


def _sealed(
    bench: Bench, asks: Mapping[int, Decision], table: Table, others: list[int], luck: Draw
) -> dict[int, Choice]:
    """Return choices of some other seats that leave the turn open."""
    box = {}
    for seat in others:
        choice = sampled(bench.game, table.position.state, asks[seat], luck)
        if choice.verb not in asks[seat].closes and luck.below(4):
            box[seat] = choice
    return box


def _news(bench: Bench, table: Table, reader: int) -> dict[str, str]:
    """Return what a reader gets who has seen all but the last entry."""
    return bench.server.page(table, reader, since=len(table.log) - 1)


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """Return which part of a page differs, or None."""
    return next((what for what in {**one, **other} if one.get(what) != other.get(what)), None)


def _seats(bench: Bench) -> Collection[int]:
    """Return the numbers of players to look at: all, or in a quick run the fewest and the most."""
    low, high = bench.game.seats
    return range(low, high + 1) if bench.thorough else {low, high}


def _with_options(bench: Bench) -> Iterator[tuple[Playout, int]]:
    """Yield a position of every kind with each set of unusual options, at each number of players it is played with."""
    counts = range(bench.game.seats[0], bench.game.seats[1] + 1)
    places = bench.positions(1, counts, lambda table: tuple(table.options.items()))
    return ((playout, at) for playout, at in places if playout.plan.options)


def name_of(reader: int) -> str:
    """Return what a trouble calls a reader."""
    return "the spectator" if reader == SPECTATOR else f"player {reader + 1}"


def about(difference: Difference) -> str:
    """Return which secrets a difference is about."""
    return "about " + " and ".join(f"{kind}.{name}" for kind, name in sorted(difference.fields))
