"""Calling the organiser."""

import json
from datetime import timedelta

import pytest

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.domain.states import CallStatus
from pbem.domain.user_text import LONGEST_TEXT
from pbem.service.desk import audit, calls
from pbem.service.outgoing.deliver import deliver
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.audit import AuditFilter
from pbem.store.schema.mail import AlarmRow
from tests.service.actors import ANN, calls_of
from tests.service.clock import HOUR
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.outgoing.test_deliver import post_to
from tests.service.races import meetings


def test_a_call_names_its_table_and_seat(server, table):
    game = table()
    ann = game.person_at(0)
    call_id = server.run(calls.call, ann, "My link is gone.\r\n\r\nWhat now?", game_id=game.id, seat=0)
    (found,) = calls_of(server)
    assert (found.id, found.person_id, found.game_id, found.seat) == (call_id, ann, game.id, 0)
    assert found.text == "My link is gone.\n\nWhat now?"


def test_a_call_names_the_turn_and_the_rules_once_the_game_has_begun(server, table, person):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    server.run(calls.call, game.person_at(seat), "May I not bid 10?", game_id=game.id, seat=seat)
    game.play(seat, "pass")
    server.run(calls.call, game.person_at(seat), "And now?", game_id=game.id, seat=seat)
    waiting = server.run(joining.create_table, person("Zoe"), TableSettings("templari", 3, {}, "1d")).game_id
    server.run(calls.call, person("Zoe"), "Nobody comes.", game_id=waiting)
    rules = game.row().rules
    assert [(call.turn, call.rules) for call in calls_of(server)] == [(1, rules), (2, rules), (None, None)]


def test_calls_wait_in_the_order_in_which_they_came(server, person, clock):
    for name in ("Ann", "Ben", "Cleo"):
        server.run(calls.call, person(name), f"{name} needs help")
        clock.advance(timedelta(minutes=1))
    assert [call.text for call in calls_of(server)] == [f"{name} needs help" for name in ("Ann", "Ben", "Cleo")]


def test_a_double_click_is_one_call(server, person):
    ann = person("Ann")
    assert server.run(calls.call, ann, "Help") == server.run(calls.call, ann, "Help ")
    assert len(calls_of(server)) == 1


def test_an_answer_is_emailed_to_the_caller_once(server, person):
    call_id = server.run(calls.call, person("Ann"), "Help")
    server.run(calls.answer, ANN, call_id, "It is mended.")
    server.run(calls.answer, ANN, call_id, "It is mended.")
    (email,) = queued_emails(server, person("Ann"), "call_answered")
    assert json.loads(email.facts) == {"call": "Help", "answer": "It is mended.", "done": "answered"}
    assert calls_of(server) == []
    (closed,) = calls_of(server, CallStatus.CLOSED)
    assert (closed.answer, closed.answered_at) == ("It is mended.", server.now())


def test_two_organisers_do_not_answer_the_same_call(server, person):
    call_id = server.run(calls.call, person("Ann"), "Help")
    server.run(calls.answer, ANN, call_id, "It is mended.")
    with pytest.raises(Gone):
        server.run(calls.answer, ANN, call_id, "It is not mended.")
    assert len(queued_emails(server, person("Ann"), "call_answered")) == 1


def test_closing_a_call_again_changes_nothing(server, person):
    call_id = server.run(calls.call, person("Ann"), "Help")
    server.run(calls.close, ANN, call_id, "It was a joke.")
    before = all_rows(server.store)
    server.run(calls.close, ANN, call_id, "It was a joke.")
    assert all_rows(server.store) == before
    assert calls_of(server) == []


@pytest.mark.parametrize("text", ["", "  \n ", "\x00\u202e", "x" * (LONGEST_TEXT + 1)], ids=len)
def test_a_call_has_some_text_and_not_too_much(server, person, text):
    ann = person("Ann")
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(calls.call, ann, text)
    with pytest.raises(BadInput):
        server.run(calls.call_from_address, "ben@example.org", text)
    assert all_rows(server.store) == before


def test_the_longest_text_is_stored_whole(server, person):
    server.run(calls.call, person("Ann"), "x" * LONGEST_TEXT)
    assert len(calls_of(server)[0].text) == LONGEST_TEXT


def test_a_person_can_call_five_times_an_hour(server, person, clock):
    ann = person("Ann")
    for number in range(calls.CALLS_AN_HOUR):
        server.run(calls.call, ann, f"Help {number}")
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(calls.call, ann, "Help at last")
    assert all_rows(server.store) == before
    server.run(calls.call, person("Ben"), "Help")
    clock.advance(timedelta(hours=1))
    server.run(calls.call, ann, "Help at last")


def strangers_call(server, number, address="stranger{}@example.org"):
    """Strangers call from as many networks."""
    for each in range(number):
        server.run(calls.call_from_address, address.format(each), f"Help {each}", network=f"192.0.2.{each}/32")


