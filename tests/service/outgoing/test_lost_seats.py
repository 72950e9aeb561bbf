"""Emails to a player whose seat another plays now: their stored links do not leave again, and nothing they hold opens it."""

from datetime import timedelta

import pytest

from pbem.domain.errors import Gone
from pbem.service import links
from pbem.service.absence import second_chance
from pbem.service.archive import export, replay
from pbem.service.archive.replay import Access
from pbem.service.desk import table as desk_table
from pbem.service.desk.acts.clocks import Pause, Resume
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import ledger
from pbem.service.people import addresses, blocks, sign_in
from pbem.service.play import by_link, seat_view
from pbem.service.tables import leaving, rematch, talk
from pbem.store import links as link_rows, outbox
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.mail.kinds import kind_of
from tests.service.actors import moderate
from tests.service.outgoing.test_deliver import drain, links_in, post_to, work


@pytest.fixture
def emails_to(server, clock, sink):
    """emails_to(address) -> the emails there, the oldest first."""

    def of(address):
        clock.advance(timedelta(minutes=2))
        drain(server, clock, post_to(sink))
        return sink.to(address)

    return of


def lose(server, game, how, seat=0):
    """The seat changes hands; returns who has lost it, and their address."""
    person = game.person_at(seat)
    if how == "resigns":
        server.run(leaving.resign, game.id, seat, person)
    else:
        moderate(server, Substitute(game.id, seat, "next@example.org"))
    return person


LOSSES = ("resigns", "is replaced")

# All that a link to a seat opens for reading or acts on, by purpose.
OPENS = {
    "page": lambda tx, server, token: seat_view.view_seat(tx, server, token(Purpose.SEAT)),
    "choice": lambda tx, server, token: seat_view.offered_choice(tx, server, token(Purpose.MOVE), "pass"),
    "program's page": lambda tx, server, token: seat_view.view_seat(tx, server, token(Purpose.API), Purpose.API),
    "history": lambda tx, server, token: seat_view.history(tx, server, token(Purpose.API), 0, 9),
    "file": lambda tx, server, token: export.by_link(tx, server, token(Purpose.SEAT), Purpose.SEAT),
    "replay": lambda tx, server, token: replay.whole(tx, server, Access.SEAT, token(Purpose.SEAT)),
    "moment": lambda tx, server, token: replay.moment(tx, server, Access.SEAT, token(Purpose.SEAT), 0),
    "talk": lambda tx, server, token: talk.talk_page(tx, server, token(Purpose.SEAT)),
    "interventions": lambda tx, server, token: desk_table.interventions(tx, server, token(Purpose.SEAT)),
    "program": lambda tx, server, token: by_link.api_token(tx, server, token(Purpose.SEAT)),
    "order": lambda tx, server, token: by_link.add_order(tx, server, token(Purpose.SEAT), 1, "pass this turn"),
    "order moved": lambda tx, server, token: by_link.move_order(tx, server, token(Purpose.SEAT), 0, "", up=True),
    "no order": lambda tx, server, token: by_link.drop_order(tx, server, token(Purpose.SEAT), 0, ""),
    "say": lambda tx, server, token: talk.say_by_link(tx, server, token(Purpose.SEAT), "Hello."),
    "block": lambda tx, server, token: blocks.block(tx, server, token(Purpose.SEAT), 1),
    "links": lambda tx, server, token: sign_in.send_by_link(tx, server, token(Purpose.MOVE), Purpose.MOVE),
    "rematch": lambda tx, server, token: rematch.rematch(tx, server, token(Purpose.SEAT)),
    "share": lambda tx, server, token: replay.share(tx, server, token(Purpose.SEAT)),
    "stop sharing": lambda tx, server, token: replay.stop_sharing(tx, server, token(Purpose.SEAT)),
    "move": lambda tx, server, token: by_link.move(tx, server, token(Purpose.MOVE), "pass"),
    "play": lambda tx, server, token: by_link.play(tx, server, token(Purpose.SEAT), 0, "pass"),
    "take back": lambda tx, server, token: second_chance.by_link(tx, server, token(Purpose.MOVE), Purpose.MOVE),
    "reply": lambda tx, server, token: links.follow(tx, server, token(Purpose.REPLY), Purpose.REPLY),
}


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("opens", OPENS.values(), ids=OPENS)
def test_no_nonce_opens_a_seat_that_another_plays(server, table, how, opens):
    game = table("templari", 3)
    person = game.person_at(0)
    server.run(links.make_for_seat, person, game.id, 1, 0)
    server.run(links.make, LinkKey(Purpose.API, person, game.id, None, 0))
    lose(server, game, how)

    def token(purpose):
        # The token of the row as it is now, which no email should have.
        key = LinkKey(purpose, person, game.id, None if purpose is Purpose.API else 1, 0)
        with server.store.read() as tx:
            return links.token(server, link_rows.find(tx, key))

    with pytest.raises(Gone, match="Someone else plays"):
        server.run(opens, token)


