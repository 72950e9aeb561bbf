"""A board as a page draws it: what was drawn before is used again only where nothing about it is different."""

from engine.board import Board, Fold, Grid, Line
from engine.tell import Teller, say
from pbem.web.seat.board import draw


def folds(*lines, names=("Ann", "Ben"), reader=0, rows=()):
    parts = (*(Line(line) for line in lines), *((Grid((say("bid"),), rows),) if rows else ()))
    board = Board(say("Toy"), say("It's {seat's} turn.", seat=0), folds=(Fold(say("What helps"), parts),))
    return draw(board, Teller(reader, names), reader).folds


def test_a_fold_is_told_to_each_reader_by_the_names_of_now():
    line = say("{seat} [has|have] {coins:coin|coins}.", seat=1, coins=3)
    shown = [
        folds(line)[0][1][0].text,
        folds(line, names=("Ann", "Bo"))[0][1][0].text,
        folds(line, reader=1)[0][1][0].text,
    ]
    assert shown == ["Ben has 3 coins.", "Bo has 3 coins.", "You have 3 coins."]
    assert folds(line)[0][1][0].text == shown[0]


def test_a_fold_is_drawn_again_where_anything_in_it_changes():
    before = folds(say("Left: {cards}.", cards=("Sea",)), rows=((0, (1,)),))
    assert folds(say("Left: {cards}.", cards=("Sun",)), rows=((0, (1,)),)) != before
    assert folds(say("Left: {cards}.", cards=("Sea",)), rows=((0, (2,)),)) != before
    assert folds(say("Left: {cards}.", cards=("Sea",)), rows=((0, (1,)),)) == before


def test_a_fold_with_something_that_cannot_be_looked_up_is_drawn_all_the_same():
    assert folds(say("Left: {cards}.", cards={"Sea": 1}))[0][1][0].text == "Left: {'Sea': 1}."
