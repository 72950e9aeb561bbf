"""How reliable a player has been, from what was counted."""

from pbem.domain.reliability import ENOUGH, Counts, reliability


def test_a_newcomer_has_no_share_neither_a_good_one_nor_a_bad_one():
    assert reliability(Counts(turns=ENOUGH - 1)).in_time is None
    assert reliability(Counts(turns=ENOUGH - 1, missed=ENOUGH - 1)).in_time is None


def test_only_who_was_never_late_is_at_a_hundred():
    assert reliability(Counts(turns=1000)).in_time == 100
    assert reliability(Counts(turns=1000, missed=1)).in_time == 99


def test_games_that_were_left_are_told_beside_those_that_were_finished():
    told = reliability(Counts(finished=3, left=1))
    assert (told.finished, told.left) == (3, 1)
