"""Deliverability as the desk shows it: received emails by kind and outcome, and the people who are not emailed."""

from datetime import timedelta

import pytest

from pbem.domain.acts import Actor, Role
from pbem.domain.states import Doubt
from pbem.mail.read.delivery_reports import ReportKind
from pbem.service.clocks import reachability
from pbem.service.desk import deliverability
from pbem.service.desk.deliverability import BY_A_PROGRAM, OUTCOMES, UNREAD, UNUSED_OUTCOMES, Kind
from pbem.service.incoming import round_trip, unread_replies, unverified_replies
from pbem.store import people, received as rows, traffic
from tests.service import table_copies
from tests.service.actors import OLGA
from tests.service.clock import DAY, Time
from tests.service.desk.test_overview import scans, statements_of
from tests.service.inbox import Inbox

MOST = 10
"""Statements of the page; signing in to the desk takes a few more."""


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def game(table):
    return table("templari", 3)


def came(server):
    """Numbers of received emails by kind and outcome: recent, and ever."""
    found = server.read(deliverability.summary, OLGA).came
    return {kind: {each.outcome: (each.recent, each.ever) for each in ends} for kind, ends in found.items()}


def test_received_emails_are_counted_by_kind_and_outcome(server, clock, inbox, game):
    (seat,) = game.asked()
    inbox.replies(game, seat, "nothing that is a command")
    clock.advance(10 * DAY)
    inbox.replies(game, seat, "nothing that is one either")
    inbox.replies(game, seat, "I am away", Auto_Submitted="auto-replied")
    inbox.replies(game, seat, "pass", From="eve@example.com")
    inbox.replies(game, seat, "pass", From="eve@example.com")
    inbox.takes(b"From: x@example.com\r\n\r\nhello", f"nobody@{inbox.box.domain}")
    assert came(server) == {
        Kind.ANSWER: {"reply: no command": (1, 2), "another sender": (2, 2), BY_A_PROGRAM: (1, 1)},
        Kind.DROPPED: {"a stranger": (1, 1)},
    }


def test_an_outcome_without_a_description_is_shown_as_stored(server):
    server.store.write(lambda tx: rows.count(tx, server.now().date(), "eaten by a dog"))
    assert came(server) == {Kind.DROPPED: {"eaten by a dog": (1, 1)}}


def test_every_stored_outcome_has_a_description():
    noted = {f"report: {what}" for what in ReportKind} | {round_trip.COUNTED_AS, unverified_replies.NOT_THEIRS}
    noted |= {unread_replies.OF_LOST_SEAT, unread_replies.TO_SOMEONE_GONE} | set(Doubt)
    assert noted <= OUTCOMES.keys()
    assert OUTCOMES.keys() >= UNUSED_OUTCOMES


def test_the_newest_unusable_emails_are_listed_with_the_cause(server, inbox, game):
    (seat,) = game.asked()
    inbox.replies(game, seat, "nothing that is a command")
    inbox.replies(game, seat, "I am away", Auto_Submitted="auto-replied")
    inbox.replies(game, seat, "help")
    inbox.takes(inbox.written(game, seat, "not read so far"), inbox.reply_address(game, seat))
    inbox.takes(inbox.written(game, seat, "it breaks its reader"), inbox.reply_address(game, seat))
    server.store.write(lambda tx: rows.change(tx, 5, status="parked"))
    found = server.read(deliverability.summary, OLGA).unused
    assert [(each.row.id, each.why, each.sign) for each in found] == [
        (5, UNREAD, ""),
        (2, BY_A_PROGRAM, "Auto-Submitted"),
        (1, "reply: no command", ""),
    ]
    assert {(each.kind, each.row.game_id, each.row.person_id) for each in found} == {
        (Kind.ANSWER, game.id, game.person_at(seat))
    }
    assert not any(hasattr(each.row, "raw") for each in found)


def test_people_who_are_not_emailed_are_listed_newest_first(server, clock, person):
    ann, ben = person("Ann"), person("Ben")
    for number, name in ((ann, "Ann"), (ben, "Ben")):
        server.store.write(
            lambda tx, at=number, name=name: reachability.note_refusal(tx, server, at, f"550 {name} is gone")
        )
        clock.advance(timedelta(minutes=1))
    found = server.read(deliverability.summary, OLGA).left_alone
    assert [(each.name, each.cause, each.why) for each in found] == [
        ("Ben", "refused", "550 Ben is gone"),
        ("Ann", "refused", "550 Ann is gone"),
    ]
    server.run(reachability.mark_reachable, ben)
    assert [each.name for each in server.read(deliverability.summary, OLGA).left_alone] == ["Ann"]


def test_an_organiser_who_plays_sees_nothing_about_those_they_play_with(server, inbox, game, person):
    (seat,) = game.asked()
    other = game.person_at((seat + 1) % 3)
    inbox.replies(game, seat, "nothing that is a command")
    for each in (game.person_at(seat), person("Zoe")):
        server.store.write(lambda tx, each=each: reachability.note_refusal(tx, server, each, "550 5.1.1 no such user"))
    found = server.read(deliverability.summary, Actor(Role.ORGANISER, "Ben", 2, person_id=other))
    assert [each.person_id for each in found.left_alone] == [person("Zoe")]
    assert (found.unused, found.withheld) == ((), True)
    assert not server.read(deliverability.summary, OLGA).withheld


def test_an_organiser_who_plays_sees_no_emails_to_the_domains_of_the_others(server, game):
    mover, organiser, today = game.person_at(0), game.person_at(1), server.now().date()
    alone = "ann@ann.example"
    server.store.write(lambda tx: people.change(tx, mover, address=alone, mailbox=alone))
    server.store.write(lambda tx: traffic.count(tx, today, "sent", {"ann.example": 1, "zoe.example": 1}))
    found = server.read(deliverability.summary, Actor(Role.ORGANISER, "Ben", 2, person_id=organiser))
    assert [each.domain for each in found.providers] == ["zoe.example"]
    assert {"ann.example", "zoe.example"} <= {
        each.domain for each in server.read(deliverability.summary, OLGA).providers
    }


def test_the_page_reads_no_table_as_a_whole(server, clock, inbox, table):
    game = table("sun-bid", 2)
    Time(server, clock).sends()
    (seat,) = game.asked()
    inbox.replies(game, seat, "nothing that is a command")
    table_copies.copy(server, game.id, 500, rows=3)
    table_copies.analyse(server)
    actor = Actor(Role.ORGANISER, "Pat", 2, person_id=table_copies.FIRST + 1)
    statements = statements_of(server, lambda: server.read(deliverability.summary, actor))
    assert len(statements) <= MOST
    assert [each for statement, values in statements for each in scans(server, statement, values)] == []
