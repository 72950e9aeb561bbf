"""How often a player may think again: a stated number of times in a turn, whatever the others do."""

import itertools

import pytest

from pbem.domain.errors import TooMany
from pbem.service.play import changes, standing_orders, undo
from tests.service.database import all_rows


def choices_of(game, seat):
    """Two choices of a seat by turns, without end."""
    first, second = itertools.islice(game.asked()[seat].choices(), 2)
    return itertools.cycle((first, second))


def tries(game, steps):
    """Do these steps until one is refused; returns how many were done. The refusal changes nothing."""
    for done, step in enumerate(steps):
        before = all_rows(game.server.store) if done >= changes.MOST else {}
        if (why := refused(step)) is not None:
            assert f"changed your mind {changes.MOST} times" in why
            assert all_rows(game.server.store) == before
            return done
    raise AssertionError("nothing was refused")


def refused(step):
    """What a refused step says; None if it was done."""
    try:
        step()
    except TooMany as refusal:
        return str(refusal)
    return None


def sealed_again_and_again(game, seat):
    own = choices_of(game, seat)
    return (lambda: game.play(seat, next(own)) for _ in range(2 * changes.MOST))


def sealed_and_withdrawn(game, seat):
    own, turn = choices_of(game, seat), game.row().turn
    steps = itertools.cycle(
        (lambda: game.play(seat, next(own)), lambda: game.server.run(undo.take_back, game.id, turn, seat))
    )
    return itertools.islice(steps, 2 * changes.MOST)


@pytest.mark.parametrize("again", [sealed_again_and_again, sealed_and_withdrawn])
@pytest.mark.parametrize("others", ["have answered", "have not"])
def test_a_sealed_choice_is_changed_a_stated_number_of_times_and_then_stands(table, again, others):
    game = table("bid", 3)
    seat, other, *_ = game.asked()
    if others == "have answered":
        game.play(other, game.asked()[other].default)
    assert tries(game, again(game, seat)) in (changes.MOST, changes.MOST + 1)
    assert seat in game.open()
    assert seat not in game.asked(), "the choice stands"
    # The turn goes on, and the next one may be thought about again.
    for each, decision in game.asked().items():
        game.play(each, decision.default)
    seat = next(iter(game.asked()))
    game.play(seat, game.asked()[seat].default)


def test_a_choice_in_an_entry_is_undone_a_stated_number_of_times(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    steps = itertools.cycle(
        (lambda: game.play(seat, "bid 1"), lambda: game.server.run(undo.take_back, game.id, turn, seat))
    )
    assert tries(game, itertools.islice(steps, 4 * changes.MOST)) == 2 * changes.MOST + 1
    assert game.asked().keys() != {seat}


def test_an_order_is_replaced_a_stated_number_of_times(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    texts = itertools.cycle(("up to 3", "up to 4"))
    steps = (
        lambda: game.server.run(standing_orders.set_order, game.id, (seat + 1) % 3, next(texts))
        for _ in range(2 * changes.MOST)
    )
    assert tries(game, steps) == changes.MOST
