"""Swings: what happened where the chance of winning changed most."""

from pathlib import Path

from engine.coach import Point, Side, Verdict
from engine.coach.remarks import of_swing
from engine.coach.swings import NAMED, Played, swings
from engine.decisions import Choice
from engine.registry import load_file
from engine.table import begin
from engine.tell import Teller

PURSES = load_file(Path(__file__).parent / "toys" / "purses.py")


def played():
    """A game of Purses in which each turn changes the scores: the second player burns twenty coins in the fifth."""
    table = begin(PURSES, 2, b"$" * 32)
    state, entries = table.position.state, []
    for turn in range(10):
        table = table.submit(0, Choice("take")).submit(1, Choice("burn" if turn == 4 else "take"))
        entries.append(Played(turn + 1, table.log[-1], state, table.position.state))
        state = table.position.state
    return entries


def charted(*chances, mistakes=()):
    """A side whose chart has these chances in percent after turns 1, 2 and so on, each with an interval of 4 percent."""
    points = (Point(turn, 10 * each, 10 * each - 20, 10 * each + 20) for turn, each in enumerate(chances, 1))
    return Side(tuple(points), mistakes, ())


def found(side, lucky=()):
    return [(each.turn, each.before, each.after) for each in swings(PURSES, 0, played(), side, lucky)]


def test_a_large_change_is_told_with_what_happened():
    (swing,) = swings(PURSES, 0, played(), charted(50, 50, 50, 50, 90, 90), ())
    assert [Teller(0, ("Ann", "Ben"))(each) for each in of_swing(swing)] == [
        "The players get 0 and 1.",
        "Your chance of winning rose from 50% to 90%.",
    ]
    (swing,) = swings(PURSES, 0, played(), charted(90, 90, 90, 90, 50, 50), ())
    assert str(of_swing(swing)[-1]) == "Your chance of winning fell from 90% to 50%."


def test_changes_that_are_small_or_may_be_chance_are_not_told():
    assert found(charted(50, 59)) == []
    assert found(charted(50, 60)) == [(1, 500, 600)]
    unsure = Side((Point(1, 500, 400, 600), Point(2, 700, 590, 800)), (), ())
    assert swings(PURSES, 0, played(), unsure, ()) == ()


def test_a_change_that_a_named_decision_or_luck_explains_is_not_told_again():
    mistake = Verdict(5, "take", "burn", 900, -100, -150, -50, "take", "burn")
    assert found(charted(50, 50, 50, 50, 90, mistakes=(mistake,))) == []
    assert found(charted(50, 50, 50, 50, 90), lucky=(4,)) == []
    assert found(charted(50, 50, 50, 50, 90), lucky=(3, 5)) == [(4, 500, 900)]


def test_the_largest_changes_are_told_in_the_order_of_the_game():
    side = charted(10, 90, 50, 95, 80, 20)
    assert len(found(side)) == NAMED
    assert found(side) == [(1, 100, 900), (3, 500, 950), (5, 800, 200)]


def test_a_change_in_which_nothing_happened_that_counts_is_not_told():
    side = Side((Point(20, 500, 480, 520), Point(30, 900, 880, 920)), (), ())
    assert swings(PURSES, 0, played(), side, ()) == ()
