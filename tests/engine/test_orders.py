"""Standing orders: what they mean, what they answer, when they end, and what they may not see."""

from dataclasses import replace

import pytest

from engine import grammar, orders
from engine.decisions import Refused
from engine.facts import fold
from engine.registry import load
from engine.table import Table, begin
from tests.engine.games.test_templari import selling, table as position_at

GAME = load("templari")
SEED = bytes(range(32))


def table_at(position):
    """Return a table without secrets at this position, so that every view is the whole truth."""
    return Table(position, {}, (), (position.state,) * (position.seats + 1))


def lot(coins=(12, 12, 12), cards=(("B8",), ("G1",), ("G6",))):
    """Return a table where a lot has come up and seat 0 opens."""
    return table_at(position_at(cards, coins))


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("up to 14", orders.UpTo(14)),
        ("  UP  to 14. ", orders.UpTo(14)),
        ("up to 14 or ask me", orders.UpTo(14, ask=True)),
        ("up to 14 or stop and ask me", orders.UpTo(14, ask=True)),
        ("pass this auction", orders.Again("pass", bound=True)),
        ("pass this hand", orders.Again("pass", bound=True)),
        ("always no", orders.Again("no", bound=False)),
        ("allow unless points over 10", orders.Again("allow", False, orders.Unless("points", 11, None))),
        ("always no unless high bid at most 3", orders.Again("no", False, orders.Unless("high bid", None, 3))),
        ("play forest then sailor", orders.Then(("play forest", "sailor"), "play")),
        ("play the forest then fold", orders.Then(("play the forest", "fold"), "play")),
    ],
)
def test_an_order_is_understood_and_written_so_that_it_reads_back(text, order):
    assert orders.read_order(text) == order
    assert orders.read_order(orders.write_order(order)) == order


@pytest.mark.parametrize(
    "text", ["", "up to", "up to 1.5", "up to -3", "up to x", "bid 7", "then", "x" * 500, "always", "pass unless"]
)
def test_anything_else_than_an_order_is_refused_with_what_is_possible(text):
    with pytest.raises(Refused, match="ou can write"):
        orders.read_order(text)


def test_an_order_must_fit_the_present_decision():
    decision = position_at((("B8",), ("G1",), ("G6",))).open()[0]
    with pytest.raises(Refused):
        orders.read_order("play forest then sailor", decision)
    with pytest.raises(Refused):
        orders.read_order("always fold", decision)
    sale = selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)).open()[0]
    with pytest.raises(Refused, match="nothing to raise"):
        orders.read_order("up to 9", sale)


def test_up_to_is_offered_in_open_auctions_only():
    assert "up to <coins 0-12>" not in orders.offered(selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)).open()[0])
    offered = orders.offered(position_at((("B8",), ("G1",), ("G6",))).open()[0])
    assert offered[0].startswith("up to <coins 0-")
    assert "pass this auction" in offered


def test_only_the_usages_that_fit_the_decision_are_explained():
    sale = selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)).open()[0]
    auction = position_at((("B8",), ("G1",), ("G6",))).open()[0]
    assert [usage for usage in orders.usages(sale) if usage.startswith("up to")] == []
    assert tuple(orders.usages(sale)) == orders.USAGES[2:]
    assert tuple(orders.usages(auction)) == tuple(orders.usages()) == orders.USAGES


def test_up_to_raises_by_the_least_that_is_legal_and_then_passes():
    table = lot(cards=(("B8",), ("G1",), ("R4", "W5", "G6")))
    table = table.submit(0, grammar.read(table.asks()[0], "bid 3"))
    table, _, _ = orders.obey(table, {1: orders.UpTo(5), 2: orders.UpTo(7)})
    # Seat 1 bids 4; 4, 5 and 6 are barred for seat 2, so 7.
    assert (table.position.state.auction.high, table.position.state.auction.leader) == (7, 2)
    table = table.submit(0, grammar.read(table.asks()[0], "bid 9"))
    table, _, notes = orders.obey(table, {1: orders.UpTo(5), 2: orders.UpTo(7)})
    # Both limits are passed: seat 0 has the lot.
    assert table.position.state.cards[0] == ("B8", "P0", "P1")
    assert not notes


def test_up_to_works_in_a_sale_too():
    table = table_at(selling([("R1", "R3"), ("G6",), ("B8",)], (3, 10, 10)))
    table = table.submit(0, grammar.read(table.asks()[0], "sell red 1"))
    table, _, _ = orders.obey(table, {1: orders.UpTo(4), 2: orders.UpTo(3)})
    state = table.position.state
    assert "R1" in state.cards[1]
    assert state.coins[0] == 3 + 3


def test_up_to_can_ask_instead_of_passing():
    table = lot()
    table = table.submit(0, grammar.read(table.asks()[0], "bid 9"))
    table, left, notes = orders.obey(table, {1: orders.UpTo(5, ask=True)})
    assert table.position.state.auction.turn == 1
    assert left == {}
    assert "passed 5" in str(notes[1])


def test_an_order_for_one_auction_ends_with_it_and_says_so():
    order = orders.Again("pass", bound=True)
    table = lot()
    first = orders.answer(order, GAME, table.view(0), 0)
    assert first.order.topic == "lot 2"
    later = replace(table.position.state, round=3)
    ended = orders.answer(first.order, GAME, later, 0)
    assert ended.choice is None
    assert ended.order is None
    assert "no longer applies" in str(ended.note)


