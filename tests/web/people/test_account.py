"""A person's account: sign-ins, the file of stored data, another address, and deleting the account."""

import json
import re

import pytest

from pbem.service.account import change_address
from pbem.service.people import addresses, sessions
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.database import all_rows, count_calls, holds_token, queued_emails
from tests.web.browser import HOST, Browser

ADDRESS = "ann@example.org"


@pytest.fixture
def ann(person):
    return person("Ann")


@pytest.fixture
def newest(browser, carry):
    """newest(address, start) -> the page of the link that begins so, in the newest email there with such a link."""

    def of(address, start):
        carry()
        for href in browser.open(f"/mailbox?to={address}").hrefs():
            if re.fullmatch(r"/mailbox/\d+-\w+", href):
                for link in browser.open(href).links().values():
                    if link.removeprefix(HOST).startswith(start):
                        return browser.open(link.removeprefix(HOST))
        raise AssertionError(f"no email to {address} has a link {start}")

    return of


def account(page):
    return page.follow("Account")


def test_the_account_lists_every_browser_and_signs_out_the_others(browser, sign_in, ann, server):
    page = sign_in(ann)
    secret = server.run(sessions.start, Holder(person_id=ann), "Safari on iPhone")
    page = account(page)
    assert "this one" in page.text
    assert "Safari on iPhone" in page.text
    page = page.form("Sign out").press()
    assert "Safari on iPhone" not in page.text
    assert server.read(sessions.find, secret) is None
    for _ in range(3):
        server.run(sessions.start, Holder(person_id=ann), "Edge on Windows")
    page = browser.open("/my/account").form("Sign out elsewhere").press()
    assert "Edge on Windows" not in page.text
    assert len(server.read(sessions.open_sessions, Holder(person_id=ann))) == 1


def test_a_browser_is_named_by_its_user_agent(app, links, ann, server):
    phone = Browser(app)
    phone.says |= {"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1"}
    phone.open(f"/l/{links.made(Purpose.SIGN_IN, ann)}").form("Sign in").press()
    assert "Safari on iPhone · this one" in phone.open("/my/account").text


def test_signing_out_ends_the_session_and_deletes_the_cookie(browser, sign_in, ann, server):
    page = account(sign_in(ann)).form("Sign out here").press()
    assert page.url.partition("?")[0] == "/"
    assert "signed out" in page.text
    assert browser.open("/my").status == 303
    assert server.read(sessions.open_sessions, Holder(person_id=ann)) == []


def test_nobody_can_end_the_session_of_another_person(browser, sign_in, ann, person, server):
    ben = Holder(person_id=person("Ben"))
    server.run(sessions.start, ben, "")
    (of_ben,) = server.read(sessions.open_sessions, ben)
    sign_in(ann)
    assert browser.post("/my/sessions", [("session", server.keys.alias("session", of_ben.id))]).status == 404
    assert server.read(sessions.open_sessions, ben) == [of_ben]


def test_downloading_the_stored_data_changes_nothing(browser, sign_in, table, server, carry):
    game = table("sunset-poker", 3)
    carry()
    sign_in(game.person_at(0))
    before = all_rows(server.store)
    answer = browser.client.get("/my/data.json", base_url=HOST)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="my-data.json"'
    assert json.loads(answer.data)["person"]["address"] == server.read(addresses.read, game.person_at(0)).address
    assert not holds_token(server, answer.data)
    assert all_rows(server.store) == before
    assert browser.open("/my/account").follow("What it contains").heading == "Your data"


def test_another_address_counts_once_it_is_confirmed_there(browser, sign_in, newest, ann, server):
    form = account(sign_in(ann)).form("Send email")
    assert form.press(address="ann").status == 400
    assert form.press(address="new@example.net").heading == "Check your email"
    page = newest("new@example.net", "/y/")
    before = all_rows(server.store)
    assert "Ann" in browser.open(page.url).text
    assert all_rows(server.store) == before
    assert page.form("Use this address").press().heading == "Address changed"
    assert server.read(addresses.read, ann).address == "new@example.net"
    assert browser.open("/my").status == 303
    assert newest("new@example.net", "/u/").status == 200


def test_only_a_persons_click_confirms(browser, sign_in, newest, ann, server):
    account(sign_in(ann)).form("Delete account…").press()
    page = newest(ADDRESS, "/y/")
    browser.says = {"Origin": HOST, "Sec-Fetch-Mode": "cors"}
    asked = page.form("Delete account").press()
    assert "Nothing has changed yet" in asked.text
    assert server.read(addresses.read, ann).name == "Ann"
    browser.says = {"Origin": "https://evil.example"}
    assert page.form("Delete account").press().status == 403
    assert server.read(addresses.read, ann).name == "Ann"


def test_an_account_is_deleted_completely_once_that_is_confirmed_by_email(browser, sign_in, newest, ann, server):
    assert account(sign_in(ann)).form("Delete account…").press().heading == "Check your email"
    page = newest(ADDRESS, "/y/")
    assert server.read(addresses.read, ann).name == "Ann"
    assert page.form("Delete account").press().heading == "Goodbye"
    assert ADDRESS not in repr([email.body for email in queued_emails(server, ann)])
    assert browser.open("/my").status == 303
    assert browser.open(page.url).status == 410


def test_the_account_page_takes_few_queries(browser, sign_in, ann, server):
    sign_in(ann)
    with count_calls(server.store) as made:
        assert browser.open("/my/account").status == 200
    assert len([each for each in made if not each.startswith(("BEGIN", "COMMIT"))]) <= 8


def test_this_was_not_me_signs_a_stranger_out_once_its_button_is_pressed(browser, sign_in, newest, ann, server):
    account(sign_in(ann)).form("Send email").press(address="new@example.net")
    before = all_rows(server.store)
    page = newest(ADDRESS, "/d/")
    assert page.heading == "Did someone else use your account?"
    assert all_rows(server.store).keys() == before.keys()
    assert len(server.read(sessions.open_sessions, Holder(person_id=ann))) == 1
    browser.says = {"Origin": HOST, "Sec-Fetch-Mode": "cors"}
    assert "Nothing has changed yet" in page.form("This wasn't me").press().text
    assert len(server.read(sessions.open_sessions, Holder(person_id=ann))) == 1
    browser.says = {}
    assert page.form("This wasn't me").press().heading == "Check your email"
    assert server.read(sessions.open_sessions, Holder(person_id=ann)) == []
    assert newest(ADDRESS, "/l/").form("Sign in").press().url == "/my"


def test_this_was_not_me_says_so_where_someone_else_plays_with_the_address(
    browser, sign_in, newest, ann, server, person, table
):
    account(sign_in(ann)).form("Send email").press(address="new@example.net")
    page = newest(ADDRESS, "/d/")
    server.run(change_address.change_address, ann, "new@example.net")
    holder = person("Ann")
    assert holder != ann
    table("sun-bid", 2)
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    refused = page.form("This wasn't me").press()
    assert "Contact the organiser now" in refused.text
    assert server.read(sessions.find, stranger) is None


def test_a_second_press_of_sign_in_leads_to_the_same_page(browser, links, ann, app):
    address = f"/l/{links.made(Purpose.SIGN_IN, ann)}"
    form = browser.open(address).form("Sign in")
    assert form.press().url == "/my"
    assert form.press().url == "/my"
    assert Browser(app).open(address).status == 410
