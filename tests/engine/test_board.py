"""The board as plain text: in reading order and within the width, with any names."""

from __future__ import annotations

import pytest

from engine.board import WIDTH, Amounts, Board, Face, Panel, Row, describe, plain
from engine.tell import Teller, say

FACES = tuple(Face("card", f"c{n}", f"the card number {n}", "moons and suns" if n % 2 else "") for n in range(12))
BOARD = Board(
    say("Toy, round {round}", round=3),
    say("It is {seat's} turn.", seat=0),
    centre=(Row(say("the pool"), FACES), Row(say("the bin"), ())),
    mine=(Amounts(((say("coins"), 7), (say("cards to come"), 30))),),
    players=(
        Panel(0, ((say("points"), 12), (say("coins"), None)), say("high bid"), chip=9),
        Panel(
            1, ((say("points"), 3), (say("coins"), 40)), say("passed"), out=True, parts=(Row(say("cards"), FACES[:2]),)
        ),
    ),
)


def test_a_board_is_in_reading_order():
    text = plain(BOARD, Teller(0, ("Ann", "Ben")))
    lines = [
        "TOY, ROUND 3",
        "It is your turn.",
        "On the table",
        "The pool:",
        "Your side",
        "Coins: 7",
        "The others",
        "Scores",
    ]
    assert sorted(lines, key=text.index) == lines


def test_an_empty_row_says_none_and_a_missing_number_is_a_dash():
    lines = plain(BOARD, Teller(0, ("Ann", "Ben"))).splitlines()
    assert "  The bin: none" in lines
    assert "  You      12      -" in lines
    assert "  Ben       3     40" in lines


def test_an_empty_part_has_no_heading():
    assert plain(Board(say("Toy"), say("Over.")), Teller()) == "TOY\nOver.\n"


def test_every_reader_is_addressed():
    assert "  Ann: high bid 9\n" in plain(BOARD, Teller(1, ("Ann", "Ben")))
    assert "  Ben: passed\n    Cards: the card number 0;" in plain(BOARD, Teller(0, ("Ann", "Ben")))


def test_the_others_are_read_clockwise_from_the_reader():
    board = Board(say("Toy"), say("Over."), players=tuple(Panel(seat, state=say("passed")) for seat in range(4)))
    assert [panel.seat for panel in board.others(1)] == [2, 3, 0]
    assert [panel.seat for panel in board.others(None)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "name", ["Ann", "A" * 200, "Ann of a very long name with many blanks in it, indeed", "安" * 20, "{x}"]
)
def test_every_line_fits_with_any_names(name):
    lines = plain(BOARD, Teller(1, (name, name))).splitlines()
    assert max(map(len, lines)) <= WIDTH


def test_every_line_fits_a_narrow_page():
    assert max(map(len, plain(BOARD, Teller(0, ("Ann", "Ben")), 40).splitlines())) <= 40


def test_shortened_names_end_in_dots():
    text = plain(BOARD, Teller(None, ("Bartholomew of the Hundred Isles and of the Seven Seas and All", "Ben")))
    assert "Bartholomew of the Hundred" in text.splitlines()[-2]
    assert "..." in text.splitlines()[-2]


def test_a_face_is_described_with_its_note():
    assert describe(FACES[1], Teller()) == "the card number 1 (moons and suns)"
    assert describe(FACES[2], Teller()) == "the card number 2"


def test_players_without_numbers_are_a_list_of_names():
    board = Board(say("Toy"), say("Over."), players=(Panel(0, state=say("out")), Panel(1, state=say("in"))))
    assert plain(board, Teller(None, ("Ann", "Ben"))).splitlines()[-2:] == ["  Ann: out", "  Ben: in"]
