"""Emails handed in over HTTP, and the page that asks a player whether a reply was their own."""

import hmac
from dataclasses import replace

import pytest

from engine import grammar
from pbem.tokens import Purpose
from tests.service.database import all_rows, queued_emails
from tests.service.inbox import Inbox
from tests.web.applications import application
from tests.web.browser import HOST, Browser

SECRET = "a secret between two servers"
TO = "r+" + "a" * 33 + "@localhost"


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def taking(server, settings):
    """A browser on a server that takes emails over HTTP."""
    return Browser(application(server, replace(settings, inbound=replace(settings.inbound, secret=SECRET))))


def signed(clock, body, sender="ann@example.org", to=TO, secret=SECRET, age=0):
    """The headers of an email that is handed in."""
    time = str(int(clock.now().timestamp()) - age)
    signature = hmac.digest(secret.encode(), f"{time}\n{sender}\n{to}\n".encode() + body, "sha256").hex()
    return {"X-Pbem-From": sender, "X-Pbem-To": to, "X-Pbem-Time": time, "X-Pbem-Signature": signature}


def hands_in(browser, headers, body):
    return browser.client.post("/inbound", data=body, headers=headers, content_type="message/rfc822", base_url=HOST)


def test_an_email_handed_in_twice_is_stored_once(taking, inbox, clock, table):
    game = table("sunset-poker", 3)
    to = inbox.reply_address(game, 0).replace("play.example.org", "localhost")
    # Larger than any form may be.
    body = inbox.written(game, 0, "talk hello\r\n" + "> and so on\r\n" * 20_000)
    assert len(body) > 200_000
    for _ in range(3):
        assert hands_in(taking, signed(clock, body, to=to), body).status_code == 204
    assert [row.status for row in inbox.rows()] == ["waiting"]


def test_an_email_without_a_valid_signature_is_not_even_counted(taking, server, clock):
    body = b"Subject: x\r\n\r\nbid 7\r\n"
    good = signed(clock, body)
    before = all_rows(server.store)
    for headers in (
        {},
        {**good, "X-Pbem-Signature": ""},
        {**good, "X-Pbem-Signature": "é"},
        {**good, "X-Pbem-Signature": good["X-Pbem-Signature"][:-1]},
        {**good, "X-Pbem-From": "ben@evil.example"},
        {**good, "X-Pbem-To": "b" + TO[1:]},
        {**good, "X-Pbem-Time": str(int(good["X-Pbem-Time"]) + 1)},
        signed(clock, body, secret="another"),
        signed(clock, body, age=301),
        signed(clock, body, age=-301),
        signed(clock, body + b" "),
    ):
        assert hands_in(taking, headers, body).status_code == 403
    assert hands_in(taking, signed(clock, body, to=""), body).status_code == 400
    assert hands_in(taking, signed(clock, body, to="x" * 400), body).status_code == 400
    assert all_rows(server.store) == before
    assert hands_in(taking, good, body).status_code == 204


def test_an_email_that_is_too_large_is_refused(taking, settings, server, clock):
    body = b"x" * (settings.limits.mail_bytes + 1)
    before = all_rows(server.store)
    assert hands_in(taking, signed(clock, body), body).status_code == 413
    assert all_rows(server.store) == before


def test_without_a_secret_no_email_is_taken(browser, clock):
    assert hands_in(browser, signed(clock, b"x", secret=""), b"x").status_code == 404


# Was it you?


@pytest.fixture
def asked(inbox, server, table):
    """A game, and the address of the page that asks about a reply."""
    game = table("sunset-poker", 3)
    decision = game.open()[0]
    choice = grammar.write(decision, decision.default)
    inbox.replies(game, 0, f"{choice}\r\n\r\n> quoted", Authentication_Results=None)
    (email,) = queued_emails(server, kind="was_it_you")
    return game, choice, "/w/" + inbox.token(Purpose.WRITTEN, person_id=email.person_id, outbox_id=email.id)


def test_the_email_about_a_reply_leads_to_its_page(inbox, server, table, carry, browser, settings):
    game = table("sunset-poker", 3)
    inbox.replies(game, 0, "<b>bid</b>", Authentication_Results=None)
    carry()
    page = browser.open("/mailbox")
    email = next(page.follow(words) for words in page.links() if "did you" in words)
    leads_to = next(each for each in email.hrefs() if "/w/" in each)
    asked = browser.open(leads_to[leads_to.index("/w/") :])
    assert asked.heading == "Was this you?"
    assert "<b>bid</b>" in asked.text


def test_opening_the_page_changes_nothing_and_the_button_carries_out_the_reply(browser, server, asked):
    game, choice, address = asked
    before = all_rows(server.store)
    page = browser.open(address)
    assert choice in page.text
    assert "quoted" not in page.text
    assert all_rows(server.store) == before
    done = page.form("I wrote this").press()
    assert done.heading == "Thank you"
    assert game.open()[0]
    assert 0 not in game.asked()
    assert browser.open(address).heading == "Thank you"


def test_the_other_button_drops_the_reply(browser, asked):
    game, _, address = asked
    page = browser.open(address)
    assert page.form("This wasn't me").press().heading == "Nothing changed"
    assert page.form("I wrote this").press(sure="yes").heading == "Nothing changed"
    assert 0 in game.asked()


def test_a_press_that_seems_not_to_be_a_persons_carries_out_nothing(browser, asked):
    game, _, address = asked
    del browser.says["Sec-Fetch-User"]
    asking = browser.open(address).form("I wrote this").press()
    assert 0 in game.asked()
    assert asking.heading == "Did you write this?"
    asking.form("I wrote this").press()
    assert 0 not in game.asked()


def test_the_number_of_another_reply_is_refused(browser, asked, server):
    game, _, address = asked
    foreign, of_mail = server.keys.alias("number", 99), server.keys.alias("mail", 1)
    for number, status in (("", 400), ("x", 400), ("1", 400), (of_mail, 400), (foreign, 404)):
        for where in (address, f"{address}/no"):
            assert browser.post(where, [("number", number)]).status == status
    assert 0 in game.asked()


def test_another_site_cannot_press_the_button(browser, asked):
    game, _, address = asked
    browser.says = {"Origin": "https://evil.example"}
    assert browser.post(address, [("number", "1"), ("sure", "yes")]).status == 403
    assert browser.post(f"{address}/no", [("number", "1")]).status == 403
    assert 0 in game.asked()
