"""The reliability of a player, from counts."""

from pbem.domain.reliability import FEWEST_TURNS, Counts, reliability


def test_a_newcomer_has_no_percentage():
    assert reliability(Counts(turns=FEWEST_TURNS - 1)).in_time is None
    assert reliability(Counts(turns=FEWEST_TURNS - 1, missed=FEWEST_TURNS - 1)).in_time is None


def test_only_a_player_who_was_never_late_has_a_hundred():
    assert reliability(Counts(turns=1000)).in_time == 100
    assert reliability(Counts(turns=1000, missed=1)).in_time == 99


def test_games_left_are_counted_apart_from_games_finished():
    found = reliability(Counts(finished=3, left=1))
    assert (found.finished, found.left) == (3, 1)
