"""The demo: a guest plays a whole round with bots that answer at once, is mailed nothing, and leaves nothing behind."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from engine.bots import BOTS
from pbem.domain.errors import BadInput, Forbidden, TooMany
from pbem.links import Purpose
from pbem.ops.verify import verify_game
from pbem.service import announced, by_link, calls, demo, ledger, links, looks, people
from pbem.store.schema import Audit, table_of
from tests.service.begun import Begun
from tests.service.stored import everything, letters
from tests.service.test_delivery import drain, post_to
from tests.service.timed import DAY, HOUR


@pytest.fixture
def seat(house):
    """The token of a guest who has just come."""
    return demo.begin(house)


def game_of(house, token):
    """The game that a seat's token is for."""
    return Begun(house, links.opened(house, token, Purpose.SEAT).game_id)


def decide(house, token):
    """Do what silence would mean, as a guest does it on the page."""
    found = looks.look(house, token)
    by_link.play(house, token, found.window, found.decision.default)
    assert demo.go_on(house, token)


def test_a_guest_is_asked_whenever_the_game_is_not_over(house, seat):
    decided = 0
    while (found := looks.look(house, seat)).status == "playing":
        assert found.decision is not None
        decide(house, seat)
        decided += 1
    assert found.status == "over"
    # Six cards are drafted, and at most seven are played: about two minutes.
    assert 6 <= decided <= 13
    with house.store.read() as tx:
        assert verify_game(tx, found.game_id).sound


def test_nothing_is_ever_mailed_to_a_guest(house, seat, sink, clock):
    game = game_of(house, seat)
    guest = links.opened(house, seat, Purpose.SEAT).person_id
    decide(house, seat)
    ledger.turn_again(house, guest, game.id, looks.look(house, seat).seat)
    drain(house, clock, post_to(sink))
    assert not sink.kept
    assert {mail.status for mail in letters(house, guest)} <= {"withheld", "superseded"}


def test_no_list_shows_a_demo(house, seat):
    assert announced.waiting(house) == []
    assert game_of(house, seat).row().private


def test_nobody_can_type_the_address_of_a_guest(house, seat):
    guest = people.read(house, links.opened(house, seat, Purpose.SEAT).person_id)
    with pytest.raises(BadInput):
        people.create(house, guest.address)


def test_from_a_demo_nobody_is_called(house, seat):
    with pytest.raises(Forbidden):
        by_link.call(house, seat, Purpose.SEAT, "Hello?")
    assert calls.waiting(house) == []


def test_so_many_guests_are_let_in_and_no_more(house, clock, monkeypatch):
    monkeypatch.setattr(demo, "GUESTS_AN_HOUR", 2)
    demo.begin(house), demo.begin(house)
    with pytest.raises(TooMany):
        demo.begin(house)
    clock.advance(HOUR + timedelta(seconds=1))
    assert demo.begin(house)


def test_a_day_later_nothing_is_left_of_a_demo_and_all_of_everybody_else(house, clock, table):
    game = table()
    game.play(*next((seat, each.default) for seat, each in game.asked().items()))
    before = everything(house.store)
    played, _ = demo.begin(house), demo.begin(house)
    for _ in range(4):
        decide(house, played)
    assert demo.tidy(house) == 0
    clock.advance(DAY + HOUR)
    fresh = demo.begin(house)
    assert demo.tidy(house) == 2
    assert looks.look(house, fresh).status == "playing"
    clock.advance(DAY + HOUR)
    assert demo.tidy(house) == 1
    assert everything(house.store) == before


def test_what_an_organiser_did_at_a_demo_stays_and_so_does_the_demo(house, seat, clock):
    game = game_of(house, seat)
    row = {"seq": 1, "at": clock.now(), "actor": "x", "act": "see as", "game_id": game.id, "person_id": None}
    row |= {"reason": "", "form": None, "body": "", "nonce": b"", "body_hash": b"", "hash": b""}
    house.write(lambda tx: tx.execute(insert(table_of(Audit)), row))
    clock.advance(DAY + HOUR)
    assert demo.tidy(house) == 0
    assert looks.look(house, seat).status == "playing"


def test_a_bot_that_fails_stops_nobody_elses_request_and_is_tried_again(house, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bad day")

    with monkeypatch.context() as bad:
        bad.setitem(BOTS, "greedy", broken)
        token = demo.begin(house)
    game = game_of(house, token)
    waiting = {seat for seat, place in game.places().items() if place.bot is not None} & set(game.asked())
    assert waiting
    house.clock.advance(DAY)
    demo.go_on(house, token)
    assert not waiting & set(game.asked())


def test_a_seat_that_is_no_demo_is_left_alone(house, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person,) = (seat for seat, place in game.places().items() if place.person_id)
    row = house.write(lambda tx: links.of_seat_in(tx, house, game.person_at(person), game.id, 1, person)).seat
    with house.store.read() as tx:
        token = links.token(house, links.read_in(tx, row))
    asked = game.asked()
    assert not demo.go_on(house, token)
    assert game.asked() == asked
