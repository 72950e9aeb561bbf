"""Changing one's mind: choices taken back, standing orders set and dropped."""

from datetime import timedelta
from functools import partial

import pytest

from engine import codec, orders
from engine.facts import SPECTATOR
from pbem.domain.choice_links import choice_segment
from pbem.domain.errors import BadInput, Forbidden, Gone, Stale
from pbem.domain.states import EmailKind
from pbem.service import links
from pbem.service.absence import second_chance
from pbem.service.desk.acts.seats import Substitute
from pbem.service.play import by_link, standing_orders as play_orders, undo
from pbem.service.play.log import Kind, body_of, standing_entries
from pbem.service.play.move import Actor
from pbem.service.play.positions import orders_of
from pbem.service.play.rules import rules_of
from pbem.store import deadlines, outbox, views as saved_views
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.races import meetings


def take_back(game, turn, seat):
    game.server.run(undo.take_back, game.id, turn, seat)


def may_undo(game, turn, seat):
    since = [each for each in standing_entries(rules_of(game.row()), game.log()) if each.turn >= turn]
    with game.server.store.read() as tx:
        return undo.may_undo(tx, game.row(), since, seat)


def asked_row(game, turn, seat):
    with game.server.store.read() as tx:
        return deadlines.read(tx, game.id, turn, seat)


def set_due(game, turn, seat, moment):
    with game.server.store.engine.begin() as tx:
        deadlines.change(tx, deadlines.read(tx, game.id, turn, seat), accepted_at=game.server.now(), due_at=moment)


def snapshot(game):
    row = game.row()
    return row.state, row.box, row.turn, row.status


# Taking back a sealed choice


def test_a_sealed_choice_is_taken_back_while_the_turn_is_open(table):
    game = table("sunset-poker", 3)
    before, turn = snapshot(game), game.row().turn
    game.play(0, game.asked()[0].default)
    assert 0 not in game.asked()
    take_back(game, turn, 0)
    assert snapshot(game) == before
    assert 0 in game.asked()
    assert asked_row(game, turn, 0).status == "open"
    assert game.log()[-1].kind == Kind.WITHDRAWN
    assert game.verifies()


