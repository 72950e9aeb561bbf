"""A person's pages: signing in by a link, tables by urgency, resending emails, and settings."""

import re
from datetime import timedelta

import pytest

from pbem.domain.bounce import Bounce
from pbem.service.clocks import reachability, vacations
from pbem.service.desk.acts.clocks import Freeze
from pbem.service.outgoing import preferences
from pbem.service.people import addresses, blocks, sessions
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.database import all_rows, count_calls, queued_emails
from tests.web.applications import application
from tests.web.browser import HOST, Browser

MOST_QUERIES = 13
MOST_BYTES = 60_000

PAGES = ("/my", "/my/mails", "/my/settings")


@pytest.fixture
def ann(person):
    return person("Ann")


# Signing in


def test_opening_the_link_signs_nobody_in_and_its_button_does(browser, links, ann, server):
    before = all_rows(server.store)
    page = browser.open(f"/l/{links.made(Purpose.SIGN_IN, ann)}")
    assert page.heading == "Welcome back, Ann"
    assert browser.open("/my").response.headers["Location"] == "/mine"
    assert {k: v for k, v in all_rows(server.store).items() if k != "link"} == {
        k: v for k, v in before.items() if k != "link"
    }
    assert page.form("Sign in").press().heading == "Your games, Ann"
    assert browser.open("/my").heading == "Your games, Ann"


def test_the_email_with_a_persons_games_signs_in(browser, carry, ann):
    browser.open("/mine").form("Send links").press(address="ann@example.org")
    carry()
    (address,) = {
        href.removeprefix(HOST)
        for email in browser.open("/mailbox?to=ann@example.org").hrefs()
        if re.fullmatch(r"/mailbox/\d+-\w+", email)
        for href in browser.open(email).links().values()
        if "/l/" in href
    }
    assert browser.open(address).form("Sign in").press().url == "/my"


def test_a_press_that_seems_not_to_be_a_persons_signs_in_only_when_repeated(browser, links, ann):
    form = browser.open(f"/l/{links.made(Purpose.SIGN_IN, ann)}").form("Sign in")
    browser.says = {"Origin": HOST, "Sec-Fetch-Mode": "cors"}
    page = form.press()
    assert page.heading == "Sign in?"
    assert page.form("Sign in").press().url == "/my"


def test_the_cookie_is_sent_to_this_site_alone_and_over_https_to_this_host(browser, links, ann, server, settings):
    from dataclasses import replace

    path = f"/l/{links.made(Purpose.SIGN_IN, ann)}"
    cookie = browser.client.post(path, headers=browser.says, base_url=HOST).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert "Domain" not in cookie
    public = replace(settings, base_url="https://play.example.org", trusted_hosts=("play.example.org",))
    client = application(server, public).test_client()
    path = f"/l/{links.made(Purpose.SIGN_IN, ann)}"
    cookie = client.post(path, base_url="https://play.example.org").headers["Set-Cookie"]
    assert cookie.startswith("__Host-pbem-person=")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))


@pytest.mark.parametrize("path", PAGES)
def test_people_who_are_not_signed_in_are_led_to_the_form_for_a_link(path, browser, app, sign_in, ann, clock):
    assert browser.open(path).response.headers["Location"] == "/mine"
    sign_in(ann)
    assert browser.open(path).status == 200
    assert Browser(app).open(path).status == 303
    clock.advance(sessions.PERSON_LIFETIME)
    assert browser.open(path).status == 303


def forms_of(page):
    return [form.action for form in page.forms()]


