"""Missed turns: a seat is offered as agreed, and its player is warned before."""

import pytest

from pbem.domain.missed_turns import Agreement, Successor, successor_after, warning

AGREEMENT = Agreement(3, Successor.SUBSTITUTE)


def test_a_seat_is_offered_after_the_agreed_number_of_missed_turns() -> None:
    assert [successor_after(turns, AGREEMENT) for turns in range(5)] == [
        None,
        None,
        None,
        Successor.SUBSTITUTE,
        Successor.SUBSTITUTE,
    ]


def test_the_table_decides_who_takes_over() -> None:
    assert successor_after(2, Agreement(2, Successor.BOT)) is Successor.BOT


def test_a_player_is_warned_before_the_seat_is_offered() -> None:
    assert warning(0, AGREEMENT) == ("If you miss 3 turns in a row, your seat will be offered to a substitute.")
    assert warning(0, Agreement(2, Successor.BOT)) == "If you miss 2 turns in a row, a bot will take over your seat."
    assert warning(1, AGREEMENT) == "If you miss 2 more turns in a row, your seat will be offered to a substitute."
    assert warning(2, AGREEMENT) == ("If you miss this turn, your seat will be offered to a substitute.")
    assert warning(3, AGREEMENT) == ("Your seat is being offered to substitutes. To keep it, make a move.")


@pytest.mark.parametrize("limit", [0, 1, 11])
def test_a_limit_must_be_within_bounds(limit: int) -> None:
    with pytest.raises(ValueError, match="missed turns in a row"):
        Agreement(limit, Successor.BOT)
