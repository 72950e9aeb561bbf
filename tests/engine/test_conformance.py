"""Every game keeps every law of the kit. A new module in engine/games is tested here without a line of new code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from engine import registry
from engine.testing import LAWS, Bench, broken, check_mutants, mutants
from engine.testing.bench import NAMES
from engine.testing.golden import check_golden
from engine.testing.plans import option_sets
from tests.conftest import EVERYTHING, some

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent.parent / "golden"
GAMES = [pytest.param(name, marks=pytest.mark.xdist_group(f"conformance of {name}")) for name in registry.names()]


@cache
def bench(name: str) -> Bench:
    # All laws share the playouts of a game, so the tests of one game stay in one process. Steps are counted in the
    # thorough run: a test that hangs is stopped anyway.
    return Bench(registry.load(name), counting=False)


@pytest.mark.slice(1 / 4)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", GAMES)
def test_every_game_keeps_every_law(name: str, law: str) -> None:
    assert [str(trouble) for trouble in broken(law, LAWS[law], bench(name))] == []


@pytest.mark.parametrize("name", GAMES)
def test_a_prompt_reads_well_after_a_name(name: str) -> None:
    """An email begins with “Ann: What do you bid?”, and so does its subject: one colon is enough."""
    asked = {
        registry.load(name).teller(seat, NAMES)(decision.prompt)
        for playout in islice(bench(name).playouts(), 12)
        for table in playout.tables
        for seat, decision in table.position.open().items()
    }
    assert asked
    assert [question for question in asked if ":" in re.split(r"[.?]", question)[0]] == []


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("name", GAMES)
def test_the_kit_notices_every_fault_planted_in_a_game(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    missed, planted = list(check_mutants(bench(name))), sum(1 for _mutant in mutants(bench(name)))
    assert [str(trouble) for trouble in missed] == []
    record_property("mutants.kit", planted)
    record_property("mutants.kit found", planted - len(missed))


@pytest.mark.parametrize("name", GAMES)
def test_golden_games_show_everything_and_are_unchanged(name: str) -> None:
    troubles = [str(trouble) for trouble in check_golden(registry.load(name), GOLDEN)]
    assert troubles == [], "read the difference; if it is meant: python -m engine.testing golden --remake " + name


def test_every_golden_game_is_of_a_game_that_exists() -> None:
    assert {folder.name for folder in GOLDEN.iterdir() if folder.is_dir()} == set(registry.names())


THOROUGHLY = registry.names() if EVERYTHING else ("sun-bid",)
"""The games to check thoroughly: a slice in the suite, and all of them by `make kit`, which takes an hour."""


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("name", THOROUGHLY)
def test_every_game_keeps_every_law_with_every_set_of_options(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    whole = Bench(registry.load(name), thorough=True)
    laws = dict(some({**LAWS, "notices mutants": check_mutants}.items(), 1 / 4))
    assert [str(trouble) for law, checked in laws.items() for trouble in broken(law, checked, whole)] == []
    record_property("kit.games", 1)
    record_property("kit.laws", len(laws))
    record_property("kit.options", len(option_sets(whole.game, thorough=True)))
    record_property("kit.playouts", sum(1 for _playout in whole.playouts()))
    record_property("kit.mutants", sum(1 for _mutant in mutants(whole)))