def test_an_order_that_no_longer_fits_ends_and_says_why():
    given = orders.answer(orders.Again("fold", bound=True), GAME, lot().view(0), 0)
    assert given.order is None
    assert "“fold” isn't a move you can make now" in str(given.note)
    given = orders.answer(orders.Again("bid 40", bound=False), GAME, lot().view(0), 0)
    assert given.order is None
    assert "40 is too high" in str(given.note)
    given = orders.answer(orders.Then(("play forest", "sailor"), "play"), GAME, lot().view(0), 0)
    assert given.order is None
    assert given.note is not None


def test_steps_are_taken_one_after_the_other_and_a_step_may_leave_out_its_verb():
    order = orders.read_order("bid 3 then 5 then pass")
    given = orders.answer(order, GAME, lot().view(0), 0)
    assert (given.choice.verb, given.choice.values) == ("bid", (3,))
    given = orders.answer(given.order, GAME, lot().view(0), 0)
    assert (given.choice.verb, given.choice.values) == ("bid", (5,))
    given = orders.answer(given.order, GAME, lot().view(0), 0)
    assert given.choice.verb == "pass"
    assert given.order is None
    assert given.note is None


def test_an_exception_leaves_the_decision_to_the_owner_and_keeps_the_order():
    poor = orders.read_order("always pass unless coins at least 12")
    assert orders.answer(poor, GAME, lot().view(0), 0) == orders.Answer(None, poor)
    given = orders.answer(poor, GAME, lot((11, 12, 12)).view(0), 0)
    assert given.choice.verb == "pass"
    unknown = orders.read_order("always pass unless moon phase over 3")
    assert orders.answer(unknown, GAME, lot().view(0), 0) == orders.Answer(None, unknown)


def test_an_order_for_always_leaves_other_decisions_to_its_owner():
    order = orders.Again("no", bound=False)
    assert orders.answer(order, GAME, lot().view(0), 0) == orders.Answer(None, order)
    sale = table_at(selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)))
    assert orders.answer(order, GAME, sale.view(0), 0).choice.verb == "no"


def test_up_to_answers_in_auctions_only():
    sale = table_at(selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)))
    given = orders.answer(orders.UpTo(9), GAME, sale.view(0), 0)
    assert (given.choice, given.order) == (None, None)
    assert "has changed" in str(given.note)
    # The default is to fold here, but that was not the order.
    poker = load("sunset-poker")
    table = begin(poker, 3, SEED)
    while table.position.state.turn is None:
        seat, decision = next((s, d) for s, d in table.asks().items() if s not in table.position.box)
        table = table.submit(seat, decision.default)
    seat = table.position.state.turn
    given = orders.answer(orders.UpTo(9), poker, table.view(seat), seat)
    assert (given.choice, given.order) == (None, None)


def test_an_order_is_bound_to_its_topic_before_its_first_answer():
    decision = lot().asks()[0]
    for text in ("up to 14", "pass this auction"):
        order = orders.read_order(text, decision)
        assert order.topic == "lot 2"
        later = replace(lot().position.state, round=3)
        assert "no longer applies" in str(orders.answer(order, GAME, later, 0).note)
    assert orders.read_order("always pass", decision).topic == ""


def test_an_abbreviation_in_an_order_keeps_its_meaning():
    decision = lot().asks()[0]
    assert orders.read_order("always p", decision) == orders.Again("pass", bound=False)
    assert orders.read_order("b 3 then 5 then pass", decision) == orders.Then(("bid 3", "5", "pass"), "bid")


def test_an_exception_may_name_a_number_of_the_owners_in_the_scores():
    order = orders.read_order("always pass unless points over 0")
    given = orders.answer(order, GAME, lot(cards=((), ("G1",), ("G6",))).view(0), 0)
    assert given.choice.verb == "pass"
    assert orders.answer(order, GAME, lot().view(0), 0) == orders.Answer(None, order)


def test_an_order_for_tiles_is_not_used_for_coins():
    bid = load("bid")
    state = replace(bid.start(3, {"reroll": "pawn", "max_auctions": 9}), auction=1, dice=(2, 3, 4, 5))
    tied = replace(state, bids=((1,), (1,), (0,)), tied=(0, 1))
    for order in (orders.Again("bid 1", bound=False), orders.Then(("bid 1", "2"), "bid")):
        assert orders.answer(order, bid, state, 0).choice.values == (1,)
        assert orders.answer(order, bid, tied, 0).choice is None


def test_a_fuse_stops_an_endless_order():
    order = orders.Again("pass", bound=False, fuse=1)
    given = orders.answer(order, GAME, lot().view(0), 0)
    assert given.choice is not None
    given = orders.answer(given.order, GAME, lot().view(0), 0)
    assert given.choice is None
    assert given.order is None
    assert "the limit" in str(given.note)


def test_two_raisers_come_to_an_end():
    table = lot((60, 60, 60))
    table, left, _ = orders.obey(table, {seat: orders.UpTo(10**6) for seat in range(3)})
    assert len(table.log) > 3
    assert all(order.fuse >= 0 for order in left.values())


def test_an_order_waits_while_its_owner_is_not_asked():
    order = orders.UpTo(9)
    assert orders.answer(order, GAME, lot().view(1), 1) == orders.Answer(None, order)


def test_an_order_changes_nothing_that_another_player_sees_before_it_answers():
    table = lot()
    with_order, left, _ = orders.obey(table, {1: orders.UpTo(9)})
    assert with_order is table
    assert left == {1: orders.UpTo(9)}


def test_a_log_made_by_orders_replays_without_them():
    table = begin(GAME, 3, SEED)
    table, _, _ = orders.obey(table, {seat: orders.UpTo(6 + seat) for seat in range(3)})
    facts = [happened for entry in table.log for happened in entry.facts]
    assert fold(GAME.start(3, table.options), facts) == table.position.state
    assert len(table.log) > 5