def test_forms_from_another_site_or_without_a_session_are_refused(browser, app, table, sign_in, server, carry):
    game = table("templari", 3)
    server.run(joining.create_table, game.person_at(0), TableSettings("bid", 3))
    server.run(vacations.book_text, game.person_at(0), "2026-12-20 to 2026-12-27")
    carry()
    sign_in(game.person_at(0))
    actions = {action for path in PAGES for action in forms_of(browser.open(path))}
    assert len(actions) >= 6
    before = all_rows(server.store)
    aliases = {kind: server.keys.alias(kind, row) for kind, row in (("game", game.id), ("mail", 1), ("cancel", 1))}
    fields = aliases | {"seat": "0", "name": "Mallory"}
    for action in actions:
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert browser.client.post(action, data=fields, headers=headers, base_url=HOST).status_code == 403
        answer = Browser(app).post(action, list(fields.items()))
        assert answer.status == 403
        assert "You're no longer signed in" in answer.text
    assert all_rows(server.store) == before


def test_no_form_counts_the_rows_of_others(browser, table, sign_in, server, carry, links):
    """The number of an email would tell how many others were emailed before, also about a choice made in secret."""
    game = table("templari", 3)
    ann = game.person_at(0)
    server.run(joining.join, server.run(joining.create_table, ann, TableSettings("bid", 3)).game_id, ann)
    server.run(vacations.book_text, ann, "2026-12-20 to 2026-12-27")
    server.run(sessions.start, Holder(person_id=ann), "Firefox on Linux")
    server.run(blocks.block, links.of(game, 0)[1], 1)
    carry()
    sign_in(ann)
    named = {kind: set() for kind in ("game", "mail", "cancel", "session", "person")}
    for path in ("/my", "/my/mails", "/my/settings", "/my/account"):
        for form in browser.open(path).forms():
            for name, value in form.fixed:
                named.get(name, set()).add(value)
    assert all(named.values())
    for values in named.values():
        assert all(re.fullmatch("[a-z2-7]{33}", value) for value in values)


# Tables


def test_tables_that_wait_for_a_move_come_first_and_lead_to_the_seat(browser, table, sign_in, carry, server):
    others = table("templari", 3, title="Later", pace="7d")
    game = table("templari", 3, title="Sooner", pace="1d")
    carry()
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    while others.person_at(next(iter(others.asked()))) != person:
        others.play(next(iter(others.asked())), next(iter(others.asked().values())).default)
    page = sign_in(person)
    assert page.text.index("Your turn") < page.text.index("Sooner") < page.text.index("Later")
    assert "Move by Sun 22 Nov 2026" in page.text
    at_table = page.form("Go to table").press()
    assert at_table.url.startswith("/s/")
    assert "Sooner" in at_table.text


def test_every_page_leads_its_reader_and_nobody_else_to_the_next_turn(
    app, browser, table, sign_in, carry, clock, server
):
    game = table("templari", 3, title="Sunset & Sons", pace="1d")
    carry()
    seat = next(iter(game.asked()))
    sign_in(game.person_at(seat))
    paths = (
        "/",
        "/games/bid",
        "/help",
        "/my/settings",
        "/new/bid",
        f"/t/{game.row().key}",
        f"/t/{game.row().key}/replay",
    )
    for path in paths:
        for _ in range(2):
            with count_calls(server.store) as made:
                page = browser.open(path)
            assert "Next: Sunset & Sons" in page.text
            assert "1 day left" in page.text
            assert len([each for each in made if "ORDER BY deadline.due_at IS NULL" in each]) == 1
        assert "Next:" not in Browser(app).open(path).text
    assert page.form("Next: Sunset & Sons").press().url.startswith("/s/")
    game.play(seat, game.asked()[seat].default)
    assert "Next:" not in browser.open("/").text


def test_the_time_zone_of_the_browser_is_offered_until_one_is_chosen(browser, sign_in, ann, server):
    page = sign_in(ann)
    assert "static/zone.js" in page.source
    saved = page.form("Use the browser's:").press()
    assert "Time zone saved." in saved.text
    assert "static/zone.js" not in saved.source
    assert browser.post("/my/zone", [("zone", "Moon")]).status == 400
    browser.post("/my/zone", [("zone", "Europe/Paris")])
    assert server.read(addresses.read, ann).zone == "Europe/Paris"


