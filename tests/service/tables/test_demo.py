"""The demo: a guest plays a whole round with bots that answer at once, gets no email, and leaves nothing behind."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from engine.bots import BOTS
from pbem.domain.errors import BadInput, Forbidden, TooMany
from pbem.ops.verify import verify_game
from pbem.service import links
from pbem.service.desk import calls as desk_calls
from pbem.service.outgoing import ledger
from pbem.service.people import addresses
from pbem.service.play import by_link, seat_view
from pbem.service.tables import demo, invitations, joining, leaving, listing, rematch
from pbem.service.tables.new import TableSettings
from pbem.store.schema import AUDIT
from pbem.tokens import Purpose
from tests.service.actors import calls_of
from tests.service.clock import DAY, HOUR
from tests.service.database import all_rows, queued_emails
from tests.service.outgoing.test_deliver import drain, post_to
from tests.service.running_game import RunningGame


@pytest.fixture
def seat(server):
    """The token of a guest who has just come."""
    return demo.begin(server, "sunset-poker")


def game_of(server, token):
    """The game that a seat's token is for."""
    return RunningGame(server, server.read(links.follow, token, Purpose.SEAT).game_id)


def decide(server, token):
    """Make the default choice, as a guest does on the page."""
    found = server.read(seat_view.view_seat, token)
    server.run(by_link.play, token, found.turn, found.decision.default)
    assert demo.go_on(server, token)


def test_a_guest_is_asked_whenever_the_game_is_not_over(server, seat):
    decided = 0
    while (found := server.read(seat_view.view_seat, seat)).status == "playing":
        assert found.decision is not None
        decide(server, seat)
        decided += 1
    assert found.status == "over"
    # Six cards are drafted, and at most seven are played: about two minutes.
    assert 6 <= decided <= 13
    with server.store.read() as tx:
        assert verify_game(tx, found.game_id).sound


def test_a_guest_is_sent_no_email(server, seat, sink, clock):
    game = game_of(server, seat)
    guest = server.read(links.follow, seat, Purpose.SEAT).person_id
    decide(server, seat)
    server.run(ledger.resend_turn, guest, game.id, server.read(seat_view.view_seat, seat).seat)
    drain(server, clock, post_to(sink))
    assert not sink.emails
    assert {email.status for email in queued_emails(server, guest)} <= {"withheld", "superseded"}


def test_no_list_shows_a_demo(server, seat):
    assert server.read(listing.open_tables) == []
    assert game_of(server, seat).row().private


def test_nobody_can_type_the_address_of_a_guest(server, seat):
    guest = server.read(addresses.read, server.read(links.follow, seat, Purpose.SEAT).person_id)
    with pytest.raises(BadInput):
        server.run(addresses.register, guest.address)


def test_a_guest_cannot_call_the_organiser(server, seat):
    with pytest.raises(Forbidden):
        desk_calls.call_by_link(server, seat, Purpose.SEAT, "Hello?")
    assert calls_of(server) == []


def test_a_guest_opens_no_other_table_and_invites_nobody(server, seat):
    link = server.read(links.follow, seat, Purpose.SEAT)
    server.run(leaving.agree_to_end, link.game_id, link.person_id)
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="rematch"):
        server.run(rematch.rematch, seat)
    # A way to a table of their own there may be one day: it still invites nobody.
    own = server.run(joining.create_table, link.person_id, TableSettings("bid", 3, {}, "1d")).game_id
    with pytest.raises(Forbidden, match="invite"):
        server.run(invitations.invite, own, link.person_id, ("zoe@example.org",))
    assert all_rows(server.store)["outbox"] == before["outbox"]


def test_guests_are_limited_by_the_hour(server, clock, monkeypatch):
    monkeypatch.setattr(demo, "GUESTS_AN_HOUR", 2)
    demo.begin(server, "sunset-poker"), demo.begin(server, "sunset-poker")
    with pytest.raises(TooMany):
        demo.begin(server, "sunset-poker")
    clock.advance(HOUR + timedelta(seconds=1))
    assert demo.begin(server, "sunset-poker")


def test_one_network_cannot_use_up_the_demo(server, clock):
    for _ in range(server.demos):
        demo.begin(server, "sunset-poker", "192.0.2.7/32")
    with pytest.raises(TooMany):
        demo.begin(server, "sunset-poker", "192.0.2.7/32")
    assert demo.begin(server, "sunset-poker", "198.51.100.7/32")
    clock.advance(HOUR / server.demos)
    assert demo.begin(server, "sunset-poker", "192.0.2.7/32")


def test_a_demo_is_deleted_after_a_day_and_nothing_else_is(server, clock, table):
    game = table()
    game.play(*next((seat, each.default) for seat, each in game.asked().items()))
    before = all_rows(server.store)
    played, _ = demo.begin(server, "sunset-poker"), demo.begin(server, "sunset-poker")
    for _ in range(4):
        decide(server, played)
    assert demo.tidy(server) == 0
    clock.advance(DAY + HOUR)
    fresh = demo.begin(server, "sunset-poker")
    assert demo.tidy(server) == 2
    assert server.read(seat_view.view_seat, fresh).status == "playing"
    clock.advance(DAY + HOUR)
    assert demo.tidy(server) == 1
    # The quota is forgotten with all others, a day after it is free again.
    assert all_rows(server.store) | {"quota": []} == before | {"quota": []}


def test_a_demo_an_organiser_acted_on_is_kept(server, seat, clock):
    game = game_of(server, seat)
    row = {"seq": 1, "at": clock.now(), "actor": "x", "act": "see as", "game_id": game.id, "person_id": None}
    row |= {"reason": "", "form": None, "body": "", "nonce": b"", "body_hash": b"", "hash": b""}
    server.store.write(lambda tx: tx.execute(insert(AUDIT), row))
    clock.advance(DAY + HOUR)
    assert demo.tidy(server) == 0
    assert server.read(seat_view.view_seat, seat).status == "playing"


def test_a_failing_bot_breaks_no_request_and_is_retried(server, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bad day")

    with monkeypatch.context() as bad:
        bad.setitem(BOTS, demo.LEVEL, broken)
        token = demo.begin(server, "sunset-poker")
    game = game_of(server, token)
    waiting = {seat for seat, player in game.players().items() if player.bot is not None} & set(game.asked())
    assert waiting
    server.clock.advance(DAY)
    demo.go_on(server, token)
    assert not waiting & set(game.asked())


def test_a_seat_that_is_no_demo_is_left_alone(server, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person,) = (seat for seat, player in game.players().items() if player.person_id)
    row = server.run(links.make_for_seat, game.person_at(person), game.id, 1, person).seat
    with server.store.read() as tx:
        token = links.token(server, links.read(tx, row))
    asked = game.asked()
    assert not demo.go_on(server, token)
    assert game.asked() == asked
