"""Two tables that differ only in what the rules hide from a player look the same to that player, through the whole server.

The engine's own twins stop at the board. These go on: through the log, the snapshot, the emails and their headers, the
pages, their previews and refusals, and the interface for programs. Keys, clock and randomness are the same in both worlds,
so that tokens, ids and the commitment are the same too, and only the heads of the chain, which hash what is hidden, are
blanked before comparing.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import game, registry
from engine.chance import Stream
from engine.decisions import Choice
from engine.table import Table
from engine.testing.bench import Bench, Playout, sampled
from engine.testing.differences import Difference, exchanges, other_values, secret_fields
from engine.testing.twins import Twins, kinds_of_secrets
from engine.testing.values import exchanged
from tests.twins.desk import of_table
from tests.twins.world import Truth, Untrue, world_of

pytestmark = pytest.mark.slow


WITH_SECRETS = [kind for kind in registry.names() if secret_fields(registry.load(kind))]

NEAR = 30
"""The most entries before a twin: longer games take longer and hide nothing differently."""


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("kind", WITH_SECRETS)
def test_twins_in_a_secret_look_the_same(kind: str, tmp_path: Path) -> None:
    """Fails unless every secret field is varied and every seat has twins."""
    rules = registry.load(kind)
    tables = {rules.seats[0], rules.seats[0] + 1}
    twins = Twins(Bench(rules), secret_fields(rules))
    kinds: set[str] = set()
    for ways in (exchanges, other_values):
        for playout, at in twins.bench.positions(2, tables, kinds_of_secrets):
            if len(playout.tables[at].log) <= NEAR:
                kinds |= look_at_twins(twins, playout, at, ways, tmp_path)
    assert {"turn", "reminder", "digest", "auto_passed", "receipt"} <= kinds
    assert not twins.unvaried
    assert twins.met == {*range(max(tables))}


def look_at_twins(twins: Twins, playout: Playout, at: int, ways: Any, folder: Path) -> set[str]:
    """Compare a table with its twins, as far as they vary what has not been varied, or for seats that have met none.

    Returns the kinds of email that were compared.
    """
    kinds: set[str] = set()
    truth = truth_of(playout, playout.tables[at])
    ones: list[dict[str, bytes]] = []
    for reader in range(truth.seats):
        luck = Stream(playout.plan.seed, 2**54 + at)
        # Twins that would show nothing new are not even made.
        pairs = twins.pairs(playout, at, reader, ways, luck) if twins.unvaried or reader not in twins.met else ()
        for _, twin, difference in pairs:
            if reader in twins.met and not difference.fields & twins.unvaried:
                continue
            try:
                (other,) = meet(other_truth(truth, twin, reader, difference), [reader], folder)
            except Untrue:
                continue
            ones = ones or meet(truth, range(truth.seats), folder)
            what = differing(ones[reader], other)
            assert what is None, f"player {reader + 1} is told of {sorted(difference.fields)} by {what}"
            twins.unvaried -= difference.fields
            twins.met.add(reader)
            kinds |= {what.partition(", ")[2] for what in other if what.startswith("mail")}
    return kinds


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("kind", registry.names())
def test_twins_in_the_luck_to_come_look_the_same(kind: str, tmp_path: Path) -> None:
    rules = registry.load(kind)
    playout = next(each for each in Bench(rules).playouts() if each.plan.style == "any")
    truth = truth_of(playout, playout.tables[min(len(playout.tables) // 2, NEAR // 2)])
    seats = range(truth.seats)
    ones = meet(truth, seats, tmp_path)
    others = meet(replace(truth, seed=bytes(32)), seats, tmp_path)
    for reader, one, other in zip(seats, ones, others, strict=True):
        what = differing(one, other)
        assert what is None, f"player {reader + 1} is told of the seed by {what}"


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("kind", registry.names())
def test_twins_in_what_others_have_sealed_look_the_same(kind: str, tmp_path: Path) -> None:
    """Games without simultaneous turns have no such twins."""
    rules = registry.load(kind)
    bench = Bench(rules)
    together = (
        (playout, at)
        for playout, at in bench.positions(1, {rules.seats[0]})
        if len(playout.tables[at].position.open()) > 1 and len(playout.tables[at].log) <= NEAR
    )
    playout, at = next(together, (None, 0))
    if playout is None:
        together_at_once = {len(table.asks()) for each in bench.playouts() for table in each.tables}
        assert max(together_at_once) == 1
        return
    truth = replace(truth_of(playout, playout.tables[at]), box={})
    asked = playout.tables[at].position.open()
    # An organiser is told who has answered, and not what.
    for reader, one in zip(asked, meet(truth, asked, tmp_path, desk=False), strict=True):
        box = sealed_by_others(rules, playout.tables[at], reader)
        (other,) = meet(replace(truth, box=box), [reader], tmp_path, desk=False)
        what = differing(one, other)
        assert what is None, f"player {reader + 1} is told of the box by {what}"


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("kind", registry.names())
def test_twins_in_who_else_has_sealed_look_the_same_to_who_has_sealed(kind: str, tmp_path: Path) -> None:
    """The reader has a proof of the own choice, and no proof, page or number tells how many others there are."""
    rules = registry.load(kind)
    bench = Bench(rules)
    positions = bench.positions(1, {max(3, rules.seats[0])})
    asked_three = (
        (playout, at)
        for playout, at in positions
        if len(playout.tables[at].position.open()) > 2 and len(playout.tables[at].log) <= NEAR
    )
    playout, at = next(asked_three, (None, 0))
    if playout is None:
        together_at_once = {len(table.asks()) for each in bench.playouts() for table in each.tables}
        assert max(together_at_once) < 3
        return
    table = playout.tables[at]
    truth, asked = truth_of(playout, table), [*table.position.open()]
    for reader in asked[:2]:
        own = sealed_by_others(rules, table, asked[-1])[reader]
        others = {seat: choice for seat, choice in sealed_by_others(rules, table, asked[-1]).items() if seat != reader}
        worlds = [replace(truth, box={reader: own} | rest, receipts=tuple(asked)) for rest in ({}, others)]
        (one,), (other,) = (meet(each, [reader], tmp_path, desk=False) for each in worlds)
        what = differing(one, other)
        assert what is None, f"player {reader + 1} is told who else has sealed by {what}"
        assert any(b"fingerprint" in content for name, content in one.items() if name.startswith("GET /s/"))
        assert any(name.endswith(", sealed") for name in one)


def sealed_by_others(rules: game.Game[Any], table: Table, reader: int) -> dict[int, Choice]:
    """A choice for each of the others whose turn it is, without closing the turn."""
    luck = Stream(table.position.seed, 2**53)
    box = {}
    for seat, decision in table.position.open().items():
        drawn = (sampled(rules, table.position.state, decision, luck) for _ in range(100))
        if seat != reader:
            box[seat] = next(choice for choice in drawn if choice.verb not in decision.closes)
    return box


def meet(truth: Truth, readers: Iterable[int], folder: Path, *, desk: bool = True) -> list[dict[str, bytes]]:
    """What these seats see in the world of a truth, and the public part of an organiser's desk."""
    with world_of(truth, folder) as world:
        met = [world.meets(reader) for reader in readers]
        organiser = of_table(world) if desk else {}
        return [each | organiser for each in met]