def test_the_links_of_a_player_who_comes_back_open_the_seat(server, table):
    game = table("templari", 3)
    person = lose(server, game, "resigns")
    rows = server.run(links.make_for_seat, person, game.id, 1, 0)
    key = server.read(links.nonces, [rows.seat])[rows.seat]
    token = server.keys.make(Purpose.SEAT, rows.seat, key)
    with pytest.raises(Gone):
        server.read(seat_view.view_seat, token)
    moderate(server, Substitute(game.id, 0, server.read(addresses.read, person).address))
    token = server.keys.make(Purpose.SEAT, rows.seat, server.read(links.nonces, [rows.seat])[rows.seat])
    assert server.read(seat_view.view_seat, token).person_id == person


def seat_links(email):
    return [token for kind, token, _ in links_in(email) if kind == "s"]


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize("kind", ["links", "welcome", "notice"])
def test_an_email_sent_again_has_no_link_to_a_lost_seat(server, table, emails_to, how, kind):
    game = table("templari", 3)
    address = server.read(addresses.read, game.person_at(0)).address
    server.run(sign_in.send_link_to, game.person_at(0))
    moderate(server, Pause(game.id))
    before = emails_to(address)
    assert any(seat_links(email) for email in before if kind_of(email.message) == kind)
    person = lose(server, game, how)
    with server.store.read() as tx:
        sent = next(row for row in outbox.of_person(tx, person, 50, None) if (row.kind, row.status) == (kind, "sent"))
    try:
        server.run(ledger.resend_own, person, sent.id)
    except Gone:
        return
    again = [email for email in emails_to(address)[len(before) :] if kind_of(email.message) == kind]
    assert again
    assert not any(seat_links(email) for email in again)


def test_a_notice_that_waited_for_the_relay_has_no_link_to_a_lost_seat(server, clock, sink, table, emails_to):
    game = table("templari", 3)
    address = server.read(addresses.read, game.person_at(0)).address
    emails_to(address)
    moderate(server, Pause(game.id))
    moderate(server, Resume(game.id))
    sink.does(*["450 rcpt"] * 50)
    before = len(sink.to(address))
    clock.advance(timedelta(minutes=2))
    work(server, post_to(sink))
    assert len(sink.to(address)) == before
    lose(server, game, "is replaced")
    sink.does()
    late = emails_to(address)[before:]
    assert any(kind_of(email.message) == "notice" for email in late)
    assert not any(seat_links(email) for email in late)


def test_an_email_about_other_seats_keeps_its_links_to_them(server, table, emails_to):
    game, other = table("templari", 3), table("templari", 3)
    person = game.person_at(0)
    address = server.read(addresses.read, person).address
    server.run(sign_in.send_link_to, person)
    before = emails_to(address)
    lose(server, game, "is replaced")
    with server.store.read() as tx:
        sent = next(
            row for row in outbox.of_person(tx, person, 50, None) if (row.kind, row.status) == ("links", "sent")
        )
    server.run(ledger.resend_own, person, sent.id)
    (again,) = (email for email in emails_to(address)[len(before) :] if kind_of(email.message) == "links")
    assert {server.read(links.follow_seat, token).game_id for token in seat_links(again)} == {other.id}
