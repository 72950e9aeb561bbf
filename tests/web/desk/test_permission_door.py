"""Signing in to the desk: when an organiser is asked to, and what becomes of a form meanwhile."""

from datetime import timedelta

import pytest
from pyotp import TOTP

from pbem.service.desk import audit, calls, marks
from pbem.service.desk.sign_in import FRESH, TRIES, TRIES_OF_NETWORK
from pbem.service.people.sessions import ORGANISER_LIFETIME, PERSON_LIFETIME
from pbem.store.audit import AuditFilter
from pbem.store.sessions import Holder
from tests.service.actors import ANN, PASSPHRASE, add_organiser
from tests.service.database import all_rows, queued_emails
from tests.web.browser import HOST, Browser
from tests.web.desk_pages import signed_in


@pytest.fixture
def game(table):
    """A table whose host is Ann."""
    return table()


@pytest.fixture
def call(server, game):
    """The id of a call from that table."""
    return server.run(calls.call, game.person_at(0), "My link <b>is</b> gone.", game_id=game.id, seat=0)


def enter(page, passphrase=PASSPHRASE, name="Olga", **more):
    return page.form("Sign in").press(**{"desk-name": name, "desk-passphrase": passphrase, **more})


def test_signing_in_leads_to_the_page_that_was_asked_for(browser, server):
    add_organiser(server, "Olga")
    page = browser.open(browser.client.get("/desk/audit?act=ban", base_url=HOST).headers["Location"])
    assert page.heading == "Sign in to the desk"
    assert enter(page).url == "/desk/audit?act=ban"


@pytest.mark.parametrize(
    "to", ["https://evil.example/desk", "//evil.example/desk", "/\\evil.example", "/desk/../s/x", "/deskevil", ""]
)
def test_signing_in_leads_nowhere_else(browser, server, to):
    add_organiser(server, "Olga")
    answer = browser.client.post(
        "/desk/sign-in",
        data={"desk-name": "Olga", "desk-passphrase": PASSPHRASE, "to": to},
        headers=browser.says,
        base_url=HOST,
    )
    assert answer.headers["Location"] == "/desk"


def test_a_wrong_passphrase_is_refused_and_opens_nothing(browser, server):
    add_organiser(server, "Olga")
    page = enter(browser.open("/desk/sign-in"), "no")
    assert page.status == 403
    assert "That didn't work." in page.text
    assert "no" not in [value for _, value in page.form("Sign in").fixed]
    assert browser.open("/desk/calls").heading == ""


def test_guessing_passphrases_is_limited(browser, server):
    add_organiser(server, "Olga")
    for _ in range(TRIES):
        page = enter(browser.open("/desk/sign-in"), "no")
    assert enter(page).status == 429


def test_strangers_keep_no_organiser_out_who_has_signed_in_here_before(app, browser, server, clock):
    add_organiser(server, "Olga")
    enter(browser.open("/desk/sign-in"))
    browser.open("/desk/account").form("Sign out").press()
    stranger = Browser(app)
    for number in range(2 * TRIES_OF_NETWORK):
        name = "Olga" if number < TRIES else f"Nobody {number}"
        stranger.open("/desk/sign-in").form("Sign in").press(**{"desk-name": name, "desk-passphrase": "no"})
    assert enter(Browser(app).open("/desk/sign-in")).status == 429
    assert enter(browser.open("/desk/sign-in")).url == "/desk"
    # The passphrase is asked for again, while they go on.
    clock.advance(FRESH + timedelta(seconds=1))
    for _ in range(TRIES):
        enter(stranger.open("/desk/sign-in"), "no")
    asked = browser.open("/desk/account").form("Set it up").press()
    assert "secret" in asked.form("Continue").press(**{"desk-passphrase": PASSPHRASE}).text


