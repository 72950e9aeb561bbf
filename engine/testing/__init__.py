"""The conformance kit that every game must pass: laws, twins, planted faults and golden games.

    from engine.testing import check
    troubles = check(MyGame())

or, in a shell, `python -m engine check path/to/mygame.py`. Every law is also a function from a `Bench` to troubles, so
that a test suite can run it by name:

    bench = Bench(MyGame())
    assert list(LAWS["conserves"](bench)) == []

A call into a game that goes on for a million steps is stopped and reported. A message ends with the place where it was
found, and `python -m engine.testing repeat` plays the game again up to there.

The kit can't tell whether a game is the right game; that takes tests of its own. This module must never let one broken law hide another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.game import Game
from engine.testing.bench import Bench, Law, Server, Trouble, describe
from engine.testing.courses import ends_in_time
from engine.testing.deals import deal_twins
from engine.testing.doors import keeps_the_door, reads_or_refuses, takes_the_last_word
from engine.testing.elsewhere import is_the_same_elsewhere, where_is
from engine.testing.laws import answers_only_in_public, conserves, ends, holds_plain_values, imagines, replays, reruns
from engine.testing.mutants import Mutant, check_mutants, mutants, noticed
from engine.testing.numbers import takes_every_number
from engine.testing.steps import TooManySteps
from engine.testing.summary import summary_of
from engine.testing.twins import box_twins, secret_twins, seed_twins
from engine.testing.views import asks_from_views, fits_the_page, introduces_itself, reads_what_it_writes, speaks

LAWS: Final[Mapping[str, Law]] = {
    law.__name__.replace("_", " "): law
    for law in (
        introduces_itself,
        ends,
        ends_in_time,
        conserves,
        holds_plain_values,
        asks_from_views,
        answers_only_in_public,
        keeps_the_door,
        reads_or_refuses,
        reads_what_it_writes,
        takes_the_last_word,
        takes_every_number,
        replays,
        reruns,
        is_the_same_elsewhere,
        speaks,
        fits_the_page,
        box_twins,
        seed_twins,
        secret_twins,
        deal_twins,
        imagines,
    )
}
"""Every law by its name, the simplest first."""

MOST_SHOWN: Final = 5
"""The most troubles reported for a law."""


def check(
    game: Game[Any], *, thorough: bool = False, report: Callable[[str], object] | None = print, summary: bool = False
) -> list[Trouble]:
    """Check every law on a game, then every planted fault. Return all troubles and report them, perhaps with a summary.

    A quick check plays a few dozen games; its sets of options contain every pair of values. A thorough one takes minutes. It
    plays every combination of options with every number of players, or every pair of values if there are more than
    `plans.MOST_COMBINED` combinations.

    """
    bench = Bench(game, thorough=thorough)
    found: list[Trouble] = []
    for name, law in {**LAWS, "notices mutants": check_mutants}.items():
        troubles = broken(name, law, bench)
        found += troubles
        if report is not None:
            report(f"{game.slug}: {name}: {'holds' if not troubles else 'is broken'}")
            for trouble in troubles[:MOST_SHOWN]:
                report(f"    {trouble}")
    if report is not None and any(trouble.where for trouble in found):
        report(f'\nTo see one again: python -m engine.testing repeat {where_is(game)} "{_first_place(found)}"')
    if report is not None and summary:
        report(f"\n{summary_of(bench)}")
    return found


def _first_place(found: list[Trouble]) -> str:
    return next(trouble.where for trouble in found if trouble.where)


def broken(name: str, law: Law, bench: Bench) -> list[Trouble]:
    """Return the different troubles that a law finds. An error raised by the game is a trouble, too."""
    try:
        return bench.troubles(law)
    except TooManySteps as error:
        return [Trouble(name, describe(error), bench.place, bench.raised_at(error))]
    except Exception as error:  # noqa: BLE001 - anything that a game raises is its trouble.
        return [Trouble(name, f"the game raises {describe(error)}", bench.place, bench.raised_at(error))]


__all__ = [
    "LAWS",
    "Bench",
    "Law",
    "Mutant",
    "Server",
    "Trouble",
    "broken",
    "check",
    "check_mutants",
    "mutants",
    "noticed",
    "summary_of",
]