def truth_of(playout: Playout, table: Table) -> Truth:
    """The truth of a table of the bench."""
    return Truth(
        table.position.game.slug, playout.plan.seats, playout.plan.options, table.log, dict(table.position.box)
    )


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> str | None:
    """The first difference, with its position; None if there is none."""
    assert any(what.startswith("mail") for what in one)
    assert any(what.startswith("GET /s/") for what in one)
    return difference(one, other)


def difference(one: dict[str, bytes], other: dict[str, bytes]) -> str | None:
    """The first difference between what two readers have met, with its position; None if there is none."""
    for what in {**one, **other}:
        if one.get(what) != other.get(what):
            here, there = one.get(what, b""), other.get(what, b"")
            at = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), len(here))
            return f"{what}: {here[max(0, at - 60) : at + 60]!r} and {there[max(0, at - 60) : at + 60]!r}"
    return None


def other_truth(truth: Truth, twin: Table, reader: int, difference: Difference) -> Truth:
    """The truth of a table's twin, with objects swapped in the choices of others too."""
    log = tuple(
        replace(entry, choices={
            seat: choice if seat == reader else replace(choice, values=exchanged(choice.values, difference.mapping))
            for seat, choice in entry.choices.items()
        })
        for entry in twin.log
    )  # fmt: skip
    return replace(truth, log=log, box=dict(twin.position.box))
