"""Lists of standing orders at a table: who answers, what their player is told, and that nobody else sees anything."""

import json
from dataclasses import replace

import pytest

from engine import orders
from pbem.domain.errors import BadInput, Stale
from pbem.ops.verify import verify_game
from pbem.service.absence import seats
from pbem.service.account import personal_data
from pbem.service.play import move, order_notes, positions, standing_orders, undo
from pbem.service.play.log import Kind, LogWriter
from pbem.store import games

LIST = "up to 1 if seat 1 is out and seat 2 is out and seat 3 is out; up to 3; always pass"


def orders_of(game, seat):
    order = positions.orders_of(game.row()).get(seat)
    return [] if order is None else [orders.write_one(one) for one in orders.as_list(order)]


def notes(game, seat, since=0):
    with game.server.store.read() as tx:
        return [str(note) for note in order_notes.since(tx, game.row(), seat, since)]


def leave(game, seat, text, *, add=False):
    return game.server.run(standing_orders.set_order, game.id, seat, text, add=add)


def verified(game):
    with game.server.store.read() as tx:
        return [problem.says for problem in verify_game(tx, game.id).problems]


@pytest.fixture
def auction(table):
    """An auction in which one seat has been asked first: game, turn, and the seats in the order they are asked."""
    game = table("templari", 3)
    (bidder,) = game.asked()
    return game, game.row().turn, (bidder, (bidder + 1) % 3, (bidder + 2) % 3)


def test_orders_are_added_below_the_others_up_to_a_limit(auction):
    game, _, (_, later, _) = auction
    leave(game, later, "up to 3 if high bid at most 1")
    for limit in range(4):
        leave(game, later, f"up to {limit}", add=True)
    assert orders_of(game, later) == ["up to 3 if high bid at most 1", *(f"up to {limit}" for limit in range(4))]
    with pytest.raises(BadInput, match="up to 5 standing orders"):
        leave(game, later, "up to 9", add=True)
    # The same form sent twice is one order.
    leave(game, later, "up to 2", add=True)
    assert len(orders_of(game, later)) == 5
    leave(game, later, "up to 7")
    assert orders_of(game, later) == ["up to 7"]


def test_orders_are_moved_and_dropped_one_by_one(auction):
    game, _, (_, later, _) = auction
    leave(game, later, "up to 1; up to 2; up to 3")
    game.server.run(standing_orders.move_order, game.id, later, None, 2, "up to 3", up=True)
    assert orders_of(game, later) == ["up to 1", "up to 3", "up to 2"]
    game.server.run(standing_orders.move_order, game.id, later, None, 0, "up to 1", up=False)
    assert orders_of(game, later) == ["up to 3", "up to 1", "up to 2"]
    with pytest.raises(Stale):
        game.server.run(standing_orders.drop_order, game.id, later, rank=0, expected="up to 1")
    game.server.run(standing_orders.drop_order, game.id, later, rank=1, expected="up to 1")
    assert orders_of(game, later) == ["up to 3", "up to 2"]
    game.server.run(standing_orders.drop_order, game.id, later)
    assert orders_of(game, later) == []
    assert verified(game) == []


def test_the_player_is_told_which_order_answered_and_what_was_passed_over(auction):
    game, turn, (bidder, later, _) = auction
    leave(game, later, LIST)
    game.play(bidder, "bid 1")
    assert game.row().turn == turn + 2
    (note,) = notes(game, later)
    assert "order “up to 3” played bid 2." in note
    assert "is out” was passed over." in note
    assert notes(game, bidder) == []
    assert verified(game) == []


def test_an_order_of_a_list_that_ends_says_so_and_the_others_stay(auction):
    game, _, (bidder, later, third) = auction
    leave(game, later, "bid 99 then 3; always pass if high bid over 5")
    game.play(bidder, "bid 1")
    assert list(game.asked()) == [later]
    assert notes(game, later) == []
    game.play(later, "bid 2")
    game.play(third, "pass")
    game.play(bidder, "bid 6")
    (note,) = notes(game, later)
    assert "“always pass if high bid at least 6” played pass. “bid 99 then 3” was passed over." in note
    assert len(orders_of(game, later)) == 2
    assert verified(game) == []


