"""The players that a finished game counts for: each line of the table on the handbook's page about ratings."""

import pytest

from pbem.domain.results import Stay, bot_player, level_of, outcomes
from tests.handbook.named import page

RANKS = {0: 1, 1: 2}
BEN = Stay(1, "ben", 20, started=True, stayed=True)


def ranks(*stays):
    """The ranks by player after a game of 20 turns."""
    return {each.player: each.rank for each in outcomes([*stays, BEN], RANKS, 20)}


def ann(turns, **more):
    return Stay(0, "ann", turns, **({"started": True, "stayed": False} | more))


def sub(turns, **more):
    return Stay(0, "sue", turns, **({"started": False, "stayed": True} | more))


CASES = {
    "had the seat from the start to the end, overdue turns or not": ((ann(20, stayed=True),), {"ann": 1}),
    "took the seat over and has it at the end, after half of the game's turns or more": (
        (ann(10), sub(10)),
        {"ann": None, "sue": 1},
    ),
    "took the seat over and has it at the end, after less than half": ((ann(11), sub(9)), {"ann": None, "sue": None}),
    "resigned, also by deleting the account": ((ann(10, left=True), sub(10)), {"ann": 3, "sue": 1}),
    "lost the seat by missed turns": ((ann(12, left=True), sub(8)), {"ann": 3, "sue": None}),
    "left, and has the seat back at the end": (
        (ann(2, left=True), sub(16, stayed=False, left=True), ann(2, started=False, stayed=True)),
        {"ann": 1, "sue": 3},
    ),
    "took the seat over, and left again after less than half": (
        (ann(15, left=True), sub(3, stayed=False, left=True), Stay(0, "bot:expert", 2, started=False, stayed=True)),
        {"ann": 3, "sue": None, "bot:expert": None},
    ),
    "was replaced by an organiser, or because email failed": ((ann(8), sub(12)), {"ann": None, "sue": 1}),
}
"""By the first column of the handbook's table: who had the seat, and the ranks that follow."""


@pytest.mark.parametrize("case", CASES)
def test_each_way_to_have_a_seat_counts_as_the_handbook_says(case):
    stays, expected = CASES[case]
    assert ranks(*stays) == expected | {"ben": 2}


def test_the_handbook_has_each_of_these_cases():
    table = page("ratings").partition("## Which results count")[2].partition("\n\n")[2].partition("\n\n")[0]
    in_page = {line.split("|")[1].strip() for line in table.splitlines()[2:]}
    assert in_page == {*CASES}


def test_players_who_left_are_tied_behind_all_others():
    found = outcomes([ann(5, left=True), sub(15), Stay(1, "ben", 5, True, False, left=True), Stay(1, "sid", 15, False, True)], RANKS, 20)  # fmt: skip
    assert {each.player: each.rank for each in found} == {"ann": 3, "sue": 1, "ben": 3, "sid": 2}


def test_a_level_of_bots_is_a_player():
    assert level_of(bot_player("expert")) == "expert"
    assert level_of("0123456789abcdef0123") is None