def test_strangers_keep_no_organiser_out_who_has_opened_an_emailed_link_in_a_new_browser(browser, server, sign_in):
    olga = add_organiser(server, "Olga")
    for _ in range(TRIES + 1):
        refused = enter(browser.open("/desk/sign-in"), "no")
    assert refused.status == 429
    assert "sign in here with an emailed link first" in refused.text
    sign_in(olga.person_id)
    assert enter(browser.open("/desk/sign-in")).url == "/desk"


def test_the_cookies_are_sent_to_this_site_alone(browser, server):
    add_organiser(server, "Olga")
    enter(browser.open("/desk/sign-in"))
    for name in ("pbem-organiser", "pbem-device"):
        cookie = browser.client.get_cookie(name)
        assert (cookie.http_only, cookie.same_site, cookie.path) == (True, "Lax", "/")


def test_another_site_can_neither_sign_in_nor_send_a_form(browser, server, call, olga):
    before = all_rows(server.store)
    browser.says |= {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    for address in ("/desk/sign-in", f"/desk/calls/{call}/answer", "/desk/sign-out"):
        sent = browser.post(address, [("desk-name", "Olga"), ("desk-passphrase", PASSPHRASE), ("text", "Evil")])
        assert sent.status == 403
        assert "another site" in sent.text
        assert "Evil" not in sent.text
    assert all_rows(server.store) == before


def test_a_form_survives_the_end_of_a_session(olga, server, call, clock):
    form = olga.open(f"/desk/calls/{call}").form("Send reply")
    clock.advance(ORGANISER_LIFETIME)
    asked = form.press(text="It is in <the other> folder.\nGreetings")
    assert asked.heading == "Sign in to the desk"
    assert queued_emails(server, kind="call_answered") == []
    wrong = asked.form("Sign in").press(**{"desk-name": "Olga", "desk-passphrase": "no"})
    assert "That didn't work." in wrong.text
    done = wrong.form("Sign in").press(**{"desk-name": "Olga", "desk-passphrase": PASSPHRASE})
    assert "It is in <the other> folder.\nGreetings" in done.source.replace("&lt;", "<").replace("&gt;", ">").replace(
        "\r\n", "\n"
    )
    assert len(queued_emails(server, kind="call_answered")) == 1
    assert olga.open("/desk/calls").status == 200


def test_signing_in_with_a_form_counts_even_if_the_form_is_refused(browser, server, call):
    add_organiser(server, "Olga")
    mark = server.read(marks.mark, {"call_id": call})
    asked = browser.post(f"/desk/calls/{call}/close", [("reason", "no"), ("of", mark)])
    refused = asked.form("Sign in").press(**{"desk-name": "Olga", "desk-passphrase": PASSPHRASE})
    assert "Please give a reason of 3 to 500 characters." in refused.text
    assert browser.open("/desk/calls").status == 200


def test_a_host_comes_from_my_games_and_helps_without_a_passphrase(sign_in, server, game):
    host = game.row().host_id
    table = sign_in(host).follow("Host's desk")
    table.follow("Pause table").forms()[0].press(reason="We are all at the fair.").forms()[0].press()
    assert game.row().paused
    assert server.read(audit.newest, AuditFilter())[0].actor == "host 1"
    others = [each.person_id for each in game.players().values() if each.person_id != host]
    assert "Host's desk" not in sign_in(others[0]).links()


def test_nobody_but_organisers_can_tell_which_numbers_are_tables(browser, server, game, person):
    signed_in(browser, server, Holder(person_id=person("Zoe")))
    asked = [browser.open(f"/desk/tables/{number}") for number in (game.id, game.id + 1, 2**40)]
    assert {(page.status, page.heading) for page in asked} == {(asked[0].status, asked[0].heading)}
    tried = [browser.post(f"/desk/tables/{number}/pause", [("reason", "x")]) for number in (game.id, game.id + 1)]
    assert {(page.status, page.heading) for page in tried} == {(403, tried[0].heading)}


def test_a_host_sees_no_call_and_no_answer(sign_in, server, game, call):
    server.run(calls.answer, ANN, call, "Do not mind the host.")
    page = sign_in(game.row().host_id).follow("Host's desk")
    assert "organiser Ann" not in page.text
    assert calls.CALLED not in page.text


def test_the_form_of_a_host_survives_the_end_of_a_session(browser, sign_in, server, clock, game):
    host = game.row().host_id
    form = sign_in(host).follow("Host's desk").follow("Pause table").forms()[0]
    clock.advance(PERSON_LIFETIME)
    asked = form.press(reason="We are all at the fair.")
    assert asked.heading == "Sign in to the desk"
    signed_in(browser, server, Holder(person_id=host))
    assert "We are all at the fair." in asked.form("Send it now").press().text


def test_a_form_sent_twice_is_done_once(olga, server, call):
    form = olga.open(f"/desk/calls/{call}").form("Send reply")
    for _ in range(2):
        assert "It is mended." in form.press(text="It is mended.").text
    assert len(queued_emails(server, kind="call_answered")) == 1


def test_a_refused_form_is_shown_again_as_it_was_filled_in(olga, server, call):
    page = olga.open(f"/desk/calls/{call}").form("Dismiss message").press(reason="see ann@example.org")
    assert page.status == 400
    assert ("reason", "see ann@example.org") in page.form("Dismiss message").fixed


def test_an_act_that_cannot_be_undone_needs_the_passphrase_again(olga, server, clock):
    clock.advance(FRESH + timedelta(seconds=1))
    asked = olga.open("/desk/account").form("Set it up").press()
    assert asked.heading == "Enter your passphrase again"
    wrong = asked.form("Continue").press(**{"desk-passphrase": "no"})
    assert "That didn't work." in wrong.text
    assert "secret" in wrong.form("Continue").press(**{"desk-passphrase": PASSPHRASE}).text
    assert "secret" in olga.open("/desk/account").form("Set it up").press().text


def test_codes_can_be_set_up_and_are_then_asked_for(olga, app, server, clock):
    page = olga.open("/desk/account").form("Set it up").press()
    form = page.form("Turn it on")
    secret = dict(form.fixed)["secret"]
    assert "This code doesn't match" in form.press(code="000000").text
    form.press(code=TOTP(secret).at(server.now()))
    clock.advance(timedelta(minutes=1))
    phone = Browser(app)
    assert enter(phone.open("/desk/sign-in")).status == 403
    code = TOTP(secret).at(server.now())
    assert enter(phone.open("/desk/sign-in"), **{"desk-code": code}).url == "/desk"
    clock.advance(timedelta(minutes=1))
    olga.open("/desk/account").form("Turn it off").press()
    assert enter(Browser(app).open("/desk/sign-in")).url == "/desk"


def test_a_browser_can_sign_out_another(app, olga, server):
    phone = Browser(app)
    enter(phone.open("/desk/sign-in"))
    olga.open("/desk/account").form("Sign out browser").press()
    assert phone.open("/desk/calls").heading == ""
    olga.open("/desk/account").form("Sign out").press()
    assert olga.open("/desk/calls").heading == ""


def test_a_new_passphrase_counts_and_is_never_shown_again(olga, server):
    form = olga.open("/desk/account").form("Change passphrase")
    page = form.press(**{"desk-old": PASSPHRASE, "desk-new": "short"})
    assert page.status == 400
    assert PASSPHRASE not in page.source
    assert form.press(**{"desk-old": PASSPHRASE, "desk-new": "another four words here"}).status == 200


def test_passphrases_are_not_kept_when_a_session_ends(olga, clock):
    form = olga.open("/desk/account").form("Change passphrase")
    clock.advance(ORGANISER_LIFETIME)
    asked = form.press(**{"desk-old": PASSPHRASE, "desk-new": "another four words here"})
    assert PASSPHRASE not in asked.source
    assert "another four words here" not in asked.source