def test_the_answer_of_a_list_is_a_decision_that_forbids_the_undo_of_others(auction):
    game, turn, (bidder, later, _) = auction
    leave(game, later, LIST)
    game.play(bidder, "bid 1")
    with pytest.raises(Exception, match="Others have decided since then"):
        game.server.run(undo.take_back, game.id, turn, bidder)


def test_a_note_about_a_choice_that_was_taken_back_is_gone_and_only_the_order_that_made_it(auction):
    game, turn, (bidder, _, _) = auction
    leave(game, bidder, "up to 1 if seat 2 is out and seat 2 is in; up to 3; always bid 1 if high bid over 5")
    assert game.row().turn == turn + 1
    assert len(notes(game, bidder)) == 1
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert notes(game, bidder) == []
    assert orders_of(game, bidder) == [
        "up to 1 if seat 2 is out and seat 2 is in",
        "always bid 1 if high bid at least 6",
    ]
    assert list(game.asked()) == [bidder]
    assert verified(game) == []


def test_a_list_that_others_choices_ended_is_back_whole_once_these_are_taken_back(auction):
    game, turn, (bidder, later, _) = auction
    (decision,) = game.asked().values()
    early = orders.as_list(orders.read_order("up to 2; pass this auction; always pass if high bid over 8", decision))
    late = [replace(each, order=replace(each.order, topic="an earlier lot")) for each in early[:2]]
    several = orders.OrderList((*late, early[2]))

    def left_earlier(tx):
        row = games.lock(tx, game.id)
        record = LogWriter(row, game.server.now(), game.server.randomness)
        record.add(Kind.ORDER, later, move.Actor.PERSON, {"order": several})
        move.set_orders(tx, game.server, row, {later: several}, record)

    game.server.store.write(left_earlier)
    game.play(bidder, "bid 1")
    assert orders_of(game, later) == ["always pass if high bid at least 9"]
    assert notes(game, later)[0].count("has ended") == 2
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game, later) == ["up to 2", "pass this auction", "always pass if high bid at least 9"]
    assert notes(game, later) == []
    assert verified(game) == []


def test_a_seat_that_changes_hands_leaves_neither_orders_nor_notes(auction):
    game, _, (bidder, later, _) = auction
    leave(game, later, LIST)
    game.play(bidder, "bid 1")
    game.server.store.write(lambda tx: seats.give_to_bot(tx, game.server, games.lock(tx, game.id), later, "host"))
    assert orders_of(game, later) == []
    assert notes(game, later) == []


@pytest.mark.parametrize("text", ["up to 3 if seat 4 is out", "up to 3 if Nobody is out"])
def test_a_condition_about_no_player_of_the_table_is_refused(auction, text):
    game, _, (_, later, _) = auction
    with pytest.raises(BadInput):
        leave(game, later, text)


def test_a_name_in_a_condition_is_stored_as_a_seat(auction):
    game, _, (bidder, later, _) = auction
    name = game.players()[bidder].name
    leave(game, later, f"up to 3 if {name} is out and {name}'s coins over 3")
    assert orders_of(game, later) == [f"up to 3 if seat {bidder + 1} is out and seat {bidder + 1}'s coins at least 4"]
    assert name not in game.row().orders


def test_a_list_is_in_the_data_about_its_player_and_nobody_elses(auction):
    game, _, (bidder, later, _) = auction
    leave(game, later, LIST)
    own, other = (
        json.loads("".join(personal_data.export_person(game.server, game.person_at(seat)))) for seat in (later, bidder)
    )
    (act,) = own["tables"][0]["acts"]
    assert [one["order"]["is"] for one in act["order"]["order"]["orders"]] == ["UpTo", "UpTo", "Again"]
    assert "OrderList" not in json.dumps(other)
