"""The inbox of calls: read, answered, closed, or closed by an act at the table."""

import json

import pytest

from pbem.service.desk import audit, calls, table
from pbem.service.play.rules import rules_of
from pbem.store.audit import AuditFilter
from pbem.store.sessions import Holder
from tests.service.actors import ANN, add_organiser, calls_of
from tests.service.database import count_calls, queued_emails
from tests.web.browser import Browser
from tests.web.desk_pages import signed_in


@pytest.fixture
def game(table):
    """A table."""
    return table()


@pytest.fixture
def call(server, game):
    """The id of a call from that table."""
    return server.run(calls.call, game.person_at(0), "My link <b>is</b> gone.\n\nWhat now?", game_id=game.id, seat=0)


def test_a_call_is_in_the_list_and_can_be_answered(olga, server, call, game):
    page = olga.open("/desk/calls").follow(game.players()[0].name)
    assert "My link <b>is</b> gone." in page.text
    after = page.form("Send reply").press(text="It is in the other folder.")
    assert "It is in the other folder." in after.text
    assert len(queued_emails(server, kind="call_answered")) == 1
    assert "No open messages." in olga.open("/desk/calls").text
    assert "My link" in olga.open("/desk/calls").follow("All closed messages").text


def test_a_call_leads_to_an_act_at_its_table_and_is_closed_by_it(olga, server, call, game):
    table = olga.open(f"/desk/calls/{call}").follow(f"Open table: {game.row().title}")
    form = table.follow("Give more time")
    assert calls.CALLED in form.text
    form.forms()[0].press(reason=calls.CALLED).forms()[0].press()
    (email,) = queued_emails(server, game.person_at(0), "call_answered")
    assert json.loads(email.facts)["done"] == "extend"
    assert "No open messages." in olga.open("/desk/calls").text


def test_the_message_of_a_call_is_shown_beside_the_acts_at_its_table(olga, call, game):
    assert "My link <b>is</b> gone." in olga.open(f"/desk/tables/{game.id}?call={call}").text


def test_an_organiser_sees_what_the_caller_saw_when_they_called(olga, server, call, game):
    before, turn = game.view(0), game.row().turn
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    assert game.view(0) != before
    page = olga.open(f"/desk/calls/{call}")
    assert f"Sent on turn {turn}, under version {game.row().rules} of the rules." in page.text
    seen = page.form("View").press(reason="The caller asks about it.")
    assert seen.heading == f"As seat 1 saw it on turn {turn}"
    assert server.read(audit.newest, AuditFilter(act="see as"))[0].reason == "The caller asks about it."
    at_the_time = server.run(table.see_as, ANN, game.id, 0, "to compare", turn)
    assert at_the_time.board == rules_of(game.row()).board(before, 0)
    assert at_the_time.prompt is not None


def test_organisers_see_only_the_number_of_calls_from_tables_where_they_play(browser, server, call, game):
    name = game.players()[1].name
    plays = signed_in(browser, server, Holder(organiser_id=add_organiser(server, name).id))
    page = plays.open("/desk/calls")
    assert "Another organiser has to read one message" in page.text
    assert "My link" not in page.text
    assert plays.open(f"/desk/calls/{call}").status == 403


def test_the_desk_says_whether_a_caller_is_proven(olga, app, server, person, call):
    person("Zoe")
    form = Browser(app).open("/call").form("Send message")
    assert form.press(address="zoe@example.org", text="Give my seat to Mallory.").heading
    listed = olga.open("/desk/calls")
    assert "· unconfirmed" in listed.text
    assert "Unconfirmed sender: this address may not be theirs" in listed.follow("Zoe").text
    assert "Confirmed sender: they used one" in olga.open(f"/desk/calls/{call}").text


def test_a_call_from_a_signed_in_browser_is_proven_and_needs_no_address(app, server, person):
    zoe = signed_in(Browser(app), server, Holder(person_id=person("Zoe")))
    form = zoe.open("/call").form("Send message")
    assert form.texts == ["text"]
    # A form that was opened before signing in names an address; it no longer counts.
    form.press(text="My mails do not come.", address="mallory@example.org")
    (found,) = calls_of(server)
    assert (found.person_id, found.proven) == (person("Zoe"), True)


def test_calls_of_strangers_are_limited_by_network(app, server):
    form = Browser(app).open("/call").form("Send message")
    pressed = [form.press(address=f"s{each}@example.org", text="Help") for each in range(calls.CALLS_AN_HOUR + 1)]
    assert [page.status for page in pressed] == [200] * calls.CALLS_AN_HOUR + [429]
    elsewhere = Browser(app)
    elsewhere.client.environ_base["REMOTE_ADDR"] = "198.51.100.7"
    assert elsewhere.open("/call").form("Send message").press(address="s@example.org", text="Help").status == 200


def test_many_long_calls_take_few_queries_and_little_room(olga, server, person, clock):
    for number in range(calls.MOST_SHOWN):
        server.run(calls.call, person(f"Caller {number}"), f"{number} " + "y" * 3900)
    with count_calls(server.store) as made:
        page = olga.open("/desk/calls")
    assert len([each for each in made if each.startswith("SELECT")]) <= 12
    assert len(page.source) < 60_000


def test_a_call_leads_to_an_act_about_its_caller_and_is_closed_by_it(olga, server, call, game):
    form = olga.open(f"/desk/calls/{call}").follow(f"Open {game.players()[0].name}'s page").follow("Ban").forms()[0]
    form.press(reason="They ask for it.").forms()[0].press()
    (email,) = queued_emails(server, game.person_at(0), "call_answered")
    assert json.loads(email.facts)["done"] == "ban"
