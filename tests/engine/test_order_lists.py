"""Lists of standing orders: their conditions, who answers, what is passed over and why, and when one ends."""

import contextlib
from dataclasses import replace

import pytest

from engine import codec, conditions, grammar, orders, registry
from engine.chance import Stream
from engine.conditions import Condition
from engine.decisions import Refused
from engine.registry import load
from engine.table import Table, begin
from engine.testing.bench import sampled
from tests.engine.games.test_templari import selling, table as position_at
from tests.fuzz.door import steps

GAME = load("templari")
NAMES = ("Ann", "Ben and Bo", "Cy")


def lot(*bids, coins=(12, 12, 12), cards=(("B8",), ("G1",), ("G6",))):
    """Return a table without secrets where a lot has come up, seat 0 opens and these choices were made."""
    position = position_at(cards, coins)
    table = Table(position, {}, (), (position.state,) * (position.seats + 1))
    for bid in bids:
        seat, decision = next(iter(table.asks().items()))
        table = table.submit(seat, grammar.read(decision, bid))
    return table


def of(text, table=None):
    decision = None if table is None else next(iter(table.asks().values()))
    return orders.read_order(text, decision, NAMES)


def answer(text, table):
    seat = next(iter(table.asks()))
    return orders.answer(of(text), GAME, table.view(seat), seat)


def whys(text, table):
    seat = next(iter(table.asks()))
    teller = GAME.teller(seat, NAMES)
    judged = orders.verdicts(of(text), GAME, table.view(seat), seat)
    return [verdict.why and teller(verdict.why) for _one, verdict in judged]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("high bid at most 7", [Condition("number", None, "high bid", None, 7)]),
        ("the points over 10", [Condition("number", None, "points", 11, None)]),
        ("seat 3's coins under 3", [Condition("number", 2, "coins", None, 2)]),
        ("Cy’s coins are exactly 3", [Condition("number", 2, "coins", 3, 3)]),
        ("Cy is out", [Condition("out", 2)]),
        ("Cy has passed", [Condition("out", 2)]),
        ("seat 3 is still in", [Condition("in", 2)]),
        ("Cy has the high bid", [Condition("leads", 2)]),
        ("the lot has the Blue 7", [Condition("lot", label="blue 7")]),
        ("Ben and Bo leads and Cy is out", [Condition("leads", 1), Condition("out", 2)]),
    ],
)
def test_a_condition_is_understood_and_written_so_that_it_reads_back(text, conditions):
    (one,) = of(f"up to 5 if {text}").orders
    assert list(one.when) == conditions
    assert orders.read_order(orders.write_one(one)) == orders.OrderList((one,))


@pytest.mark.parametrize("text", ["Dora is out", "it rains", "", "lot has", "seat 0 wins", "and", "Cy is out and so"])
def test_anything_else_than_a_condition_is_refused(text):
    with pytest.raises(Refused):
        of(f"up to 5 if {text}")


def test_a_player_of_an_unclear_name_is_meant_by_seat_alone():
    twins = ("Cy", "cy", "Dora")
    with pytest.raises(Refused):
        orders.read_order("up to 5 if cy is out", None, twins)
    assert orders.read_order("up to 5 if seat 2 is out", None, twins)


def test_too_many_orders_and_conditions_are_refused():
    five = "; ".join(f"up to {limit} if Cy is out" for limit in range(orders.MOST_ORDERS))
    assert len(of(five).orders) == orders.MOST_ORDERS
    with pytest.raises(Refused, match="up to 5 standing orders"):
        of(f"{five}; up to 9")
    with pytest.raises(Refused, match="up to 3 conditions"):
        of("up to 5 if " + " and ".join(["Cy is out"] * 4))


def test_an_order_with_many_ands_or_parts_is_refused_before_they_are_tried():
    for text in ("up to 5 if " + "and " * 45, "up to 5 if " + "a and " * 28 + "a over 5", "up to 5;" * 120):
        with pytest.raises(Refused):
            of(text)
        assert steps(lambda text=text: _refused(text)) < 3000, text


def _refused(text):
    with contextlib.suppress(Refused):
        of(text)


def test_a_list_is_stored_and_told_with_the_names():
    several = of("up to 5 if Ben and Bo is out and Cy's points over 3; always pass")
    assert codec.loads(GAME, codec.dumps(several)) == several
    words = orders.in_words(several, GAME.teller(0, NAMES))
    assert words == "up to 5 if Ben and Bo is out and Cy's points at least 4; always pass"


def test_an_order_alone_without_a_condition_is_what_it_always_was():
    assert of("up to 5") == orders.UpTo(5)
    assert of(" up to 5 ;") == orders.UpTo(5)


def test_the_first_order_whose_condition_holds_answers():
    table = lot("bid 3", "pass")
    given = answer("up to 9 if seat 1 is out; up to 6 if seat 2 is out; up to 4", table)
    assert given.choice is not None
    assert (given.rank, given.order.orders[1].order.fuse) == (1, orders.FUSE - 1)
    assert GAME.teller(2, NAMES)(given.note) == (
        "Your standing order “up to 6 if Ben and Bo is out” played bid 4. "
        "“up to 9 if Ann is out” was passed over. Ann is still in."
    )


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("seat 2 is out", True),
        ("seat 2 is in", False),
        ("seat 1 is in", True),
        ("seat 1 leads", True),
        ("seat 2 leads", False),
        ("high bid at most 3", True),
        ("high bid at least 4", False),
        ("coins at most 12", True),
        ("coins under 12", False),
        ("seat 1's cards exactly 1", True),
        ("seat 1's moons at most 9", False),
        ("seat 1 is in and high bid over 3", False),
        ("lot has nothing like it", False),
    ],
)
def test_a_condition_is_about_what_the_owner_sees(condition, holds):
    assert (answer(f"up to 9 if {condition}", lot("bid 3", "pass")).choice is not None) == holds


