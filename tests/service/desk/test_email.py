"""An organiser reads an email to another person: for a reason, on record, never as a player of the table, and with no working link."""

import pytest

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden, NotFound
from pbem.service.desk import audit, email as reading
from pbem.service.desk.acts.people import Delete
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import deliver, digests
from pbem.service.tables import talk
from pbem.store import audit as audit_rows, people as person_rows
from pbem.tokens import Purpose
from tests.service.actors import OLGA, moderate
from tests.service.database import all_rows, holds_token, queued_emails
from tests.service.outgoing.test_deliver import HOUR, LINK, drain, links_in, post_to
from tests.service.outgoing.test_digests import games, next_eight, play_once  # noqa: F401 - a fixture comes in by its name

REASON = "She says that her mails can't be read."


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def game(table, server, clock, post):
    """A game whose first emails have been sent."""
    began = table("sunset-poker", 3)
    drain(server, clock, post)
    return began


def turn_of(server, game, seat):
    return [email for email in queued_emails(server, game.person_at(seat), "turn") if email.game_id == game.id][-1]


def looks(server):
    return server.read(audit.newest, audit_rows.AuditFilter(act=Act.READ_MAIL))


def player_at(game, seat):
    return Actor(Role.ORGANISER, "Ann", 2, person_id=game.person_at(seat))


def shown(read):
    """Everything of an email that a reader could see."""
    email = read.opened
    return [email.text, email.html, email.content.decode(), *(value for _, value in email.headers), email.entry.subject]


def test_an_email_is_read_as_sent_with_its_ledger_and_on_record(server, sink, game):
    email = turn_of(server, game, 0)
    (sent,) = [each for each in sink.emails if str(each.message["message-id"]) == email.message_id]
    read = server.run(reading.read, OLGA, email.id, REASON, game_id=game.id)
    assert LINK.sub("", read.opened.text.replace("*" * 33, "a" * 33)) == LINK.sub("", sent.text)
    assert "<html" in read.opened.html
    assert dict(read.opened.headers)["Message-ID"] == email.message_id
    assert [line.what for line in read.listed.lines] == ["queued", "rendered", "accepted"]
    assert read.listed.lines[-1].detail.startswith("250")
    (row,) = looks(server)
    assert (row.actor, row.reason) == ("organiser Olga", REASON)
    assert (row.game_id, row.person_id) == (game.id, game.person_at(0))
    assert (f'"email":{email.id}' in row.body, "kind" in row.body) == (True, False)
    assert server.run(reading.read, OLGA, email.id, REASON, person_id=game.person_at(0)).opened == read.opened
    assert server.read(audit.verify).sound


@pytest.mark.slow
def test_no_link_works_in_an_email_read_by_an_organiser(server, clock, sink, post, game):
    turn = turn_of(server, game, 1)
    (email,) = [each for each in sink.emails if str(each.message["message-id"]) == turn.message_id]
    token = next(token for purpose, token, _ in links_in(email) if purpose == Purpose.SEAT)
    clock.advance(HOUR)
    server.run(talk.say, game.id, 1, game.person_at(1), f"This is mine: /s/{token} and {token.upper()}.")
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    drain(server, clock, post)
    sent = sink.emails
    with_talk = [each for each in sent if "This is mine" in each.text]
    assert with_talk, "the talk is told by mail"
    assert all(links_in(each) for each in sent)
    for email in queued_emails(server):
        read = server.run(reading.read, OLGA, email.id, REASON, person_id=email.person_id)
        if read.opened is None:
            continue
        assert not any(holds_token(server, each.encode()) for each in shown(read)), email.kind
        assert not server.keys.template(read.opened.content).places, email.kind
        assert "*" * 33 in read.opened.text


def test_reading_an_email_needs_a_reason_and_permission(server, game):
    email = turn_of(server, game, 0)
    before = all_rows(server.store)
    for reason in ("", "no", "x" * 501, "ask ben@example.org"):
        with pytest.raises(BadInput):
            server.run(reading.read, OLGA, email.id, reason, game_id=game.id)
    host = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    for actor in (host, player_at(game, 1), player_at(game, 0)):
        with pytest.raises(Forbidden):
            server.run(reading.read, actor, email.id, REASON, game_id=game.id)
    assert all_rows(server.store) == before


def test_an_email_is_read_only_under_its_own_table_or_its_own_reader(server, game, table):
    email, other = turn_of(server, game, 0), table("bid", 3)
    for about in ({"game_id": other.id}, {"person_id": game.person_at(1)}):
        with pytest.raises(NotFound):
            server.run(reading.read, OLGA, email.id, REASON, **about)
    with pytest.raises(NotFound):
        server.run(reading.read, OLGA, 10**6, REASON, game_id=game.id)
    assert looks(server) == []


def test_a_digest_is_not_read_by_an_organiser_who_plays_at_one_of_its_tables(server, clock, post, games):  # noqa: F811
    templari, _poker = games
    play_once(templari)
    next_eight(clock)
    digests.gather(server)
    deliver.deliver(server, post, limit=100)
    for game in games:
        moderate(server, Substitute(game.id, 0))
    (digest,) = [email for email in queued_emails(server, kind="digest") if email.person_id not in by_number(templari)]
    with pytest.raises(Forbidden, match="You play at this table"):
        server.run(reading.read, player_at(templari, 1), digest.id, REASON, person_id=digest.person_id)
    assert looks(server) == []
    assert server.run(reading.read, OLGA, digest.id, REASON, person_id=digest.person_id).opened is not None


def by_number(game):
    return {player.person_id for player in game.players().values()}


def test_an_email_without_a_text_shows_its_ledger(server, clock, post, game, person):
    ann = person("Ann")
    email = turn_of(server, game, next(seat for seat in range(3) if game.person_at(seat) == ann))
    clock.advance(HOUR)
    moderate(server, Delete(ann))
    read = server.run(reading.read, OLGA, email.id, REASON, person_id=ann)
    assert read.opened is None
    assert [line.what for line in read.listed.lines][:2] == ["queued", "rendered"]
    with server.store.read() as tx:
        assert read.reader == person_rows.read(tx, ann).name
