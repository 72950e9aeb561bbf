"""Forms that strangers send: a person has time to fill them in, and a program that is too fast or too late is refused."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.tokens import SECRET_BYTES, Purpose, rotate
from pbem.web import form_time
from pbem.web.people import my_page
from tests.service.database import all_rows
from tests.service.tournaments.cup import open_cup
from tests.web.applications import application
from tests.web.browser import Browser

SECOND = timedelta(seconds=1)
NOT_TIMED = {
    # Nothing is typed there, and it is limited by network.
    "front.start_demo",
    # Nothing is stored, and one file is checked at a time.
    "verify.check",
    # Browsers fill it in and send it at once; it has limits of its own.
    "desk_account.sign_in",
    # The desk and one's own pages ask for a session, the API for a token; the mailbox is for trying out.
    "inbound.take",
    "dev_inbox.reply",
}


@pytest.fixture
def key(server, person):
    """The key of a table that waits for players."""
    return server.run(joining.create_table, person("Ann"), TableSettings("templari", 3, {}, "1d")).key


@pytest.fixture
def forms(server, key, links, person):
    """The pages with a form for strangers, each with the words on its button and what they type."""
    who = {"address": "zoe@example.org", "name": "Zoe"}
    return {
        "/mine": ("Send links", {"address": "ann@example.org"}),
        "/call": ("Send message", {"address": "zoe@example.org", "text": "Help me"}),
        "/new/templari": ("Open table", who),
        f"/tournaments/{open_cup(server, person('Ann'))}": ("Sign up", {"address": "zoe@example.org"}),
        f"/t/{key}": ("Join", who),
        f"/j/{links.made(Purpose.INVITE, person('Ann'), 1)}": ("Join", who),
    }


def pressed(browser, page, button, typed):
    """Press a button without taking any time."""
    form = page.form(button)
    fields = [(name, value) for name, value in form.fixed if name not in typed]
    return browser.post(form.action, fields + list(typed.items()))


def test_every_form_for_strangers_takes_a_person_some_time(browser, server, forms, clock):
    for path, (button, typed) in forms.items():
        page, before = browser.open(path), all_rows(server.store)
        clock.advance(form_time.QUICKEST - SECOND)
        refused = pressed(browser, page, button, typed)
        assert (refused.status, all_rows(server.store) == before) == (400, True), path
        assert "faster than anyone types" in refused.text
        assert set(typed.values()) <= {value for _, value in refused.form(button).fixed} | {"Help me"}, path
        assert "Help me" in refused.source or path != "/call"
        # A moment later the same button works: nobody waits twice, and nothing is typed again.
        clock.advance(SECOND)
        assert pressed(browser, refused, button, typed).url in ("/sent", "/called"), path
        assert all_rows(server.store) != before


@pytest.mark.parametrize("late", [form_time.LONGEST + SECOND, timedelta(days=400)])
def test_a_form_left_open_for_too_long_is_shown_again_and_then_works_at_once(browser, server, forms, clock, late):
    for path, (button, typed) in forms.items():
        page, before = browser.open(path), all_rows(server.store)
        clock.advance(late)
        refused = pressed(browser, page, button, typed)
        if refused.status == 410:
            continue
        assert (refused.status, all_rows(server.store) == before) == (400, True), path
        assert "open for too long" in refused.text
        assert pressed(browser, refused, button, typed).url in ("/sent", "/called"), path


def test_a_form_opened_before_the_clock_was_set_back_works_at_the_second_press(browser, clock):
    page = browser.open("/mine")
    clock.set(clock.now() - timedelta(hours=1))
    refused = pressed(browser, page, "Send links", {"address": "ann@example.org"})
    assert refused.status == 400
    clock.advance(form_time.QUICKEST)
    assert pressed(browser, refused, "Send links", {"address": "ann@example.org"}).url == "/sent"


def test_a_form_can_be_sent_for_a_day_and_after_a_change_of_keys(browser, server, settings, clock):
    page = browser.open("/mine")
    clock.advance(form_time.LONGEST)
    rotated = replace(server, keys=rotate(server.keys, b"n" * SECRET_BYTES, clock.now().date()))
    elsewhere = Browser(application(rotated, settings))
    assert pressed(elsewhere, page, "Send links", {"address": "ann@example.org"}).url == "/sent"


@pytest.mark.parametrize(
    "opened", [None, "", "-", "0", "x-y", "19e8a3b0c00-" + "0" * 32, "é" * 40, "f" * 90 + "-" + "0" * 8, "1" * 1000]
)
def test_a_form_without_our_signature_sends_nothing(browser, server, clock, opened):
    before = all_rows(server.store)
    fields = [("address", "ann@example.org"), *([] if opened is None else [(form_time.FIELD, opened)])]
    refused = browser.post("/mine", fields)
    assert (refused.status, all_rows(server.store) == before) == (400, True)
    clock.advance(form_time.QUICKEST)
    assert pressed(browser, refused, "Send links", {"address": "ann@example.org"}).url == "/sent"


def test_no_other_form_is_open_to_strangers(app):
    """Every form without a token and without a session is one of those above."""
    of_strangers = set()
    for rule in app.url_map.iter_rules():
        blueprint = app.before_request_funcs.get(rule.endpoint.partition(".")[0], ())
        signed_in = my_page.must_be_signed_in in blueprint
        guarded = signed_in or rule.rule.startswith(("/desk/", "/api/")) or "token" in rule.arguments
        if "POST" in rule.methods and not guarded:
            of_strangers.add(rule.endpoint)
    typed = {"sign_in.send_links", "contact.send", "new_table.create", "joining.join", "tournaments.ask"}
    assert of_strangers - NOT_TIMED == typed


def test_the_demo_is_one_press_away(browser):
    assert "This is a demo" in browser.open("/").form("Play now Sunset Poker against bots").press().text
