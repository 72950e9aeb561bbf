"""What another site can do to a visitor's browser: show it a page of this one, and neither sign it in nor out."""

from dataclasses import replace

import pytest

from pbem.domain.errors import Forbidden
from pbem.tokens import Purpose
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from tests.service.database import all_rows
from tests.web.applications import application
from tests.web.browser import HOST

CLICK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"}
ELSEWHERE = [
    {"Origin": "https://evil.example"} | CLICK,
    # Pages with `no-referrer`, or in a sandbox, hide where they are.
    {"Origin": "null"},
    {"Origin": "null", "Sec-Fetch-Site": "cross-site"} | CLICK,
    {"Sec-Fetch-Site": "cross-site"} | CLICK,
    {"Sec-Fetch-Site": "same-site"} | CLICK,
    {"Referer": "https://evil.example/localhost:8000"},
    {"Referer": "https://localhost:8000.evil.example/"},
]
HERE = [
    {},
    {"Referer": f"{HOST}/l/x"},
    {"Origin": HOST},
    {"Origin": "null", "Sec-Fetch-Site": "same-origin"} | CLICK,
    {"Sec-Fetch-Site": "same-origin"} | CLICK,
]


def pressed(browser, path, says, **more):
    """Press the button of a page as a page that says this of itself would."""
    return browser.client.post(path, data={"sure": "yes"} | more, headers=says, base_url=HOST)


def test_a_link_opened_from_elsewhere_shows_a_button_that_signs_in(browser, links, person):
    path = f"/l/{links.made(Purpose.SIGN_IN, person('Ann'))}"
    opened = browser.client.get(path, headers={"Sec-Fetch-Site": "cross-site"} | CLICK, base_url=HOST)
    assert "Set-Cookie" not in opened.headers
    assert browser.client.get_cookie(Cookie.PERSON) is None
    assert browser.open(path).form("Sign in").press().url == "/my"


@pytest.mark.parametrize("says", ELSEWHERE, ids=str)
def test_no_other_site_signs_a_browser_in(browser, links, person, server, says):
    path = f"/l/{links.made(Purpose.SIGN_IN, person('Mallory'))}"
    before = all_rows(server.store)
    answer = pressed(browser, path, says)
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    assert all_rows(server.store) == before


@pytest.mark.parametrize("says", ELSEWHERE, ids=str)
@pytest.mark.parametrize("path", ["/d/{disown}", "/y/{disown}", "/my/out", "/desk/sign-out", "/desk/sign-in"])
def test_no_other_site_signs_a_browser_out(browser, links, person, server, sign_in, says, path):
    sign_in(person("Ann"))
    path = path.format(disown=links.made(Purpose.DISOWN, person("Mallory")))
    before = all_rows(server.store)
    answer = pressed(browser, path, says, **{"desk-name": "Mallory", "desk-passphrase": "x"})
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    assert all_rows(server.store) == before
    assert browser.open("/my").status == 200


@pytest.mark.parametrize("says", HERE, ids=str)
def test_every_browser_can_sign_in_from_our_own_page(browser, links, person, says):
    answer = pressed(browser, f"/l/{links.made(Purpose.SIGN_IN, person('Ann'))}", says)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/my")
    assert browser.open("/my").status == 200


@pytest.mark.parametrize("says", ELSEWHERE, ids=str)
def test_no_view_can_change_a_cookie_for_another_site(app, says):
    with app.test_request_context("/", headers=says):
        with pytest.raises(Forbidden):
            session_cookie.set_on(app.response_class(), Cookie.PERSON, "secret")
        with pytest.raises(Forbidden):
            session_cookie.delete_from(app.response_class(), Cookie.PERSON)


def test_no_page_changes_a_cookie_by_being_opened(app, browser, sign_in, person):
    sign_in(person("Ann"))
    for rule in app.url_map.iter_rules():
        if "GET" in rule.methods and not rule.arguments:
            says = {"Sec-Fetch-Site": "cross-site"} | CLICK
            answer = browser.client.get(rule.rule, headers=says, base_url=HOST, buffered=True)
            assert "Set-Cookie" not in answer.headers, rule.rule


@pytest.mark.parametrize("host", ["play.example.org", "www.example.org"])
@pytest.mark.parametrize("says", ["Origin", "Referer"])
def test_a_page_that_came_unencrypted_is_another_site_where_ours_is_encrypted(
    server, settings, links, person, says, host
):
    hosts = ("play.example.org", "www.example.org", "localhost")
    secure = replace(settings, base_url="https://play.example.org", trusted_hosts=hosts)
    path, client = f"/l/{links.made(Purpose.SIGN_IN, person('Mallory'))}", application(server, secure).test_client()
    unencrypted = {says: f"http://{host}" + ("/" if says == "Referer" else "")}
    refused = client.post(path, data={"sure": "yes"}, headers=unencrypted, base_url=f"https://{host}")
    assert (refused.status_code, "Set-Cookie" in refused.headers) == (403, False)
    public, local = "https://play.example.org", "http://localhost"
    for number, (base, own) in enumerate(((public, {"Origin": public}), (public, {}), (local, {"Origin": local}))):
        link = f"/l/{links.made(Purpose.SIGN_IN, person(f'Ann {number}'))}"
        done = client.post(link, data={"sure": "yes"}, headers=own, base_url=base)
        assert (done.status_code, "Set-Cookie" in done.headers) == (303, True)
