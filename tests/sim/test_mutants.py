"""The simulator finds each planted fault, with the seed that is kept with it, and nothing where none is planted."""

from dataclasses import replace

import pytest

from pbem.domain import hash_chain
from tests.sim.mutants import DAYS, MUTANTS, TABLES, Edit, MisfitError, Mutant, first_finding, planted
from tests.sim.simulator import simulate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


TRIES = 8
"""Seeds tried from a mutant's own on."""


@pytest.mark.slice(1 / 6)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found(name, record_property):
    mutant = MUTANTS[name]
    # Its own seed finds it at once, until a change of the code changes the run.
    _seed, says = first_finding(mutant, range(mutant.seed, mutant.seed + TRIES))
    assert mutant.broken in says, f"look for another seed: python -m tests.sim.mutants {name}"
    record_property("mutants.simulator", 1)
    record_property("mutants.simulator found", mutant.broken in says)


@pytest.mark.parametrize("name", MUTANTS)
def test_every_fault_still_fits_the_code(name):
    """A run tries only some of them."""
    with planted(MUTANTS[name]):
        pass


RUNS = {(mutant.seed, repr(mutant.manners)): name for name, mutant in MUTANTS.items()}
"""A mutant for each kind of run."""


@pytest.mark.slice(1 / 4)
@pytest.mark.parametrize("name", RUNS.values())
def test_where_no_fault_is_planted_none_is_found(name):
    mutant = MUTANTS[name]
    assert simulate(mutant.seed, TABLES, DAYS, to_the_calm=True, manners=mutant.manners).seen["restore"] == 1


@pytest.mark.parametrize(
    "edit",
    [
        Edit("pbem.domain.hash_chain:no_such_function", "a", "b"),
        Edit("pbem.domain.no_such_module:fingerprint", "a", "b"),
        Edit("pbem.domain.hash_chain:fingerprint", "no such text", ""),
        Edit("pbem.domain.hash_chain:fingerprint", "e", "o"),
    ],
    ids=["no such function", "no such module", "no such text", "a text found twice"],
)
def test_a_fault_that_does_not_fit_the_code_any_more_says_so(edit):
    with pytest.raises(MisfitError), planted(Mutant((edit,), 1, "")):
        pass


def test_a_planted_fault_is_gone_after_the_run():
    mutant = Mutant((Edit("pbem.domain.hash_chain:fingerprint", "head.hex()", "'' + head.hex()[1:]"),), 1, "")
    sound = hash_chain.fingerprint(bytes(32 * [18]))
    with planted(mutant):
        assert hash_chain.fingerprint(bytes(32 * [18])) != sound
    assert hash_chain.fingerprint(bytes(32 * [18])) == sound
    with pytest.raises(ZeroDivisionError), planted(replace(mutant, seed=2)):
        _ = 1 / 0
    assert hash_chain.fingerprint(bytes(32 * [18])) == sound
