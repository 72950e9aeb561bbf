"""After everyone has deleted their account, no row names any of them, whatever they have done and caused."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from pbem.domain.acts import Actor, Role
from pbem.domain.bounce import Bounce
from pbem.domain.deleted_people import is_former
from pbem.service.account import delete, profiles
from pbem.service.clocks import more_time, reachability
from pbem.service.desk import calls, tournament_hosts
from pbem.service.desk.acts.clocks import Extend, Pause, Resume
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.people import Ban, Merge
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, sign_in
from pbem.service.tables import groups, invitations, joining, leaving, talk
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import reading, sign_up
from pbem.store import organisers, people, players
from pbem.store.schema import METADATA, OUTBOX, PERSON, TALK
from tests.mail import kinds
from tests.service.actors import moderate
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import drain, post_to
from tests.service.tournaments.cup import open_cup

NAMES = tuple(f"Rumpel{name.lower()}" for name in kinds.NAMES)
HOST, FRIEND, THIRD = "Schneewittchen", "Aschenputtel", "Dornroeschen"
PSEUDONYMS = ("Goldmarie", "Pechmarie", "Frau Holle", "Sterntaler", "Froschkoenig")


@pytest.fixture
def database_url(sqlite_alone):
    """One database is enough: what is left in a row is the same on any."""
    return sqlite_alone


def texts_left(server):
    """Each row of each table as text, without the bytes of emails that have been sent and what others said: these stay."""
    with server.store.read() as tx:
        for table in METADATA.sorted_tables:
            for row in tx.execute(select(table)).mappings():
                columns = dict(row)
                if (table is OUTBOX and columns["status"] != "queued") or table is TALK:
                    del columns["body"]
                yield table.name, repr(columns)


def check_forgotten(server, *names):
    """Delete everyone who is no organiser, and look for these names and all their addresses."""
    with server.store.read() as tx:
        desk = {row.person_id for row in organisers.all_of_them(tx)}
        everyone = [row for row in tx.execute(select(PERSON)) if row.id not in desk and not is_former(row.address)]
    for row in everyone:
        server.run(delete.delete_person, row.id)
    called = re.compile("|".join(map(re.escape, {*names, *(row.mailbox for row in everyone)})), re.IGNORECASE)
    assert [(table, called.search(text)) for table, text in texts_left(server) if called.search(text)] == []


@pytest.mark.slice(1 / 4)
def test_no_row_has_a_name_after_everything_that_can_be_emailed(server, clock, sink):
    def carry():
        clock.advance(timedelta(minutes=2))
        while deliver.deliver(server, post_to(sink), limit=500).accepted:
            pass

    kinds.every_kind(server, clock, carry, "sunset-poker", NAMES)
    check_forgotten(server, *NAMES)


def stays_in_group(server, host, key, person_id):
    """Make someone a member of a group, which goes on when its host leaves."""
    group = server.run(lambda tx, _server: groups.membership(tx, host, key).group)
    with server.store.read() as tx:
        address = people.read(tx, person_id).address
    server.run(groups.invite, host, key, (address,))
    server.run(groups.accept, group.id, person_id)


@pytest.fixture
def busy(server, clock, person, table):
    """A person who hosts, invites, organises, corrects, talks, is substituted and corrected, calls, and leaves."""
    host, friend, third = person(HOST), person(FRIEND), person(THIRD)
    settings = TableSettings("sunset-poker", 3, invited=("zoe@example.org", f"{THIRD.lower()}@example.org"))
    waiting = server.run(joining.create_table, friend, settings).game_id
    server.run(joining.join, waiting, host, name="Goldmarie")
    server.run(leaving.leave, waiting, host)
    server.run(invitations.decline, waiting, third)
    game = server.run(joining.create_table, host, TableSettings("sunset-poker", 3)).game_id
    for each, name in ((host, "Pechmarie"), (friend, ""), (third, "")):
        server.run(joining.join, game, each, name=name)
    as_host = Actor(Role.HOST, HOST, person_id=host)
    for act in (Pause(game), Resume(game), Extend(game, "1d")):
        server.run(perform, as_host, act, "We need a break.")
    with server.store.read() as tx:
        seats = {each.person_id: each.seat for each in players.of_game(tx, game)}
    server.run(talk.say, game, seats[host], host, f"Hello @{FRIEND}!")
    moderate(server, Correct(game, "name", "Frau Holle", seats[host]), "They misspelt it.")
    server.run(more_time.give, game, seats[host], host, next(seats[each] for each in (friend, third)))
    server.run(leaving.agree_to_end, game, host)
    server.run(calls.call, host, "Where is my email?", game_id=game, seat=seats[host])
    moderate(server, Substitute(game, seats[third], "zoe@example.org"), "They asked for it.")
    for _ in range(3):
        server.store.write(lambda tx: reachability.note_bounce(tx, server, host, Bounce.HARD, "550 no such user"))
        clock.advance(timedelta(days=1))
    key = server.run(groups.create, host, "Friday club")
    server.run(groups.invite, host, key, ("zoe@example.org", f"{FRIEND.lower()}@example.org"))
    stays_in_group(server, host, key, third)
    cup = server.read(reading.page, open_cup(server, host)).summary.row.id
    server.run(sign_up.invite, cup, host, ("zoe@example.org",))
    server.run(sign_up.sign_up, cup, host, name="Sterntaler")
    server.run(tournament_hosts.change, "pause", cup, host)
    server.run(tournament_hosts.change, "resume", cup, host)
    server.run(profiles.choose, host, "everyone", "Froschkoenig", punctual=True)
    moderate(server, Ban(friend), "Insults at two tables.")
    server.run(sign_in.ask_for_link, f"{HOST.lower()}@example.org")
    return host


def test_no_row_has_a_name_or_address_of_a_deleted_host(server, busy):
    rows = dict(texts_left(server))
    assert {"person_name", "alarm", "audit", "link_request"} <= rows.keys()
    check_forgotten(server, HOST, FRIEND, THIRD, *PSEUDONYMS)


def test_deleting_someone_who_was_merged_deletes_their_other_address_and_name_too(server, person):
    stays, other = person(HOST), person(FRIEND)
    moderate(server, Merge(stays, other))
    server.run(delete.delete_person, stays)
    assert not [text for _table, text in texts_left(server) if re.search(f"{HOST}|{FRIEND}", text, re.IGNORECASE)]


def test_someone_who_was_merged_and_plays_again_with_the_other_address_is_not_deleted(server, person):
    stays, other = person(HOST), person(FRIEND)
    moderate(server, Merge(stays, other))
    server.run(joining.create_table, other, TableSettings("sunset-poker", 3))
    server.run(delete.delete_person, stays)
    assert server.read(addresses.read, other).name == FRIEND


def text_of(email):
    return email.message.get_body(("plain",)).get_content()


def test_emails_that_wait_say_that_a_former_player_did_it(server, clock, sink, busy):
    server.run(delete.delete_person, busy)
    drain(server, clock, post_to(sink))
    text = "\n".join(f"{each.message['Subject']}\n{text_of(each)}" for each in sink.emails)
    assert not re.search("|".join((HOST, *PSEUDONYMS)), text)
    assert "a former player has invited you to join Friday club" in text
    assert "a former player has left" in text


def test_an_email_waiting_for_another_try_is_written_again_without_the_name(server, clock, sink, person, table):
    host, friend = person(HOST), person(FRIEND)
    key = server.run(groups.create, host, "Friday club")
    server.run(groups.invite, host, key, (f"{FRIEND.lower()}@example.org",))
    stays_in_group(server, host, key, person(THIRD))
    strangers = table("bid", 3)
    clock.advance(timedelta(minutes=5))
    sink.does(*["450 data"] * 20)
    deliver.deliver(server, post_to(sink), limit=100)
    (email,) = queued_emails(server, friend, "group_invitation")
    assert HOST.encode() in email.body
    elsewhere = [each for each in queued_emails(server) if each.game_id == strangers.id]
    assert any(each.body for each in elsewhere)
    server.run(delete.delete_person, host)
    assert [each for each in queued_emails(server) if each.game_id == strangers.id] == elsewhere
    (waiting,) = queued_emails(server, friend, "group_invitation")
    assert waiting.body is None
    drain(server, clock, post_to(sink))
    # The server that deferred it may have it all the same, so it comes again under its name.
    (sent,) = [each for each in sink.emails if each.message["Message-ID"] == email.message_id]
    assert "a former player has invited you" in text_of(sent)