def test_a_frozen_table_is_still_listed(browser, sign_in, table, server):
    game = table("templari", 3, title="Friday")
    moderate(server, Freeze(game.id), "A player thinks a turn was logged wrongly.")
    page = sign_in(game.person_at(next(iter(game.players()))))
    assert "Your turn" not in page.text
    assert "Paused: no clocks are running." in page.text
    assert "Friday" in page.form("Go to table").press().text


def test_a_waiting_table_leads_to_its_page(browser, sign_in, ann, server):
    server.run(
        joining.join,
        server.run(joining.create_table, ann, TableSettings("bid", 3, private=True, title="Secret")).game_id,
        ann,
    )
    page = sign_in(ann)
    assert "1 of 3 seats taken. You're the host." in page.text
    assert "You have a seat, under the name Ann" in page.form("Go to table").press().text


def test_a_finished_game_leads_to_its_result(browser, sign_in, table, server):
    game = table("sunset-poker", 3, title="Friday")
    for seat in game.players():
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    page = sign_in(game.person_at(0))
    assert "Ended without a result on Sat 21 Nov 2026." in page.text
    assert "Friday" in page.form("Result").press().text


@pytest.mark.parametrize("path", ["/my/seat", "/my/again", "/my/table"])
def test_nobody_gets_to_a_table_of_others(path, browser, sign_in, table, person, server):
    game = table("templari", 3)
    waiting = server.run(joining.create_table, person("Ben"), TableSettings("bid", 3)).game_id
    sign_in(person("Zoe"))
    for game_id in (game.id, waiting, 99):
        answer = browser.post(path, [("game", server.keys.alias("game", game_id)), ("seat", "0")])
        assert answer.status in (403, 404, 410)
        assert "/s/" not in answer.source


def test_pages_take_few_queries_and_bytes_however_many_tables_there_are(browser, sign_in, table, ann, server, carry):
    for _ in range(6):
        table("templari", 3, title="A table")
        server.run(joining.join, server.run(joining.create_table, ann, TableSettings("bid", 3)).game_id, ann)
        over = table("sunset-poker", 3)
        for seat in over.players():
            server.run(leaving.agree_to_end, over.id, over.person_at(seat))
    carry()
    sign_in(ann)
    for path in PAGES:
        with count_calls(server.store) as made:
            page = browser.open(path)
        assert page.status == 200
        queries = [each for each in made if not each.startswith(("BEGIN", "COMMIT"))]
        assert len(queries) <= MOST_QUERIES, (path, queries)
        assert len(page.source.encode()) < MOST_BYTES


def test_pages_run_the_sites_script_and_no_other(browser, sign_in, ann):
    sign_in(ann)
    for path in PAGES:
        page = browser.open(path)
        scripts = re.findall('<script src="/static/([^?]*)', page.source)
        assert scripts == ["countdown.js", "zone.js"][: 2 if path == "/my" else 1]
        assert page.source.count("<script") == len(scripts)
        policy = page.response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
    assert "script" not in browser.open("/").response.headers["Content-Security-Policy"]


# Emails


def test_people_can_resend_their_own_emails_alone(browser, app, links, sign_in, table, carry, server):
    game = table("templari", 3)
    carry()
    seat = next(iter(game.asked()))
    page = sign_in(game.person_at(seat)).follow("Emails")
    assert "handed to the mail server" in page.text
    again = page.form("Resend")
    assert "queued" in again.press().text
    before = all_rows(server.store)
    again.press()
    assert all_rows(server.store) == before, "pressed twice is once"
    carry()
    (of_other, *_) = queued_emails(server, game.person_at((seat + 1) % 3))
    of_other = server.keys.alias("mail", of_other.id, of_other.queued_at.isoformat())
    assert browser.post("/my/mails/again", [("mail", of_other)]).status == 404


def test_resending_emails_is_limited(browser, sign_in, table, carry, server):
    game = table("templari", 3)
    carry()
    person = game.person_at(next(iter(game.asked())))
    again = sign_in(person).follow("Emails").form("Resend")
    for _ in range(10):
        assert again.press().status == 200
        carry()
    assert again.press().status == 429