def test_after_twenty_calls_of_strangers_in_an_hour_each_network_has_one_more(server, person, clock):
    person("Ann")
    strangers_call(server, calls.STRANGERS_AN_HOUR)
    server.run(calls.call_from_address, "one.more@example.org", "Help", network="198.51.100.1/32")
    before = all_rows(server.store)
    # Whether the address is known makes no difference, so nobody learns it.
    for address in ("another@example.org", "ann@example.org"):
        with pytest.raises(TooMany):
            server.run(calls.call_from_address, address, "Help", network="198.51.100.1/32")
    assert all_rows(server.store) == before
    server.run(calls.call_from_address, "another@example.org", "Help", network="198.51.100.2/32")
    clock.advance(timedelta(hours=1))
    server.run(calls.call_from_address, "another@example.org", "Help again", network="198.51.100.1/32")


def test_strangers_can_call_so_often_in_all(server, clock, monkeypatch):
    monkeypatch.setattr(calls, "MOST_OF_STRANGERS", 25)
    strangers_call(server, 25)
    with pytest.raises(TooMany):
        server.run(calls.call_from_address, "one.more@example.org", "Help", network="198.51.100.1/32")
    clock.advance(timedelta(hours=1))
    server.run(calls.call_from_address, "one.more@example.org", "Help", network="198.51.100.1/32")


def test_two_strangers_at_the_same_moment_do_not_both_send_the_last_call(server, clock, monkeypatch):
    monkeypatch.setattr(calls, "MOST_OF_STRANGERS", 1)

    def call(at, text):
        try:
            return server.run(calls.call_from_address, f"stranger{at}@example.org", text, network=f"198.51.100.{at}/32")
        except TooMany:
            return None

    for number, meeting in enumerate(meetings(server.store)):
        outcomes = meeting(lambda at=number: call(1, f"Help {at}"), lambda at=number: call(2, f"Help, too {at}"))
        assert outcomes.count(None) == 1
        clock.advance(timedelta(hours=2))


def test_a_double_click_of_a_stranger_is_one_call(server, clock):
    for number, meeting in enumerate(meetings(server.store)):

        def call(text=f"Help {number}"):
            return server.run(calls.call_from_address, "stranger@example.org", text, network="198.51.100.1/32")

        one, other = meeting(call, call)
        assert one == other
        clock.advance(timedelta(hours=2))


def test_calls_of_known_people_are_read_before_those_of_strangers(server, person, clock):
    ann = person("Ann")
    strangers_call(server, 2)
    clock.advance(timedelta(minutes=1))
    server.run(calls.call, ann, "Help")
    found = server.read(calls.queue, ANN, "open")
    assert [each.row.proven for each in found.calls] == [True, False, False]


def test_one_network_of_strangers_can_call_five_times_an_hour(server, clock):
    for each in range(calls.CALLS_AN_HOUR):
        server.run(calls.call_from_address, f"stranger{each}@example.org", "Help", network="192.0.2.7/32")
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(calls.call_from_address, "one.more@example.org", "Help", network="192.0.2.7/32")
    assert all_rows(server.store) == before
    server.run(calls.call_from_address, "one.more@example.org", "Help", network="198.51.100.1/32")
    clock.advance(timedelta(hours=1))
    server.run(calls.call_from_address, "two.more@example.org", "Help", network="192.0.2.7/32")


def test_calls_of_strangers_do_not_use_up_those_of_known_people(server, person):
    ann = person("Ann")
    strangers_call(server, calls.STRANGERS_AN_HOUR)
    server.run(calls.call, ann, "Help")
    assert calls_of(server)[-1].person_id == ann


def test_typing_an_address_uses_up_no_call_of_its_owner(server, person):
    ann = person("Ann")
    strangers_call(server, calls.STRANGERS_AN_HOUR, "ann@example.org")
    for number in range(calls.CALLS_AN_HOUR):
        server.run(calls.call, ann, f"Help {number}")
    assert [call.proven for call in calls_of(server)] == [False] * calls.STRANGERS_AN_HOUR + [
        True
    ] * calls.CALLS_AN_HOUR


@pytest.mark.parametrize("closes", [calls.answer, calls.close])
def test_the_answer_to_an_unproven_call_quotes_nobody_to_the_player_whose_address_was_typed(
    server, person, clock, sink, closes
):
    person("Ann")
    number = server.run(calls.call_from_address, "ann@example.org", "I sell watches.")
    server.run(closes, ANN, number, "We buy none.")
    (email,) = queued_emails(server, person("Ann"), "call_answered")
    assert "watches" not in email.facts
    clock.advance(HOUR)
    deliver(server, post_to(sink))
    (arrived,) = sink.to("ann@example.org")
    assert "watches" not in arrived.text
    assert "You, or someone who entered your address, wrote to the organiser." in " ".join(arrived.text.split())


