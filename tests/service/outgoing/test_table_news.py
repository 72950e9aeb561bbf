"""News of a table that its players cause: nobody can have us flood a fellow player by doing something again and again."""

from datetime import timedelta
from itertools import count

import pytest

from pbem.domain.bounce import Bounce
from pbem.domain.duration import DAY
from pbem.domain.states import EmailStatus
from pbem.service.clocks import pauses, reachability
from pbem.service.outgoing import ledger, prepare
from pbem.service.outgoing.prepare import NEWS_A_DAY
from pbem.service.people import addresses
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import outbox
from tests.service.outgoing.test_deliver import post_to, work


def disappearing_and_back(server, table, person):
    """Someone whose address fails, by their own report, and who writes to us: the others are told each time."""
    game = table("templari", 3)

    def again():
        server.run(reachability.note_bounce, game.person_at(0), Bounce.COMPLAINT, "reported as abuse")
        server.run(reachability.note_contact, game.person_at(0))

    return game.person_at(1), again


def pausing_and_resuming(server, table, person):
    game = table("templari", 3)

    def again():
        server.run(pauses.pause, game.id, "dinner", "host")
        server.run(pauses.resume, game.id, "eaten", "host")

    return game.person_at(1), again


def joining_and_leaving(server, table, person):
    # One person can't join again and again; someone with many addresses can.
    host, numbers = person("Hal"), count()
    game_id = server.run(joining.create_table, host, TableSettings("templari", 3, {}, "1d")).game_id

    def again():
        guest = person(f"Ida {next(numbers)}")
        server.run(joining.join, game_id, guest)
        server.run(leaving.leave, game_id, guest)

    return host, again


@pytest.mark.parametrize("doing", [disappearing_and_back, pausing_and_resuming, joining_and_leaving])
def test_nobody_can_have_a_fellow_player_flooded(server, clock, sink, table, person, doing):
    reader, again = doing(server, table, person)
    address, post = server.read(addresses.read, reader).address, post_to(sink)
    clock.advance(DAY)
    work(server, post)
    before = len(sink.to(address))
    for number in range(2 * NEWS_A_DAY):
        again()
        clock.advance(timedelta(seconds=1))
        if number % 5 == 0:
            work(server, post)
    work(server, post)
    assert len(sink.to(address)) - before == NEWS_A_DAY
    # Their own page lists the others, and sends one that they ask for.
    with server.store.read() as tx:
        withheld = outbox.of_kind(tx, reader, newest_kind(tx, reader), EmailStatus.WITHHELD)
    assert withheld
    server.run(ledger.resend, withheld[0].id, asked_for=True)
    work(server, post)
    assert len(sink.to(address)) - before == NEWS_A_DAY + 1
    clock.advance(DAY)
    again()
    work(server, post)
    assert len(sink.to(address)) - before > NEWS_A_DAY + 1


def test_news_of_all_tables_count_together(server, clock, sink, table, person, monkeypatch):
    monkeypatch.setattr(prepare, "NEWS_OF_ALL_A_DAY", 5)
    doing = [pausing_and_resuming(server, table, person) for _ in range(2)]
    address, post = server.read(addresses.read, doing[0][0]).address, post_to(sink)
    clock.advance(DAY)
    work(server, post)
    before = len(sink.to(address))
    for _reader, again in 2 * doing:
        again()
        work(server, post)
    assert len(sink.to(address)) - before == 5


def newest_kind(tx, reader):
    """The kind of the newest email to a reader."""
    return outbox.of_person(tx, reader, 1)[0].kind
