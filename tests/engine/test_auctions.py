"""Auctions as the steps of facts tell them, and the grid of bids beside a board."""

import pytest

from engine import registry
from engine.auctions import auctions, step_of, with_bids, words_of
from engine.board import Board, Panel
from engine.bots import random_bot
from engine.chance import Stream
from engine.facts import Fact, Step, fact, secret, seen
from engine.table import begin
from engine.tell import Teller, say


@fact
class Began(Fact[object]):
    """An auction begins."""

    def step(self) -> Step:
        return Step(opens=True)


@fact
class Spoken(Fact[object]):
    """{seat} [bids|bid] {coins}."""

    seat: int
    coins: int

    def step(self) -> Step:
        return Step(bids=((self.seat, self.coins),))


@fact
class Whispered(Fact[object]):
    """{seat} [bids|bid] something."""

    seat: int
    coins: int = secret()

    def step(self) -> Step:
        return Step(bids=((self.seat, self.coins),))


@fact
class Sold(Fact[object]):
    """{seat} [wins|win]."""

    seat: int

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)


def auctions_of(*facts):
    return auctions(enumerate(facts))


def test_a_bid_that_nobody_was_shown_is_in_no_auction():
    (auction,) = auctions_of(Began(), Spoken(0, 7), Whispered(1, 9))
    assert [(call.seat, call.value) for call in auction.calls] == [(0, 7)]


def test_bids_belong_to_the_auction_that_has_begun_and_to_no_other():
    first, second = auctions_of(Spoken(2, 1), Began(), Spoken(0, 7), Sold(0), Began(), Spoken(1, 2))
    assert [call.value for call in first.calls] == [7]
    assert (first.over, first.winner) == (True, 0)
    assert [call.value for call in second.calls] == [2]
    assert not second.over
    assert Teller()(words_of(first, 0)) == "7, won"
    assert words_of(second, 0) is None


def test_the_running_auction_comes_first_beside_the_board():
    known = auctions_of(Began(), Spoken(0, 7), Sold(0), Began(), Spoken(1, 2))
    board = Board(say("Toy"), say("Go."), players=(Panel(0), Panel(1)))
    ((grid,),) = (fold.parts for fold in with_bids(board, known).folds)
    assert [str(column) for column in grid.columns] == ["now", "last"]
    assert [[cell and str(cell) for cell in cells] for _, cells in grid.rows] == [[None, "7, won"], ["2", None]]
    assert with_bids(board, auctions_of(Began())) == board


@pytest.mark.parametrize("kind", registry.names())
def test_everyone_is_told_the_same_steps_and_every_bid_belongs_to_an_auction(kind):
    game, luck = registry.load(kind), Stream(b"steps", 1)
    table = begin(game, 3, b"steps" * 7)
    for _ in range(150):
        waiting = [seat for seat in table.asks() if seat not in table.position.box]
        if not waiting:
            break
        table = table.submit(waiting[0], random_bot(game, table.view(waiting[0]), table.asks()[waiting[0]], luck))
    facts = [each for entry in table.log for each in entry.facts]
    assert all(seen(each, seat).step() == each.step() == step_of(each) for each in facts for seat in range(3))
    running = False
    for step in (step for each in facts if (step := each.step()) is not None):
        running = running or step.opens
        assert running or not (step.bids or step.passes), kind
        running = running and not step.ends