def test_no_bid_yet_is_a_high_bid_of_nothing_while_there_is_bidding():
    assert answer("up to 9 if high bid at most 0", lot()).choice is not None
    sale = selling([("R1",), ("G1",), ("G6",)], (3, 9, 9))
    sale = Table(sale, {}, (), (sale.state,) * 4)
    assert whys("always no if high bid at most 0", sale) == ["You don't see that number now: high bid."]


def test_a_condition_about_the_lot_means_every_card_with_these_words():
    table = lot()
    seat = next(iter(table.asks()))
    word = next(iter(conditions.sight(GAME.board(table.view(seat), seat), seat, GAME, bidding=True).lot))
    assert answer(f"up to 9 if lot has {word}", table).choice is not None
    assert answer(f"up to 9 if lot has {word.split()[0]}", table).choice is not None
    assert answer(f"up to 9 if lot has {word[1:]}", table).choice is None


def test_an_order_for_what_is_in_a_lot_waits_for_it_and_then_ends_with_it():
    table = lot()
    assert of("up to 9 if lot has blue", table).orders[0].order.topic == ""
    assert of("up to 9 if high bid at most 5", table).orders[0].order.topic == "lot 2"
    word = next(iter(conditions.sight(GAME.board(table.view(0), 0), 0, GAME, bidding=True).lot))
    given = orders.answer(of(f"up to 9 if lot has {word}", table), GAME, table.view(0), 0)
    assert given.order.orders[0].order.topic == "lot 2"
    later = replace(table.position.state, round=3)
    assert "no longer applies" in str(orders.answer(given.order, GAME, later, 0).note)


def test_an_order_that_does_not_fit_is_passed_over_with_the_reason_and_stays():
    text = "always bid 40; bid 99 then pass; always no; up to 2 or ask me if seat 2 is out; up to 1"
    table = lot("bid 3", "bid 4")
    given = answer(text, table)
    assert given.choice.verb == "pass"
    assert given.rank == 4
    assert len(given.order.orders) == 5
    reasons = whys(text, table)
    assert "40 is too high" in reasons[0]
    assert "99 is too high" in reasons[1]
    assert reasons[2:] == ["It is about another decision.", "Ben and Bo is still in.", None]


def test_an_order_that_wants_to_ask_stops_the_list_and_stays():
    table = lot("bid 3", "pass")
    given = answer("up to 2 or ask me; always pass", table)
    assert (given.choice, given.note) == (None, None)
    assert given.order == of("up to 2 or ask me; always pass")
    assert whys("up to 2 or ask me; always pass", table) == ["The bidding has passed 2."]


def test_an_order_of_a_list_that_is_over_ends_and_the_next_answers():
    over = replace(of("pass this auction"), topic="lot 1")
    several = orders.OrderList((orders.Conditional(over), orders.Conditional(orders.Again("pass", bound=False))))
    given = orders.answer(several, GAME, lot().view(0), 0)
    assert given.choice.verb == "pass"
    assert [orders.write_one(one) for one in given.order.orders] == ["always pass"]
    assert "“pass this auction” has ended. It no longer applies." in str(given.note)


def test_steps_of_a_list_are_taken_and_then_gone():
    given = answer("bid 1 then pass if seat 2 is in; up to 5", lot())
    assert [orders.write_one(one) for one in given.order.orders] == ["pass if seat 2 is in", "up to 5"]
    left = orders.answer(given.order, GAME, lot("bid 1", "pass", "bid 2").view(0), 0)
    assert orders.write_order(left.order) == "pass if seat 2 is in; up to 5"
    left = orders.answer(given.order, GAME, lot("bid 1", "bid 2", "bid 3").view(0), 0)
    assert orders.write_order(left.order) == "up to 5"


@pytest.mark.parametrize("kind", registry.names())
def test_every_condition_offered_in_a_game_reads_back_and_can_be_checked(kind):
    game, luck, met = load(kind), Stream(b"conditions", 0), set()
    table = begin(game, 3, bytes(range(32)))
    for _ in range(25):
        if game.standing(table.position.state).over:
            break
        seat, decision = next((seat, each) for seat, each in table.asks().items() if seat not in table.position.box)
        view = table.view(seat)
        board, bidding = game.board(view, seat), orders.raising(decision) is not None
        seen = conditions.sight(board, seat, game, bidding=bidding)
        for offer in conditions.offered(conditions.subjects(board, seat, game, bidding=bidding)):
            text = f"{offer.text} at least 0" if offer.number else offer.text
            (condition,) = conditions.read_conditions(text)
            assert conditions.write_condition(condition) == text
            met.add(condition.about)
            # No number on a board is hidden by a condition about it.
            assert not offer.number or conditions.unmet(condition, seen) is None or min(seen.numbers.values()) < 0
        table = table.submit(seat, sampled(game, view, decision, luck))
    assert {"out", "in", "number"} <= met
