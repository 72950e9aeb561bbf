"""A desk after a restore: a form that was opened before does nothing to the rows that have its numbers now."""

import dataclasses

import pytest

from pbem.service.desk import calls, marks
from pbem.service.people import addresses, sessions
from pbem.service.tables import joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store.sessions import Holder
from pbem.web.desk.acts import FORMS
from tests.service.clock import HOUR
from tests.service.database import all_rows, queued_emails
from tests.web.desk_pages import at_the_desk

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

LOST = "This form is about something that no longer exists."
WHY = "It was asked for."


@pytest.fixture
def desk(browser, server):
    return at_the_desk(browser, server)


@pytest.fixture
def game(table):
    return table("templari", 3)


@pytest.fixture
def backup(backup, game, desk):
    """A backup of a server with a desk and a game."""
    return backup


def rows_of(server):
    return {name: rows for name, rows in all_rows(server.store).items() if name != "session"}


def does_nothing(server, form, **typed):
    before = rows_of(server)
    refused = form.press(**typed)
    assert LOST in refused.text
    assert refused.status == 410
    assert rows_of(server) == before


def newcomer(server, name):
    return server.run(addresses.register, f"{name.lower()}@example.org", name).id


def preview(desk, page, **typed):
    return desk.open(page).forms()[0].press(**typed, reason=WHY, step="preview").forms()[0]


@pytest.mark.parametrize("act", ["ban", "address", "delete", "export"])
def test_a_newcomer_is_spared_what_was_to_be_done_to_someone_with_their_number(desk, server, backup, act):
    restore = backup()
    number = newcomer(server, "Spammer")
    typed = {"address": "else@example.org"} if act == "address" else {}
    form = preview(desk, f"/desk/people/{number}/{act}", **typed)
    restore()
    assert newcomer(server, "Innocent") == number
    does_nothing(server, form, step="do")


def test_nobody_is_merged_with_a_newcomer_who_has_the_other_number(desk, server, person, backup):
    ann, restore = person("Ann"), backup()
    number = newcomer(server, "Annabel")
    form = preview(desk, f"/desk/people/{ann}/merge", other=str(number))
    restore()
    assert newcomer(server, "Innocent") == number
    does_nothing(server, form, step="do")


def test_another_table_with_the_number_stays_as_it_is(desk, server, person, backup):
    restore = backup()

    def opened(title):
        return server.run(joining.create_table, person("Ann"), TableSettings("bid", 3, title=title)).game_id

    number = opened("One")
    form = preview(desk, f"/desk/tables/{number}/close")
    restore()
    assert opened("Another") == number
    does_nothing(server, form, step="do")


def test_a_table_is_not_changed_by_what_was_planned_in_a_record_that_is_lost(desk, server, game, backup):
    restore = backup()
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    form = preview(desk, f"/desk/tables/{game.id}/extend", more="2d", seat="all")
    restore()
    does_nothing(server, form, step="do")


def test_another_line_with_the_number_is_not_redacted(desk, server, game, backup):
    restore = backup()
    server.run(talk.say, game.id, 0, game.person_at(0), "You fools.")
    form = preview(desk, f"/desk/tables/{game.id}/redact", line="1")
    restore()
    server.run(talk.say, game.id, 1, game.person_at(1), "Well played.")
    does_nothing(server, form, step="do")


def test_another_email_with_the_number_is_not_sent_again(desk, server, person, clock, backup):
    restore = backup()
    newcomer(server, "Spammer")
    number = queued_emails(server, kind="confirm")[-1].id
    form = preview(desk, f"/desk/resend-mail?mail={number}", mail=str(number))
    restore()
    clock.advance(HOUR)
    newcomer(server, "Innocent")
    assert queued_emails(server, kind="confirm")[-1].id == number
    does_nothing(server, form, step="do")


@pytest.mark.parametrize("button", ["Send reply", "Dismiss message"])
def test_another_caller_does_not_get_the_answer(desk, server, game, clock, backup, button):
    restore = backup()

    def call(seat, text):
        return server.run(calls.call, game.person_at(seat), text, game_id=game.id, seat=seat)

    number = call(0, "My link is gone.")
    form = desk.open(f"/desk/calls/{number}").form(button)
    restore()
    assert call(1, "I hold the red seven.") == number
    does_nothing(server, form, text="It is in the other folder.", reason=WHY)


def test_another_call_is_not_closed_by_an_act(desk, server, game, backup):
    restore = backup()
    number = server.run(calls.call, game.person_at(0), "More time, please.", game_id=game.id, seat=0)
    form = preview(desk, f"/desk/tables/{game.id}/extend?call={number}", more="2d", seat="all")
    restore()
    server.run(calls.call, game.person_at(1), "I hold the red seven.", game_id=game.id, seat=1)
    does_nothing(server, form, step="do")


@pytest.mark.parametrize("button", ["View", "Read"])
def test_nobody_looks_at_a_table_that_only_has_the_number(desk, server, game, backup, button):
    restore = backup()
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    form = desk.open(f"/desk/tables/{game.id}").form(button)
    restore()
    does_nothing(server, form, reason=WHY)


def test_no_browser_is_signed_out_that_has_the_number_of_another(desk, server, clock, backup):
    olga = Holder(organiser_id=1)
    restore = backup()
    server.run(sessions.start, olga, "A stranger's")
    form = desk.open("/desk/account").form("Sign out browser")
    restore()
    clock.advance(HOUR)
    server.run(sessions.start, olga, "My phone")
    assert form.press().status == 400
    assert next(each.label for each in server.read(sessions.open_sessions, olga)) == "My phone"


def test_a_form_still_works_after_the_table_has_gone_on(desk, server, game):
    form = preview(desk, f"/desk/tables/{game.id}/pause")
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    assert form.press(step="do").heading == "Done"
    assert game.row().paused


def test_a_form_without_a_mark_does_nothing(desk, server, game):
    form = preview(desk, f"/desk/tables/{game.id}/pause")
    does_nothing(server, form, step="do", of="")


def test_every_number_of_a_row_in_an_act_has_a_mark(server):
    numbers = {
        field.name
        for form in FORMS.values()
        for field in dataclasses.fields(form.make)
        if field.name.endswith("_id") or field.name == "line"
    }
    assert numbers <= {*marks._MARKS, "game_id"}
