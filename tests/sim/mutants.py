"""Planted faults: a simulator that has never found one has proved nothing.

A mutant replaces a piece of text in named functions for the length of a run. One that no longer fits, because a function
was renamed or the text in it changed, fails its test and has to be planted again. Each has the seed of a short run that
finds it, and words of the promise that is broken then.

    python -m tests.sim.mutants              # look for the first seed that finds each of them
    python -m tests.sim.mutants token_log    # look for that of one
"""

import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import CodeType, FunctionType
from typing import Final

from tests.sim.far_end import BrokenError
from tests.sim.player import Manners
from tests.sim.simulator import simulate

TABLES: Final = 8
DAYS: Final = 1
MOST_SEEDS: Final = 20
"""Seeds that a search tries before it gives up."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text in a function, named as `module:function`, and what takes its place."""

    where: str
    text: str
    instead: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: its edits, the seed that finds it, and words of the promise that it breaks.

    What only happens seldom is found sooner among people of certain `manners`.
    """

    edits: tuple[Edit, ...]
    seed: int
    broken: str
    manners: Manners = field(default_factory=Manners)


class MisfitError(Exception):
    """A mutant does not fit the code any more."""


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Run with a fault in the code. Raises MisfitError if it does not fit."""
    codes = [(_function(edit.where), _edited(edit)) for edit in mutant.edits]
    sound = [(function, function.__code__) for function, _ in codes]
    for function, code in codes:
        function.__code__ = code
    try:
        yield
    finally:
        for function, code in sound:
            function.__code__ = code


def finding(mutant: Mutant, seed: int, tables: int = TABLES, days: int = DAYS) -> str:
    """What a run of this seed says about a mutant; empty if it finds nothing."""
    with planted(mutant):
        try:
            simulate(seed, tables, days, to_the_calm=True, manners=mutant.manners)
        except BrokenError as broken:
            return str(broken)
    return ""


def _function(where: str) -> FunctionType:
    module, _, name = where.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise MisfitError(f"there is no {where} any more") from error
    assert isinstance(found, FunctionType)
    return found


def _edited(edit: Edit) -> CodeType:
    """The code of a function with one text in it replaced. Other modules keep the function itself, so only its code is."""
    function = _function(edit.where)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(edit.text) != 1:
        raise MisfitError(f"{edit.where} has {source.count(edit.text)} times: {edit.text}")
    made: dict[str, object] = dict(function.__globals__)
    exec(compile(source.replace(edit.text, edit.instead), edit.where, "exec"), made)
    edited = made[function.__name__]
    assert isinstance(edited, FunctionType)
    return edited.__code__


MUTANTS: Final = {
    "an_email_handed_over_twice": Mutant(
        (
            Edit(
                "pbem.service.outgoing.deliver:_send",
                "outcome = session.send(outgoing)",
                "outcome = session.send(outgoing) and session.send(outgoing)",
            ),
        ),
        1,
        "was handed over again",
    ),
    "a_clock_that_starts_when_the_email_is_queued": Mutant(
        (
            Edit(
                "pbem.service.outgoing.outcomes:accept",
                "(attempt.email, attempt.at) for",
                "(attempt.email, attempt.email.queued_at) for",
            ),
            Edit("pbem.domain.deadline:deadline_of", "max(turn.rendered_at, turn.accepted_at)", "turn.accepted_at"),
        ),
        1,
        "the time of",
    ),
    "hidden_facts_shown_to_all": Mutant(
        (Edit("engine.facts:seen", "if not any(", "if False and not any("),), 1, "shown what it may not know"
    ),
    "a_hash_without_the_actor": Mutant(
        (Edit("pbem.domain.hash_chain:_hash", "        row.by,\n", ""),), 1, "can be changed unnoticed"
    ),
    "a_lease_that_keeps_nobody_away": Mutant(
        (Edit("pbem.store.leases:begin", '"until": until', '"until": until.replace(year=2000)'),),
        1,
        "was handed over again",
    ),
    "a_token_without_its_nonce": Mutant(
        (Edit("pbem.tokens:_signed", "row.to_bytes(_ROW_BYTES) + more", "row.to_bytes(_ROW_BYTES)"),), 1, "a link of"
    ),
    "no_settling_after_an_outage": Mutant(
        (
            Edit(
                "pbem.service.clocks.outages:delay_clocks",
                "clocks_deadlines.settle_game(tx, server, game, tell=not declared)",
                "pass",
            ),
        ),
        1,
        "the time of",
    ),
    "tokens_in_logs": Mutant(
        (
            Edit("pbem.web.access_log:_log_answer", "route=route", "route=request.path"),
            Edit("pbem.redaction:redact", 'return _SECRET.sub("***", text)', "return text"),
        ),
        1,
        "a token in the log",
    ),
    "a_deadline_that_fires_early": Mutant(
        (
            Edit(
                "pbem.service.absence.timeouts:_time_out",
                "if deadline.at is None or deadline.at > now:",
                "if deadline.at is None:",
            ),
            Edit(
                "pbem.service.absence.timeouts:time_out",
                "due_turns.claim(tx, now, ",
                "due_turns.claim(tx, now.replace(minute=59), ",
            ),
        ),
        1,
        "timed out",
    ),
    "a_restore_that_reuses_numbers": Mutant(
        (Edit("pbem.store.links:add_all", '"nonce": _nonce(randomness)', '"nonce": 1'),), 2, "opens the seat of"
    ),
    "an_address_shown_to_a_player": Mutant(
        (
            Edit(
                "pbem.service.tables.joining:_join",
                "persons.read_name(tx, server, typed, stored=not name)",
                "person.address",
            ),
        ),
        1,
        "sees the address of",
    ),
    "an_order_lost_with_the_undo_of_another": Mutant(
        (Edit("pbem.service.play.standing_orders:after_undo", "before | _ended_since(tx, row, undone.seq)", "before"),),
        14,
        "has changed the order of another seat",
        Manners(orders=0.5, regrets=0.5),
    ),
}
"""The faults, by name."""


def first_finding(mutant: Mutant, seeds: Iterable[int]) -> tuple[int, str]:
    """The first of some seeds that finds a mutant, and what it says; 0 and nothing if it survives them all."""
    found = ((seed, finding(mutant, seed)) for seed in seeds)
    return next((each for each in found if each[1]), (0, ""))


def main(names: list[str]) -> None:
    """Look for the first seed that finds each mutant."""
    for name in names or MUTANTS:
        seed, says = first_finding(MUTANTS[name], range(1, MOST_SEEDS + 1))
        print(f"{name}: " + (f"seed {seed}: {says}" if seed else f"survived {MOST_SEEDS} seeds"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
