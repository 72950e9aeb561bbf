"""An undo and the standing orders of everyone at the table: what it brings back, what it ends, and that nobody sees it."""

from contextlib import suppress

import pytest

from engine.chance import Stream
from engine.testing.bench import sampled
from pbem.domain.errors import BadInput, Gone
from pbem.domain.states import EmailKind, EmailStatus
from pbem.ops.verify import verify_game
from pbem.service.absence import seats
from pbem.service.play import order_notes, positions, standing_orders, undo
from pbem.service.play.rules import rules_of
from pbem.store import deadlines, games, outbox
from tests.service.database import check_atomic
from tests.service.play.test_undo import leave, may_undo

MOST_MOVES = 40


def orders_of(game):
    return positions.orders_of(game.row())


def verified(game):
    with game.server.store.read() as tx:
        return [problem.says for problem in verify_game(tx, game.id).problems]


def notes(game, seat):
    with game.server.store.read() as tx:
        return order_notes.since(tx, game.row(), seat, 0)


@pytest.fixture
def auction(table):
    """An auction in which one seat has just bid, so that the next has been asked: game, turn, bidder and next seat."""
    game = table("templari", 3)
    (bidder,) = game.asked()
    return game, game.row().turn, bidder, (bidder + 1) % 3


def test_an_order_that_a_choice_ended_is_back_once_that_is_taken_back(auction):
    game, turn, bidder, later = auction
    order = leave(game, later, "up to 1 or ask me")
    game.play(bidder, "bid 1")
    assert orders_of(game) == {}
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game) == {later: order}
    assert verified(game) == []
    game.play(bidder, "bid 0", turn=turn)
    # It raises by the least, as it would have done at once.
    assert orders_of(game)[later].limit == 1
    assert game.row().turn == turn + 2
    assert verified(game) == []


def test_a_player_is_told_once_of_an_order_that_ended_twice(auction):
    game, turn, bidder, later = auction
    leave(game, later, "up to 1 or ask me")
    game.play(bidder, "bid 1")
    assert len(notes(game, later)) == 1
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert notes(game, later) == []
    game.play(bidder, "bid 1")
    assert len(notes(game, later)) == 1


def test_a_player_hears_nothing_of_the_orders_of_the_one_before(auction):
    game, _, bidder, later = auction
    leave(game, later, "up to 1 or ask me")
    game.play(bidder, "bid 1")
    assert len(notes(game, later)) == 1
    game.server.store.write(lambda tx: seats.give_to_bot(tx, game.server, games.lock(tx, game.id), later, "host"))
    assert notes(game, later) == []


@pytest.mark.parametrize("new", ["up to 6", None])
def test_orders_that_players_change_meanwhile_stay_as_they_are(auction, new):
    game, turn, bidder, _ = auction
    third = (bidder + 2) % 3
    leave(game, third, "up to 3")
    game.play(bidder, "bid 1")
    if new is None:
        game.server.run(standing_orders.drop_order, game.id, third)
    else:
        leave(game, third, new)
    changed = orders_of(game)
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game) == changed
    assert verified(game) == []


def test_the_order_of_a_player_who_has_left_is_not_brought_back(auction):
    game, turn, bidder, later = auction
    leave(game, later, "up to 1 or ask me")
    game.play(bidder, "bid 1")
    game.server.store.write(lambda tx: seats.give_to_bot(tx, game.server, games.lock(tx, game.id), later, "host"))
    with pytest.raises(Gone, match="seat has changed hands"):
        game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game) == {}
    assert verified(game) == []


def test_an_order_whose_choice_its_player_takes_back_ends(auction):
    game, turn, bidder, _ = auction
    leave(game, bidder, "up to 3")
    assert game.row().turn > turn
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game) == {}
    # Nothing that others do makes the choice again.
    leave(game, (bidder + 2) % 3, "up to 7")
    assert list(game.asked()) == [bidder]
    assert verified(game) == []


def test_a_player_is_asked_in_a_turn_that_an_order_had_answered_at_once(auction):
    game, turn, bidder, later = auction
    leave(game, later, "up to 3")
    game.play(bidder, "bid 1")
    assert game.row().turn == turn + 2
    game.server.run(undo.take_back, game.id, turn + 1, later)
    assert list(game.asked()) == [later]
    with game.server.store.read() as tx:
        assert [(open_.turn, open_.seat) for open_ in deadlines.of_game(tx, game.id)] == [(turn + 1, later)]
        emails = [email for email in outbox.of_game(tx, game.id) if (email.turn, email.seat) == (turn + 1, later)]
    assert [(email.kind, email.status) for email in emails] == [(EmailKind.TURN, EmailStatus.QUEUED)]
    assert verified(game) == []


def test_an_order_that_sealed_a_choice_ends_when_its_player_takes_that_back(table):
    game = table("bid", 3)
    leave(game, 2, "always bid 0")
    turn = game.row().turn
    while 2 not in game.position().box:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
        turn = game.row().turn
    game.server.run(undo.take_back, game.id, turn, 2)
    assert orders_of(game) == {}
    leave(game, 1, "always bid 0")
    assert 2 in game.asked()
    assert verified(game) == []


def test_an_order_that_waits_stays_when_its_player_takes_a_choice_back(auction):
    game, turn, bidder, _ = auction
    order = leave(game, bidder, "always pass unless the moon is over 0")
    game.play(bidder, "bid 1")
    game.server.run(undo.take_back, game.id, turn, bidder)
    assert orders_of(game) == {bidder: order}


def test_an_undo_that_brings_an_order_back_leaves_nothing_if_it_breaks(auction):
    game, turn, bidder, later = auction
    leave(game, later, "up to 1 or ask me")
    game.play(bidder, "bid 1")
    assert check_atomic(game.server.store, lambda: game.server.run(undo.take_back, game.id, turn, bidder)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sorcerous-futures", "sun-bid", "templari"])
def test_the_same_choice_after_an_undo_leads_to_the_same_position_and_orders(table, kind):
    """In a game with random choices and orders, every choice that can be taken back is taken back and made again."""
    game = table(kind, 3)
    luck, undone, brought_back = Stream(b"undo", 0), 0, 0
    for _ in range(MOST_MOVES):
        if not game.asked():
            break
        seat, decision = sorted(game.asked().items())[0]
        try_order(game, luck)
        if game.asked().get(seat) != decision:
            continue
        choice, turn, before = sampled(rules_of(game.row()), game.view(seat), decision, luck), game.row().turn, of(game)
        game.play(seat, choice)
        if not may_undo(game, turn, seat):
            continue
        after, undone = of(game), undone + 1
        game.server.run(undo.take_back, game.id, turn, seat)
        brought_back += before[1].keys() > after[1].keys()
        assert of(game) == without_own(before, seat, game)
        game.play(seat, choice)
        assert of(game) == without_own(after, seat, game)
    assert undone > 5
    assert brought_back
    assert verified(game) == []


def of(game):
    """What the next choice is made of: the position, and the standing orders."""
    row = game.row()
    return (row.state, row.box, row.turn), orders_of(game)


def without_own(expected, seat, game):
    """The same without the seat's own order, where the undo has ended it."""
    position, standing = expected
    return position, {each: order for each, order in standing.items() if each != seat or seat in orders_of(game)}


def try_order(game, luck):
    """Let some player leave an order, where it is one."""
    seat, ways = luck.below(3), ("up to 1 or ask me", "up to 2 or ask me", "up to 3", "always pass unless it is over 1")
    with suppress(BadInput):
        leave(game, seat, ways[luck.below(len(ways))])
