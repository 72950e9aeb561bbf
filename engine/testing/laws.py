"""Laws about the course of a game: it ends, it replays, its chance is honest, and nothing appears or gets lost.

Each law looks at the playouts of a bench and yields the troubles it finds. This module must never change a game, and
must never know one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from engine import codec
from engine.chance import Scripted, Stream, follows
from engine.facts import Fact, fold, seen
from engine.game import Standing
from engine.table import Table, answers_itself, begin
from engine.testing.bench import Bench, Playout, Trouble, describe, readers
from engine.testing.values import hidden_in, unfit

_EVERY: Final = 4
"""Slow laws look at every fourth playout of a quick run."""

_SHORT: Final = 60
"""Slow laws look at all games that are shorter than this."""

_MOST_TABLES: Final = 100
"""The most tables of a playout to look at, evenly spread: the rest of a long game is more of the same."""


def ends(bench: Bench) -> Iterator[Trouble]:
    """Every game ends in time, even if nobody ever chooses, and a seat is asked exactly as long as there is no result."""
    law = "ends"
    for playout in bench.playouts():
        if playout.fault:
            yield Trouble(law, playout.fault, playout.where(len(playout.moves)), playout.code)
        for at in playout.sample(_MOST_TABLES):
            table = playout.tables[at]
            over = bench.game.standing(table.position.state).over
            asked = table.position.asks()
            if over and asked:
                yield Trouble(
                    law, "a seat is asked although the game is over", playout.where(at), bench.line_of("asks")
                )
            if not over and not asked:
                yield Trouble(
                    law, "no seat is asked although the game is not over", playout.where(at), bench.line_of("asks")
                )
            if asked and all(map(answers_itself, asked.values())):
                yield Trouble(
                    law,
                    "the table waits although it could make every decision itself",
                    playout.where(at),
                    bench.line_of("asks"),
                )
        if playout.whole():
            yield from _result(bench, playout)


def _result(bench: Bench, playout: Playout) -> Iterator[Trouble]:
    """The final standing names every seat once, every reader can work it out, and bots prefer what scores more."""
    table = playout.tables[-1]
    final = bench.game.standing(table.position.state)
    where, code = playout.where(len(playout.moves)), bench.line_of("standing")
    seats = table.position.seats
    if sorted(seat for tied in final.ranking for seat in tied) != list(range(seats)):
        yield Trouble("ends", "the final ranking does not name every seat once", where, code)
    if len(final.scores) != seats:
        yield Trouble("ends", "there is not one score for each seat", where, code)
        return
    hopes = [bench.game.prospect(table.position.state, seat) for seat in range(seats)]
    pairs = list(zip(final.scores, hopes, strict=True))
    if any(score > other and hope <= least for score, hope in pairs for other, least in pairs):
        yield Trouble(
            "ends", "when the game is over, prospect() is no higher for more points", where, bench.line_of("prospect")
        )
    for reader in readers(seats):
        try:
            known: Standing | None = bench.game.standing(table.view(reader))
        except TypeError:
            known = None
        if known != final:
            yield Trouble("ends", "a reader cannot work out the result from the facts they have seen", where, code)
            return


def replays(bench: Bench) -> Iterator[Trouble]:
    """The facts alone, stored as JSON, give the same state and the same views after every entry."""
    law = "replays"
    for playout in _some(bench):
        state = bench.game.start(playout.plan.seats, playout.tables[0].options)
        views = dict.fromkeys(readers(playout.plan.seats), state)
        entries = playout.tables[-1].log
        at = {len(table.log): table for table in playout.tables}
        for number, entry in enumerate(entries, start=1):
            text = codec.dumps(entry)
            again = codec.loads(bench.game, text)
            if again != entry or codec.dumps(again) != text:
                yield Trouble(
                    law,
                    "an entry changes when it is stored and loaded",
                    f"{playout.plan}, entry {number}",
                    _unequal(bench, entry.facts, again.facts),
                )
                break
            state = fold(state, again.facts)
            views = {reader: fold(view, (seen(f, reader) for f in again.facts)) for reader, view in views.items()}
            if (table := at.get(number)) is None:
                continue
            where = f"{playout.plan}, entry {number}"
            if state != table.position.state or codec.dumps(state) != codec.dumps(table.position.state):
                yield Trouble(
                    law,
                    "applying the facts again gives another state",
                    where,
                    bench.line_of(type(entry.facts[-1]).__name__),
                )
                break
            if any(view != table.view(reader) for reader, view in views.items()):
                yield Trouble(
                    law,
                    "applying the facts that a reader has seen gives another view",
                    where,
                    bench.line_of(type(entry.facts[-1]).__name__),
                )
                break
        yield from _storable(bench, playout)


def _storable(bench: Bench, playout: Playout) -> Iterator[Trouble]:
    """States and views can be stored and loaded unchanged."""
    table = playout.tables[len(playout.tables) // 2]
    for stored in (table.position.state, *table.views):
        try:
            again = codec.loads(bench.game, codec.dumps(stored))
        except (codec.Malformed, TypeError) as error:
            yield Trouble("replays", f"a state cannot be stored: {describe(error)}", str(playout.plan), _state(bench))
            return
        if again != stored:
            yield Trouble("replays", "a state changes when it is stored and loaded", str(playout.plan), _state(bench))


def reruns(bench: Bench) -> Iterator[Trouble]:
    """The same choices and seed give the same facts, and every number drawn follows from the seed."""
    law = "reruns"
    for playout in _some(bench):
        plan = playout.plan
        table = begin(bench.game, plan.seats, plan.seed, plan.options)
        for seat, choice in playout.moves:
            table = table.submit(seat, choice)
        entries = playout.tables[-1].log
        for number, (one, other) in enumerate(zip(entries, table.log, strict=False)):
            if one.facts != other.facts:
                yield Trouble(
                    law, "the same choices give other facts", f"{plan}, entry {number}", bench.line_of("resolve")
                )
                break
            if one != other:
                yield Trouble(
                    law, "the same choices draw other numbers", f"{plan}, entry {number}", bench.line_of("resolve")
                )
                break
        if len(entries) != len(table.log):
            yield Trouble(law, "the same choices give more or fewer entries", str(plan), bench.line_of("resolve"))
        for number, entry in enumerate(entries):
            if not follows(plan.seed, number, entry.drawn):
                yield Trouble(
                    law,
                    "a number drawn does not follow from the seed",
                    f"{plan}, entry {number}",
                    bench.line_of("resolve"),
                )
        yield from _from_numbers(bench, table, str(plan))


def _from_numbers(bench: Bench, table: Table, where: str) -> Iterator[Trouble]:
    """The deal can be repeated from its recorded numbers alone."""
    start = bench.game.start(table.position.seats, table.options)
    draw = Scripted(number for _, number in table.log[0].drawn)
    empty = replace(table.position, state=start, turn=0, box={})
    _, entry = empty.enter(bench.game.setup(start, draw), cast(Any, draw), {})
    if entry != table.log[0]:
        yield Trouble("reruns", "the recorded numbers give another deal", where, bench.line_of("setup"))


def conserves(bench: Bench) -> Iterator[Trouble]:
    """Nothing appears and nothing gets lost: the tally is the same after every entry."""
    law = "conserves"
    for playout in bench.playouts():
        if not playout.tables:
            continue
        state = bench.game.start(playout.plan.seats, playout.tables[0].options)
        first: dict[str, int] | None = None
        for number, entry in enumerate(playout.tables[-1].log):
            before, state = state, fold(state, entry.facts)
            now = dict(bench.game.tally(state))
            first = first or now
            if now != first:
                where = f"{playout.plan}, entry {number}"
                yield Trouble(
                    law, f"the tally was {first} and is now {now}", where, _changing(bench, before, entry.facts)
                )
                break
        if not any((first or {}).values()):
            yield Trouble(law, "the tally counts nothing", str(playout.plan), bench.line_of("tally"))
            return


def answers_only_in_public(bench: Bench) -> Iterator[Trouble]:
    """The table decides for a seat exactly if there is only one choice and anyone could name it."""
    law = "answers only in public"
    for playout in _some(bench):
        position = playout.tables[0].position
        position = replace(position, state=bench.game.start(playout.plan.seats, playout.tables[0].options), box={})
        for number, entry in enumerate(playout.tables[-1].log):
            asks = position.asks() if entry.choices else {}
            for seat in entry.choices:
                single = asks[seat].public and asks[seat].count() == 1
                if (seat in entry.alone) != single:
                    fault = "was asked for the only choice" if single else "was not asked, and had a secret or a choice"
                    where = f"{playout.plan}, entry {number}"
                    yield Trouble(law, f"a seat {fault}", where, bench.line_of("asks"))
                    return
            position = replace(position, state=fold(position.state, entry.facts), turn=number + 1)


def holds_plain_values(bench: Bench) -> Iterator[Trouble]:
    """States and facts consist of whole numbers, texts and tuples: no fractions, and nothing mutable."""
    for playout in _some(bench):
        for at in (0, len(playout.tables) // 2, len(playout.tables) - 1):
            table = playout.tables[at]
            for value in (table.position.state, *(happened for entry in table.log[-1:] for happened in entry.facts)):
                if (bad := next(unfit(value), None)) is not None:
                    yield Trouble(
                        "holds plain values",
                        f"{type(value).__name__} holds a {bad}",
                        playout.where(at),
                        bench.line_of(type(value).__name__),
                    )


def imagines(bench: Bench) -> Iterator[Trouble]:
    """What a bot imagines is a whole truth: it fits the view, and nothing in it is hidden."""
    law = "imagines"
    for playout, at in bench.positions(2, range(bench.game.seats[0], bench.game.seats[1] + 1)):
        table = playout.tables[at]
        for seat, decision in table.position.open().items():
            try:
                dreamt = bench.game.imagine(table.view(seat), seat, Stream(playout.plan.seed, 2**49))
            except Exception as error:  # noqa: BLE001 - anything that a game raises is its trouble.
                yield Trouble(law, f"imagine() fails: {describe(error)}", playout.where(at), bench.raised_at(error))
                continue
            if hidden_in(dreamt):
                yield Trouble(
                    law,
                    "an imagined state still contains something hidden",
                    playout.where(at),
                    bench.line_of("imagine"),
                )
            elif bench.game.asks(dreamt, seat) != decision:
                yield Trouble(
                    law,
                    "in an imagined state the seat is asked something else",
                    playout.where(at),
                    bench.line_of("imagine"),
                )
            elif dict(bench.game.tally(dreamt)) != dict(bench.game.tally(table.position.state)):
                yield Trouble(law, "an imagined state has another tally", playout.where(at), bench.line_of("imagine"))


def _changing(bench: Bench, state: Any, happened: Sequence[Fact[Any]]) -> str:
    """Return where the first fact that changes the tally is defined."""
    counted = dict(bench.game.tally(state))
    for each in happened:
        state = each.apply(state)
        if dict(bench.game.tally(state)) != counted:
            return bench.line_of(type(each).__name__)
    return bench.line_of("tally")


def _unequal(bench: Bench, happened: Sequence[Fact[Any]], again: Sequence[Fact[Any]]) -> str:
    """Return where the first fact that changed on the way is defined."""
    other = next((one for one, two in zip(happened, again, strict=False) if one != two), None)
    return "" if other is None else bench.line_of(type(other).__name__)


def _state(bench: Bench) -> str:
    """Return where the state of the game is defined."""
    return bench.line_of(
        type(bench.game.start(bench.game.seats[0], bench.game.settle(bench.game.seats[0], {}))).__name__
    )


def _some(bench: Bench) -> Iterator[Playout]:
    """Yield the sound playouts. In a quick run, of long ones only every fourth and the first for each number of players."""
    met: set[int] = set()
    for number, playout in enumerate(bench.playouts()):
        near = bench.thorough or playout.plan.seats not in met or len(playout.moves) < _SHORT
        if not playout.fault and (near or number % _EVERY == 0):
            met.add(playout.plan.seats)
            yield playout