def test_a_turn_is_emailed_again_once_however_often_the_button_is_pressed(browser, sign_in, table, carry, server):
    game = table("templari", 3)
    carry()
    person = game.person_at(next(iter(game.asked())))
    form = sign_in(person).form("Resend email")
    form.press(), form.press()
    assert len(queued_emails(server, person, "turn")) == 2


def test_delivery_is_chosen_on_the_page_and_for_one_table_on_its_own(browser, sign_in, table, carry, server):
    game = table("templari", 3, title="Friday")
    carry()
    person = game.person_at(0)
    page = sign_in(person).follow("Emails")
    assert "Sent right away." in page.text
    page = page.form("Save timing").press(delivery="after", minutes=45)
    assert str(server.read(preferences.read, person).delivery) == "after 45m"
    page = page.form("Save timing").press(delivery="daily", digest_at="07:30")
    assert server.read(preferences.read, person).digest_at.hour == 7
    page = page.form("Save timing").press(delivery="nothing")
    assert "Only on request." in page.text
    assert page.form("Save timing").press(delivery="often").status == 400
    assert page.follow("Friday").heading == "Emails about Friday are off"


def test_failing_emails_are_announced_until_a_newer_link_signs_in(browser, sign_in, table, carry, clock, server, links):
    game = table("templari", 3)
    person = game.person_at(0)
    old = links.made(Purpose.SIGN_IN, person)
    clock.advance(timedelta(minutes=1))
    server.run(reachability.note_bounce, person, Bounce.COMPLAINT, "it is spam")
    page = browser.open(f"/l/{old}").form("Sign in").press()
    assert "We can't reach you by email" in page.text
    before = len(queued_emails(server, person, "links"))
    assert page.form("Email me a link").press().heading == "Check your email"
    assert len(queued_emails(server, person, "links")) == before + 1
    carry()
    emails = browser.open(f"/mailbox?to={server.read(addresses.read, person).address}")
    href = next(
        href
        for email in emails.hrefs()
        if re.fullmatch(r"/mailbox/\d+-\w+", email)
        for href in browser.open(email).links().values()
        if "/l/" in href
    )
    page = browser.open(href.removeprefix(HOST)).form("Sign in").press()
    assert "reach you by email" not in page.text


# Settings


def test_settings_are_saved_all_or_none(browser, sign_in, ann, server):
    page = sign_in(ann).follow("Settings")
    page = page.form("Save settings").press(zone="Europe/Berlin", quiet="22:00-07:00", sealed="yes")
    assert "Settings saved." in page.text
    assert 'value="Europe/Berlin"' in page.source
    before = all_rows(server.store)
    wrong = page.form("Save settings").press(name="Annabel", zone="Mars/Olympus")
    assert wrong.status == 400
    assert 'value="Mars/Olympus"' in wrong.source, "what was typed stands there to be corrected"
    assert 'value="Annabel"' in wrong.source
    assert all_rows(server.store) == before


def test_a_vacation_can_be_booked_and_cancelled(browser, sign_in, ann):
    page = sign_in(ann).follow("Settings").form("Book").press(first="2026-12-20", last="2026-12-27")
    assert "Sun 20 Dec 2026 to Sun 27 Dec 2026" in page.text
    assert "20 Dec" not in page.form("Cancel vacation").press().text
    assert page.form("Book").press(first="2026-12-27", last="2026-12-20").status == 400


def test_a_name_with_html_or_reversed_letters_is_shown_as_text(browser, sign_in, ann, server):
    server.run(addresses.change_settings, ann, name="<b>Ann</b> שלום")
    for path in PAGES:
        sign_in(ann)
        assert "<b>" not in browser.open(path).source
    assert "<bdi>&lt;b&gt;Ann&lt;/b&gt; שלום</bdi>" in browser.open("/my").source
