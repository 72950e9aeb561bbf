"""A law about chance and secrets: what is drawn for one player shows in no fact that another may read.

Secret twins take the facts of a log as given and change a secret in them, so they cannot see a public field that was
worked out from a secret in the same entry, such as the highest card of a hand that was dealt. Here the entry itself is
made again: from the same position, with the same choices, and with chance that deals one thing in place of another. Then
a reader who may know neither must have been told the same. This module must never take a fact from a log without having
it made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from engine.chance import Draw, Stream
from engine.facts import Fact, fold, seen
from engine.game import Story as Telling
from engine.table import Entry, Position
from engine.testing.bench import Bench, Playout, Trouble, readers
from engine.testing.coupled import Echo, Remembered
from engine.testing.differences import Difference, Pool, Story, exchanges, hidings, secret_fields, with_difference
from engine.testing.doors import offered
from engine.testing.twins import about, in_the_other, name_of, secrets_in
from engine.testing.values import atoms, exchanged

_TWINS: Final = 3
"""The most twins for each reader of an entry."""

_TRIES: Final = 40
"""The most differences that are looked at for them."""


def deal_twins(bench: Bench) -> Iterator[Trouble]:
    """When secrets are dealt or drawn, nothing that a reader is told follows from those of others."""
    if not secret_fields(bench.game):
        return
    pools: dict[int, Pool] = {}
    met: Counter[object] = Counter()
    for playout in bench.playouts():
        log = playout.tables[-1].log if playout.tables else ()
        pool = pools.setdefault(playout.plan.seats, Pool())
        pool.add(_facts(log))
        for number, entry in enumerate(log):
            kind = playout.plan.seats, tuple(playout.plan.options.items()), secrets_in(entry.facts)
            if kind[-1] and met[kind] < (3 if bench.thorough else 1):
                met[kind] += 1
                yield from _leaks(bench, playout, number, pool)


def _leaks(bench: Bench, playout: Playout, number: int, pool: Pool) -> Iterator[Trouble]:
    """Yield what the facts of one entry tell of its secrets, to every reader."""
    entry = _Entry(bench, playout, number)
    luck = Stream(playout.plan.seed, 2**55 + number)
    for reader in readers(playout.plan.seats):
        found = exchanges(entry.story, reader, pool, secret_fields(bench.game), luck)
        twins = 0
        for difference, _ in zip(found, range(_TRIES), strict=False):
            leak = entry.told_apart(reader, difference)
            twins += leak is not None
            if leak:
                what = f"{leak}, when it is dealt, tells {name_of(reader)} {about(difference)}"
                yield Trouble("deal twins", what, f"{playout.plan}, entry {number}", bench.line_of(leak))
            if twins == _TWINS:
                break


class _Entry:
    """An entry of a playout, to be made again in other truths."""

    def __init__(self, bench: Bench, playout: Playout, number: int) -> None:
        table = playout.tables[-1]
        self._game, self._number, self._entry = bench.game, number, table.log[number]
        self._start = bench.game.start(playout.plan.seats, table.options)
        self._seed, self._seats = playout.plan.seed, playout.plan.seats
        self._before = _facts(table.log[:number])
        self.story: Story = (*self._before, *self._entry.facts)

    def told_apart(self, reader: int, difference: Difference) -> str | None:
        """Return the kind of fact that tells two truths apart, "" if none does, or None if they are no such twins."""
        if not any(difference.named & {*atoms(hiding.value)} for hiding in hidings(self._entry.facts, reader)):
            return None
        luck = Remembered(self._seed, self._number)
        here = self._made(self._before, self._entry, luck)
        if here is None:
            return None
        other = self._twin(reader, difference, Echo(luck, difference.mapping, by_place=False))
        if other is None:
            return None
        expected = [exchanged(hiding.value, difference.mapping) for hiding in hidings(here, reader)]
        if [hiding.value for hiding in hidings(other, reader)] != expected:
            return None
        one, two = (tuple(seen(happened, reader) for happened in facts) for facts in (here, other))
        if one == two:
            return ""
        differing = next((type(f).__name__ for f, g in zip(one, two, strict=False) if f != g), "the number of facts")
        # Another fact may turn a thing up for all to see; the one that deals it in secret may not.
        deals_it = differing in {kind for kind, _ in difference.fields}
        return None if difference.named & {*atoms((one, two))} and not deals_it else differing

    def _twin(self, reader: int, difference: Difference, luck: Echo) -> Story | None:
        """Return the facts of the entry in the other truth, or None if the rules never lead there."""
        choices = {
            seat: choice if seat == reader else in_the_other(choice, difference)
            for seat, choice in self._entry.choices.items()
        }
        before = with_difference(self._before, reader, difference)
        return self._made(before, replace(self._entry, choices=choices), luck)

    def _made(self, before: Story, entry: Entry, luck: Any) -> Story | None:
        try:
            position = Position(self._game, self._seats, self._seed, fold(self._start, before), self._number)
            if self._number:
                asks = position.asks()
                if any(s not in asks or not offered(asks[s], choice) for s, choice in entry.choices.items()):
                    return None
            return position.enter(self._telling(position, entry, luck), luck, entry.choices)[1].facts
        except Exception:  # noqa: BLE001 - chance is out of step, or the rules never lead to this truth.
            return None

    def _telling(self, position: Position, entry: Entry, luck: Draw) -> Telling[Any]:
        if self._number:
            return self._game.resolve(position.state, entry.choices, luck)
        return self._game.setup(position.state, luck)


def _facts(log: tuple[Entry, ...]) -> tuple[Fact[Any], ...]:
    return tuple(happened for entry in log for happened in entry.facts)