def test_there_is_nothing_to_take_back_twice(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    game.play(0, game.asked()[0].default)
    take_back(game, turn, 0)
    before = all_rows(game.server.store)
    for seat in (0, 1, 9, -1):
        with pytest.raises(Gone):
            take_back(game, turn, seat)
    assert all_rows(game.server.store) == before


def test_after_the_turn_closed_a_sealed_choice_stands(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    for seat in (0, 1, 2):
        game.play(seat, game.asked()[seat].default)
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="can no longer be taken back"):
        take_back(game, turn, 0)
    assert all_rows(game.server.store) == before


def test_when_the_time_is_over_a_choice_stands_but_can_be_replaced(table, clock):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    first, second, *_ = game.asked()[0].choices()
    set_due(game, turn, 0, game.server.now() + timedelta(hours=1))
    game.play(0, first)
    clock.advance(timedelta(hours=1))
    with pytest.raises(Gone, match="time for this turn is over"):
        take_back(game, turn, 0)
    game.play(0, second)


def test_a_decision_of_the_clock_cannot_be_taken_back(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    game.play(0, game.asked()[0].default, Actor.CLOCK)
    with pytest.raises(Gone, match="played for you"):
        take_back(game, turn, 0)
    turns = table("templari", 3)
    (seat,) = turns.asked()
    turn = turns.row().turn
    turns.play(seat, "pass", Actor.CLOCK)
    with pytest.raises(Gone, match="played for you"):
        take_back(turns, turn, seat)


def test_a_player_whose_turn_email_was_dropped_gets_another_after_taking_the_move_back(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    (email,) = (email for email in game.emails() if (email.kind, email.seat) == ("turn", 0))
    game.play(0, game.asked()[0].default)
    # As delivery does when the turn has been answered already.
    with game.server.store.engine.begin() as tx:
        outbox.change(tx, email.id, status="superseded")
    take_back(game, turn, 0)
    again = [email for email in game.emails() if (email.kind, email.seat, email.turn) == ("turn", 0, turn)]
    assert [email.status for email in again] == ["superseded", "queued"]


def test_a_player_who_has_the_turn_email_gets_no_second_one(table):
    game = table("sunset-poker", 3)
    turn, emails = game.row().turn, len(game.emails())
    set_due(game, turn, 0, game.server.now() + timedelta(days=1))
    game.play(0, game.asked()[0].default)
    take_back(game, turn, 0)
    assert len(game.emails()) == emails


# Taking back a turn


def test_a_turn_can_be_taken_back_until_the_others_are_notified(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    before, turn = snapshot(game), game.row().turn
    views = [game.view(each) for each in (SPECTATOR, 0, 1, 2)]
    game.play(seat, "bid 1")
    after = game.row().turn
    take_back(game, turn, seat)
    assert snapshot(game) == before
    assert [game.view(each) for each in (SPECTATOR, 0, 1, 2)] == views
    assert list(game.asked()) == [seat]
    assert asked_row(game, turn, seat).status == "open"
    assert asked_row(game, after, (seat + 1) % 3) is None
    assert [email.status for email in game.emails() if email.turn == after] == ["superseded"]
    undone = game.log()[-1]
    assert (undone.kind, body_of(rules_of(game.row()), undone)) == (Kind.UNDONE, {"from": turn})
    assert game.row().entry_head == undone.hash
    assert game.verifies()


def test_a_view_saved_meanwhile_is_dropped_when_the_turn_is_taken_back(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    views = [game.view(each) for each in (SPECTATOR, 0, 1, 2)]
    game.play(seat, "bid 1")
    with game.server.store.engine.begin() as tx:
        bodies = {each: codec.dumps(game.view(each)) for each in (SPECTATOR, 0, 1, 2)}
        saved_views.keep(tx, game.id, turn, game.row().seq, bodies)
    take_back(game, turn, seat)
    assert [game.view(each) for each in (SPECTATOR, 0, 1, 2)] == views


def test_another_choice_can_be_made_after_taking_back(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    take_back(game, turn, seat)
    assert not game.play(seat, "bid 2", turn=turn).again
    standing = standing_entries(rules_of(game.row()), game.log())
    assert choice_segment(standing[-1].entry.choices[seat]) == "bid-2"
    assert [each.turn for each in standing] == list(range(game.row().turn))
    (email,) = (email for email in game.emails() if email.status == "queued" and email.turn == game.row().turn)
    assert email.kind == "turn"


def test_a_turn_that_was_taken_back_gives_no_receipt_any_more(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    take_back(game, turn, seat)
    receipt = game.play(seat, "bid 1", turn=turn)
    assert not receipt.again


@pytest.mark.parametrize("what", [{"status": "sent"}, {"attempts": 1}], ids=str)
def test_a_turn_cannot_be_taken_back_once_an_email_about_it_is_on_its_way(table, what):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    with game.server.store.engine.begin() as tx:
        outbox.change(tx, game.emails()[-1].id, **what)
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="on its way"):
        take_back(game, turn, seat)
    assert all_rows(game.server.store) == before


@pytest.mark.parametrize("kind", ["receipt", "turn"])
def test_only_an_email_that_asks_keeps_a_turn_from_being_taken_back(table, kind):
    # A receipt that another player got meanwhile would tell that they had left an order.
    game = table("templari", 3)
    (seat,) = game.asked()
    other, turn = (seat + 1) % 3, game.row().turn
    game.play(seat, "bid 1")

    def write(tx):
        person, now = game.person_at(other), game.server.now()
        email = outbox.NewEmail(person, EmailKind(kind), game.id, None, other, turn + 1, alone=True)
        outbox.queue(tx, [email], now)
        (sent,) = (each for each in outbox.of_kind(tx, person, kind, "queued") if each.seq is None)
        outbox.change(tx, sent.id, status="sent", attempts=1, rendered_at=now)

    game.server.store.write(write)
    assert may_undo(game, turn, seat) == (kind == "receipt")


def test_the_link_of_a_choice_in_a_turn_that_was_undone_plays_in_no_other(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    other, turn = (seat + 1) % 3, game.row().turn

    def token(tx, _server, of_turn):
        keys = links.make_for_seat(tx, game.server, game.person_at(other), game.id, of_turn, other)
        return links.token(game.server, links.read(tx, keys.move))

    game.play(seat, "bid 1")
    undone = game.server.run(token, turn + 1)
    take_back(game, turn, seat)
    game.play(seat, "bid 2")
    assert game.row().turn == turn + 1
    with pytest.raises(Stale):
        game.server.run(by_link.move, undone, "bid-3")
    with pytest.raises(Gone, match="no longer"):
        game.server.run(second_chance.by_link, undone, Purpose.MOVE)
    assert game.server.run(by_link.move, game.server.run(token, turn + 1), "bid-3").turn == turn + 1


def test_a_turn_cannot_be_taken_back_once_another_player_has_decided(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    (other,) = game.asked()
    game.play(other, "pass")
    before = all_rows(game.server.store)
    for who in (seat, other, 9):
        with pytest.raises(Gone):
            take_back(game, turn, who)
    assert all_rows(game.server.store) == before


def opens_a_sealed_auction(table):
    """Play until a sealed auction is opened; return the game, the turn, the seat that opened it and another that bids."""
    game = table("sorcerous-futures", 3)
    while True:
        seat, decision = next(iter(game.asked().items()))
        turn = game.row().turn
        closed = [choice for choice in decision.choices() if choice.verb == "closed"]
        game.play(seat, closed[0] if closed else decision.default)
        if closed:
            return game, turn, seat, next(other for other in game.asked() if other != seat)


def bids(game, seat):
    game.play(seat, "bid 0")


def times_out(game, seat):
    game.play(seat, game.asked()[seat].default, Actor.CLOCK)


def leaves_an_order(game, seat):
    leave(game, seat, "always bid 0")


@pytest.mark.parametrize(
    "choose", [[], [bids], [times_out], [leaves_an_order]], ids=["nobody", "person", "clock", "order"]
)
def test_a_choice_that_lets_several_choose_at_once_is_final_even_if_nobody_has_chosen(table, choose):
    game, turn, seat, other = opens_a_sealed_auction(table)
    for how in choose:
        how(game, other)
    assert not may_undo(game, turn, seat)
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="choose at the same time now"):
        take_back(game, turn, seat)
    assert all_rows(game.server.store) == before


def test_an_email_about_a_final_choice_does_not_wait(table):
    game, *_ = opens_a_sealed_auction(table)
    assert game.emails()[-1].due_at == game.server.now()


def test_a_turn_cannot_be_taken_back_once_it_has_drawn(table):
    game = table("sun-bid", 2)
    while True:
        (seat,) = game.asked()
        turn = game.row().turn
        game.play(seat, game.asked()[seat].default)
        (entry,) = (e.entry for e in standing_entries(rules_of(game.row()), game.log()) if e.turn == turn)
        if entry.drawn:
            break
    with pytest.raises(Gone, match="luck was involved"):
        take_back(game, turn, seat)
    # An email about a turn that nobody can take back need not wait.
    assert game.emails()[-1].due_at == game.server.now()


def test_nobody_takes_back_a_turn_of_another(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    before = all_rows(game.server.store)
    for other in {0, 1, 2} - {seat}:
        with pytest.raises(Gone):
            take_back(game, turn, other)
    with pytest.raises(Gone, match="changed hands"):
        game.server.store.write(
            lambda tx: undo.take_back(tx, game.server, game.id, turn, seat, game.person_at((seat + 1) % 3))
        )
    assert all_rows(game.server.store) == before


def test_nothing_is_taken_back_at_a_paused_table_or_after_the_end(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    with game.server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = true")
    with pytest.raises(Forbidden, match="paused"):
        take_back(game, turn, seat)
    with game.server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = false")
    for receipt in game.play_defaults():
        last = receipt
    with pytest.raises(Gone, match="over"):
        take_back(game, last.turn, last.seat)


def test_a_turn_that_may_be_taken_back_is_known_beforehand(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn

    assert not may_undo(game, turn, seat)
    game.play(seat, "bid 1")
    assert may_undo(game, turn, seat)
    assert not may_undo(game, turn, (seat + 1) % 3)
    (other,) = game.asked()
    game.play(other, "pass")
    assert not may_undo(game, turn, seat)


def test_a_sealed_choice_that_may_be_withdrawn_is_known_beforehand(table):
    game = table("sunset-poker", 3)

    def may(seat):
        with game.server.store.read() as tx:
            return undo.may_withdraw(tx, game.row(), seat)

    assert not may(0)
    game.play(0, game.asked()[0].default)
    assert may(0)
    assert not may(1)
    game.play(1, game.asked()[1].default, Actor.CLOCK)
    assert not may(1)


def test_of_a_move_and_an_undo_at_once_one_succeeds(table):
    game = table("templari", 3)
    for meeting in meetings(game.server.store):
        (seat,) = game.asked()
        turn = game.row().turn
        game.play(seat, "pass")
        after = game.row().turn
        (other,) = game.asked()
        taken, moved = meeting(
            partial(take_back, game, turn, seat), partial(game.play, other, game.asked()[other].default, turn=after)
        )
        # Either the turn was taken back and the next move refused, or the next move was made and the undo refused.
        assert isinstance(taken, Gone) != isinstance(moved, Exception), (taken, moved)
        if taken is None:
            assert game.row().turn == turn
            game.play(seat, "pass")
    assert game.verifies()


@pytest.mark.parametrize("by", [Actor.PERSON, Actor.CLOCK])
def test_a_sealed_choice_is_taken_back_or_in_the_entry_when_the_turn_closes_at_once(table, by):
    game = table("bid", 3)
    for meeting in meetings(game.server.store):
        turn = game.row().turn
        decisions = game.asked()
        for seat in (0, 1):
            game.play(seat, decisions[seat].default)
        taken, closed = meeting(
            partial(take_back, game, turn, 0), partial(game.play, 2, decisions[2].default, by, turn)
        )
        assert not isinstance(closed, Exception), closed
        # Either the turn is still open and asks this seat alone, or it closed with the choice and the undo was refused.
        assert isinstance(taken, Gone) == (game.row().turn > turn), (taken, closed)
        if taken is None:
            assert game.asked().keys() == {0}
            game.play(0, decisions[0].default)
        assert game.row().turn > turn
    assert game.verifies()


def test_an_undo_that_breaks_leaves_nothing(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    assert check_atomic(game.server.store, lambda: take_back(game, turn, seat)) > 8
    sealed = table("sunset-poker", 3)
    turn = sealed.row().turn
    sealed.play(0, sealed.asked()[0].default)
    assert check_atomic(game.server.store, lambda: take_back(sealed, turn, 0)) > 5


# Standing orders.


def leave(game, seat, text):
    return game.server.run(play_orders.set_order, game.id, seat, text)


def waiting_seat(game):
    """A seat that is not asked now."""
    return next(seat for seat in range(game.row().seats) if seat not in game.asked())


def test_an_order_answers_when_its_owner_is_asked(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    later = (seat + 1) % 3
    assert leave(game, later, "up to 4") == orders.UpTo(4)
    receipt = game.play(seat, "bid 1")
    answered = game.log()[-1]
    assert (answered.kind, answered.seat, answered.by) == (Kind.ENTRY, later, "order")
    standing = standing_entries(rules_of(game.row()), game.log())[-1]
    assert standing.turn == receipt.turn + 1
    assert choice_segment(standing.entry.choices[later]) == "bid-2"
    assert later not in game.asked()
    assert [email.seat for email in game.emails() if email.turn == standing.turn] == []


def test_an_order_of_a_seat_that_is_asked_answers_at_once(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    leave(game, seat, "up to 3")
    assert seat not in game.asked()
    assert [row.by for row in game.log()[-2:]] == ["person", "order"]


def test_orders_answer_one_another_in_the_transaction_of_the_move(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    leave(game, (seat + 1) % 3, "up to 7")
    leave(game, (seat + 2) % 3, "up to 6")
    game.play(seat, "bid 1")
    by_order = [row.seat for row in game.log() if row.by == "order"]
    assert by_order == [(seat + 1) % 3, (seat + 2) % 3]
    assert game.verifies()


def test_an_order_is_a_row_of_the_log_and_seen_by_nobody_else(table):
    game = table("templari", 3)
    seat = waiting_seat(game)
    views = [game.view(each) for each in (SPECTATOR, 0, 1, 2)]
    state, printed, emails = game.row().state, game.row().entry_head, len(game.emails())
    leave(game, seat, "up to 5")
    row = game.log()[-1]
    assert (row.kind, row.seat, row.by) == (Kind.ORDER, seat, "person")
    assert body_of(rules_of(game.row()), row) == {"order": orders.UpTo(5)}
    assert orders_of(game.row()) == {seat: orders.UpTo(5)}
    assert [game.view(each) for each in (SPECTATOR, 0, 1, 2)] == views
    assert (game.row().state, game.row().entry_head, len(game.emails())) == (state, printed, emails)
    assert game.verifies()


def test_the_same_order_again_is_one_order(table):
    game = table("templari", 3)
    seat = waiting_seat(game)
    leave(game, seat, "up to 5")
    before = all_rows(game.server.store)
    leave(game, seat, "Up to 5.")
    assert all_rows(game.server.store) == before
    leave(game, seat, "up to 6")
    assert orders_of(game.row()) == {seat: orders.UpTo(6)}


def test_an_order_can_be_dropped_and_dropping_it_again_changes_nothing(table):
    game = table("templari", 3)
    seat = waiting_seat(game)
    leave(game, seat, "up to 5")
    game.server.run(play_orders.drop_order, game.id, seat)
    assert orders_of(game.row()) == {}
    assert game.log()[-1].kind == Kind.ORDER
    before = all_rows(game.server.store)
    game.server.run(play_orders.drop_order, game.id, seat)
    assert all_rows(game.server.store) == before


def test_an_order_that_no_longer_fits_ends_and_says_so_in_the_log(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    later = (seat + 1) % 3
    leave(game, later, "up to 1 or ask me")
    game.play(seat, "bid 1")
    assert orders_of(game.row()) == {}
    note = body_of(rules_of(game.row()), game.log()[-1])
    assert note["order"] is None
    assert "1" in str(note["note"])
    assert list(game.asked()) == [later]


@pytest.mark.parametrize("text", ["", "up to", "up to many", "x" * 201, "bid 99 then bid 100", "\x00"], ids=ascii)
def test_an_order_that_cannot_be_read_or_begun_is_refused(table, text):
    game = table("templari", 3)
    (seat,) = game.asked()
    before = all_rows(game.server.store)
    with pytest.raises(BadInput):
        leave(game, seat, text)
    assert all_rows(game.server.store) == before


def test_an_order_counts_as_a_word_of_the_players_own(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    game.play(seat, "pass", Actor.CLOCK)
    assert game.players()[seat].missed == 1
    leave(game, seat, "always pass")
    assert game.players()[seat].missed == 1, "a secret order changes nothing that others could see"
    turn = game.row().turn
    while game.row().turn < turn + 6:
        asked, decision = next(iter(game.asked().items()))
        game.play(asked, decision.default)
    assert {row.by for row in game.log() if row.seat == seat and row.kind == "Entry"} == {"clock", "order"}
    assert game.players()[seat].missed == 0


def test_a_seat_whose_order_answered_a_new_turn_is_asked_again_when_it_takes_that_back(table):
    game = table("bid", 3)
    leave(game, 2, "always bid 0")
    assert 2 not in game.asked()
    for seat in (0, 1):
        game.play(seat, game.asked()[seat].default)
    while 2 not in game.position().box:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    turn = game.row().turn
    assert asked_row(game, turn, 2).status == "closed"
    game.server.run(play_orders.drop_order, game.id, 2)
    take_back(game, turn, 2)
    assert asked_row(game, turn, 2).status == "open"
    assert queued_emails(game.server, game.person_at(2), "turn")[-1].turn == turn


def test_orders_are_refused_where_the_game_does_not_go_on(table):
    game = table("templari", 3)
    seat = waiting_seat(game)
    with game.server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = true")
    with pytest.raises(Forbidden):
        leave(game, seat, "up to 3")
    with game.server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = false")
    for _ in game.play_defaults():
        pass
    with pytest.raises(Gone):
        leave(game, seat, "up to 3")


def test_an_order_that_breaks_leaves_nothing(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    assert check_atomic(game.server.store, lambda: leave(game, seat, "up to 3")) > 8
    later = waiting_seat(game)
    leave(game, later, "up to 9")
    drop = partial(game.server.run, play_orders.drop_order, game.id, later)
    assert check_atomic(game.server.store, drop) > 3
    assert game.verifies()


# The choice of a former player


@pytest.mark.parametrize("kind", ["templari", "sunset-poker"])
def test_a_successor_cannot_take_back_the_choice_of_the_player_before(table, kind):
    game = table(kind, 3)
    seat, decision = next(iter(game.asked().items()))
    turn = game.row().turn
    game.play(seat, decision.default)
    moderate(game.server, Substitute(game.id, seat, "zoe@example.org"))
    before = snapshot(game)
    with pytest.raises(Gone, match="played for you"):
        take_back(game, turn, seat)
    assert snapshot(game) == before
    if game.row().turn != turn:
        assert not may_undo(game, turn, seat)
    else:
        # A choice of their own they can put in its place, and take back.
        other = next(choice for choice in game.open()[seat].choices() if choice != decision.default)
        game.play(seat, other)
        take_back(game, turn, seat)
        assert seat in game.asked()
