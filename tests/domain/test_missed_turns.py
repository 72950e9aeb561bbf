"""Silence: a seat is offered when the table agreed, and its player was told before."""

import pytest

from pbem.domain.missed_turns import Agreement, Successor, silence, warning

AGREEMENT = Agreement(3, Successor.SUBSTITUTE)


def test_a_seat_is_offered_after_as_many_silent_turns_as_agreed() -> None:
    assert [silence(turns, AGREEMENT) for turns in range(5)] == [
        None,
        None,
        None,
        Successor.SUBSTITUTE,
        Successor.SUBSTITUTE,
    ]


def test_the_table_decides_who_takes_over() -> None:
    assert silence(2, Agreement(2, Successor.BOT)) is Successor.BOT


def test_what_silence_leads_to_is_told_before_it_happens() -> None:
    assert warning(0, AGREEMENT) == ("After 3 more silent turns in a row, your seat is offered to a substitute.")
    assert warning(2, AGREEMENT) == ("If this turn passes in silence, your seat is offered to a substitute.")
    assert warning(3, AGREEMENT) == ("Your seat is offered to a substitute; any move of yours keeps it.")


@pytest.mark.parametrize("limit", [0, 1, 11])
def test_a_table_agrees_on_a_limit_that_is_one(limit: int) -> None:
    with pytest.raises(ValueError, match="silent turns in a row"):
        Agreement(limit, Successor.BOT)
