"""The page about pairing: its numbers are those of the code."""

from pbem.domain.tournaments import costs, round_robin, swaps
from pbem.domain.tournaments.tie_breaks import TIE_BREAKS
from tests.handbook.named import code, files, gone, page, rows

PAGE = " ".join(page("pairing").split())


def test_the_numbers_of_the_page_are_those_of_the_code():
    for words in (
        f"and {costs.MISFIT} for each player left without a *fair seat*",
        f"With up to {round_robin.FEW} entrants",
        f"for each start s from 1 to {round_robin.STARTS}",
        f"Then come {round_robin.TRIES} tries",
        f"the lowest so far plus {round_robin.DETOUR}",
        f"the last {swaps.REST} + (n div 3) mod 9 steps",
        f"the sum is {swaps.WALK[0]} for each player, or {swaps.WALK[1]:,}",
    ):
        assert words in PAGE
    assert swaps.SWEEPS == 4


def test_every_tie_break_has_its_line_and_every_file_exists():
    assert [row[0].strip("`") for row in rows(page("pairing"), "Standings")] == list(TIE_BREAKS)
    assert files(PAGE)
    assert gone(PAGE) == set()
    assert {"swiss/R", "pods/S/P", "league/D", "knockout/R/seats", "tie"} <= set(code(PAGE))