def test_an_alarm_names_only_a_caller_who_is_proven(server, person):
    server.run(calls.call, person("Ann"), "Help")
    server.run(calls.call_from_address, "ann@example.org", "Open the gates")
    says = [AlarmRow(*row).says for row in all_rows(server.store)["alarm"]]
    assert says == ["Ann: Help", "Sender not confirmed: Open the gates"]


def test_calling_from_an_address_sends_no_email_and_confirms_nothing(server):
    server.run(calls.call_from_address, "stranger@example.org", "Help")
    assert queued_emails(server) == []


def test_nobody_calls_from_anothers_seat_or_from_nowhere(server, person, table):
    game = table()
    zoe = person("Zoe")
    before = all_rows(server.store)
    for where, refusal in (
        ({"game_id": game.id, "seat": 0}, Forbidden),
        ({"game_id": game.id, "seat": 9}, Forbidden),
        ({"seat": 0}, Forbidden),
        ({"game_id": 99}, NotFound),
    ):
        with pytest.raises(refusal):
            server.run(calls.call, zoe, "Help", **where)
    for act in (calls.close, calls.answer):
        with pytest.raises(NotFound):
            server.run(act, ANN, 99, "Yes, of course.")
    assert all_rows(server.store) == before


def test_a_call_or_an_answer_that_breaks_leaves_nothing(server, person):
    ann = person("Ann")
    assert check_atomic(server.store, lambda: server.run(calls.call, ann, "Help")) > 3
    (call,) = calls_of(server)
    assert check_atomic(server.store, lambda: server.run(calls.answer, ANN, call.id, "Yes")) > 3


def test_closing_a_call_needs_a_reason_and_the_caller_reads_it(server, person):
    call_id = server.run(calls.call, person("Ann"), "Help")
    with pytest.raises(BadInput):
        server.run(calls.close, ANN, call_id, "")
    server.run(calls.close, ANN, call_id, "You have found it yourself.")
    (email,) = queued_emails(server, person("Ann"), "call_answered")
    assert json.loads(email.facts) == {"call": "Help", "answer": "You have found it yourself.", "done": "closed"}


def test_answers_and_closings_are_in_the_audit_without_their_text(server, table):
    game = table()
    for text in ("It is at ann@example.org", "I do not know"):
        call_id = server.run(calls.call, game.person_at(0), text, game_id=game.id)
        server.run(calls.answer, ANN, call_id, text + "!")
    server.run(calls.close, ANN, server.run(calls.call, game.person_at(1), "Help"), "It is the third time.")
    found = server.read(audit.newest, AuditFilter())
    assert [(row.act, row.reason, row.game_id, row.person_id) for row in found] == [
        ("close call", "It is the third time.", None, game.person_at(1)),
        ("answer", calls.CALLED, game.id, game.person_at(0)),
        ("answer", calls.CALLED, game.id, game.person_at(0)),
    ]


def test_an_act_settles_the_call_that_led_to_it_and_the_caller_hears_what_was_done(server, table):
    game, other = table(), table(doubles=True)
    call_id = server.run(calls.call, game.person_at(0), "My mail is gone.", game_id=game.id)

    def act(at):
        def work(tx):
            row = audit.record(tx, server, ANN, Act.RESEND, calls.CALLED, game_id=at.id)
            calls.close_by_act(tx, server, ANN, call_id, row)

        server.store.write(work)

    with pytest.raises(BadInput):
        act(other)
    act(game)
    act(game)
    (email,) = queued_emails(server, game.person_at(0), "call_answered")
    assert json.loads(email.facts)["done"] == "resend"
    assert calls_of(server) == []


def test_an_organiser_reads_no_calls_from_a_table_where_they_play(server, table, person):
    game = table()
    plays = Actor(Role.ORGANISER, "Ann", organiser_id=1, person_id=game.person_at(0))
    there = server.run(calls.call, game.person_at(1), "I hold the ace of moons.", game_id=game.id, seat=1)
    here = server.run(calls.call, person("Zoe"), "Help")
    read = server.read(calls.queue, plays, "open")
    assert ([each.row.id for each in read.calls], read.hidden) == ([here], 1)
    for act in (
        lambda: server.read(calls.details, plays, there),
        lambda: server.run(calls.answer, plays, there, "Do not say so."),
        lambda: server.run(calls.close, plays, there, "It is nothing."),
    ):
        with pytest.raises(Forbidden):
            act()
    found = server.read(calls.queue, ANN, "open")
    assert [(each.row.id, each.caller, each.table) for each in found.calls] == [
        (there, "Ben", game.row().title),
        (here, "Zoe", ""),
    ]
    assert found.hidden == 0
