"""A law about amounts: every number that a seat may choose can be chosen, and what follows from it can be shown.

Players choose numbers that no bot would. For each amount that the game offers, with each set of options and number of
players, the widest range met is tried: a range of up to `EXHAUSTIVE` numbers whole, of a longer one both ends, the
middle, round numbers with their neighbours, and `RANDOM` others. A quick run tries a number that it has tried with other
options again only at the ends and in the middle of a range. Each number is chosen twice, with all others silent and,
where choices are sealed, with all others choosing it too. Then everyone takes the default for a while, so that the
number takes effect. This module must never try a number that is not offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine import grammar
from engine.board import plain
from engine.chance import Draw, Stream
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import SPECTATOR, fact
from engine.table import Table
from engine.testing.bench import NAMES, Bench, Playout, Trouble, describe, kind_of

EXHAUSTIVE: Final = 256
"""The most numbers of a range that are all tried."""

RANDOM: Final = 64
"""How many random numbers of a longer range are tried."""

_EDGE: Final = 4
_TRIES: Final = 20
"""The most attempts to find other values that go with a number."""

_ROUNDS: Final = 2
"""How many rounds of defaults follow a number."""


@fact
class Range:
    """An amount that a seat is offered: where, and in which act and blank of its decision."""

    playout: Playout
    at: int
    seat: int
    act: Act
    blank: int

    @property
    def amount(self) -> Amount:
        """The amount itself."""
        amount = self.act.blanks[self.blank]
        assert isinstance(amount, Amount)
        return amount


def takes_every_number(bench: Bench) -> Iterator[Trouble]:
    """Any number that is offered can be chosen by one seat or by all, and the game goes on and can be shown."""
    for each, choice in _choices(bench):
        table = each.playout.tables[each.at]
        for tied in (False, True) if len(table.position.open()) > 1 else (False,):
            try:
                _show(bench, gone_on(bench, table, each.seat, choice, tied), each.seat)
            except Exception as error:  # noqa: BLE001 - a number that is offered must not break anything.
                written = grammar.write(table.position.open()[each.seat], choice)
                where = f"{each.playout.where(each.at)}, then player {each.seat + 1}: {written}"
                what = f"“{written}” breaks the game: {describe(error)}"
                yield Trouble("takes every number", what, where, bench.raised_at(error))
                break


def _choices(bench: Bench) -> Iterator[tuple[Range, Choice]]:
    """Yield a choice for each number to try."""
    met: set[object] = set()
    for each in ranges(bench):
        luck = Stream(each.playout.plan.seed, 2**56 + each.at)
        kind = kind_of(each.playout.tables[each.at]), each.act.verb, each.amount.name
        again = {each.amount.low, each.amount.high, (each.amount.low + each.amount.high) // 2}
        for number in numbers(each.amount, luck):
            if bench.thorough or number in again or (kind, number) not in met:
                choice = _with_number(bench, each, number, luck)
                if choice is not None:
                    met.add((kind, number))
                    yield each, choice


def ranges(bench: Bench) -> list[Range]:
    """Return the widest range of each amount, for each kind of position, set of options and number of players."""
    widest: dict[object, Range] = {}
    for playout in bench.playouts():
        agreed = playout.plan.seats, tuple(playout.plan.options.items())
        for at in playout.sample(60):
            for each in _offered(playout, at):
                key = agreed, kind_of(playout.tables[at]), each.act.verb, each.amount.name
                if key not in widest or each.amount.count() > widest[key].amount.count():
                    widest[key] = each
    return list(widest.values())


def numbers(amount: Amount, luck: Draw) -> list[int]:
    """Return the numbers to try, lowest first.

    >>> numbers(Amount("coins", 3, 6), Stream(bytes(32), 0))
    [3, 4, 5, 6]
    >>> many = numbers(Amount("coins", 0, 10_000), Stream(bytes(32), 0))
    >>> {0, 1, 99, 100, 101, 5000, 9999, 10_000} <= {*many}
    True
    >>> len(many) < 200
    True
    """
    low, high = amount.low, amount.high
    if high - low < EXHAUSTIVE:
        return [n for n in range(low, high + 1) if n in amount]
    tried = {*range(low, low + _EDGE), *range(high - _EDGE + 1, high + 1)}
    for place in range(1, 4):
        tried |= {low + (high - low) * place // 4}
    for base in (2, 10):
        power = base
        while power <= high + 1:
            tried |= {power - 1, power, power + 1}
            power *= base
    tried |= {low + luck.below(high - low + 1) for _ in range(RANDOM)}
    return sorted(n for n in tried if n in amount)


def _offered(playout: Playout, at: int) -> Iterator[Range]:
    """Yield the amounts of one seat of those that are asked: seats asked together are asked alike."""
    position = playout.tables[at].position
    waiting = [(seat, decision) for seat, decision in position.open().items() if seat not in position.box]
    for seat, decision in waiting[:1]:
        for act in decision.acts:
            for blank, each in enumerate(act.blanks):
                if isinstance(each, Amount):
                    yield Range(playout, at, seat, act, blank)


def _with_number(bench: Bench, each: Range, number: int, luck: Draw) -> Choice | None:
    """Return a choice with this number that the game allows, or None if none comes up."""
    view = each.playout.tables[each.at].view(each.seat)
    for _ in range(_TRIES):
        values = each.act.sample(luck).values
        choice = Choice(each.act.verb, (*values[: each.blank], number, *values[each.blank + 1 :]))
        if bench.game.objects(view, each.seat, choice) is None:
            return choice
    return None


def gone_on(bench: Bench, table: Table, seat: int, choice: Choice, tied: bool) -> Table:
    """Return the table some choices after this one: all others stay silent or, if tied, first make the same choice."""
    turn = table.position.turn
    table = bench.server.submit(table, seat, choice)
    for _ in range(_ROUNDS * table.position.seats):
        waiting = [(s, decision) for s, decision in table.asks().items() if s not in table.position.box]
        if not waiting:
            break
        other, decision = waiting[0]
        same = tied and table.position.turn == turn and _allows(bench, table, decision, choice)
        table = bench.server.submit(table, other, choice if same else decision.default)
    return table


def _allows(bench: Bench, table: Table, decision: Decision, choice: Choice) -> bool:
    return choice in decision and bench.game.objects(table.view(decision.seat), decision.seat, choice) is None


def _show(bench: Bench, table: Table, seat: int) -> None:
    """Work out what readers are shown: the standing, the sentences, and two boards."""
    game = bench.game
    game.standing(table.position.state)
    for reader in (seat, SPECTATOR):
        teller = game.teller(None if reader == SPECTATOR else reader, NAMES)
        for happened in table.told(reader, max(0, len(table.log) - 2)):
            teller.tell(happened)
        plain(game.board(table.view(reader), reader), teller)
