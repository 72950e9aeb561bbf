"""Broken, too large, forged or misplaced input gets a clear 4xx page, never a fault, and writes nothing."""

import logging
import re
from urllib.parse import urlencode

import pytest

from pbem.service import links as service_links
from pbem.tokens import Purpose
from tests.web.browser import HOST
from tests.web.test_reading_changes_nothing import everything

FORM = "application/x-www-form-urlencoded"

NUMBERS = ["", "x", "-1", "1.5", "1e3", "+1", " 1 2", "٣", "9" * 5000, "True", "1_0", "0x1"]
TEXTS = ["", "bid", "bid 99", "bid -1", "x" * 300, "x" * 9000, "\x1b[31mbid 7", "bid 7\nbid 8", "\u202ebid", "𓀀" * 100]


@pytest.fixture
def templari(table):
    return table("templari", 3)


@pytest.fixture
def seat(templari, links):
    """The token of the seat whose turn it is."""
    return links.of(templari, next(iter(templari.asked())))[1]


@pytest.fixture
def unchanged(server):
    """Check that the test writes nothing."""

    def since():
        return everything(server) == before

    before = everything(server)
    return since


def refused(page, *statuses):
    """Check that the page is a refusal that says what to do, and not a fault."""
    assert page.status in (statuses or range(400, 500)), page.text
    assert page.text.strip()
    assert "Something went wrong" not in page.text
    assert page.response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    return page


@pytest.mark.parametrize("number", NUMBERS)
def test_anything_but_a_number_is_refused(number, browser, seat, unchanged):
    for url, fields in (
        (f"/s/{seat}/play", [("turn", number), ("act", "1"), ("b0", "5"), ("press", "yes")]),
        (f"/s/{seat}/play", [("turn", "1"), ("act", number), ("b0", "5"), ("press", "yes")]),
        (f"/s/{seat}/play", [("turn", "1"), ("act", "1"), ("b0", number), ("press", "yes")]),
        (f"/s/{seat}/play", [("turn", number), ("choice", "pass")]),
        (f"/s/{seat}/back", [("turn", number)]),
    ):
        refused(browser.post(url, fields), 400)
    assert unchanged()


@pytest.mark.parametrize("text", TEXTS)
def test_an_impossible_choice_is_refused(text, browser, seat, unchanged):
    refused(browser.post(f"/s/{seat}/play", [("turn", "1"), ("choice", text), ("press", "yes")]), 400)
    refused(browser.open(f"/s/{seat}/sure?" + urlencode({"turn": "1", "choice": text})), 400)
    refused(browser.post(f"/s/{seat}/order", [("turn", "1"), ("order", text)]), 400)
    assert unchanged()


@pytest.mark.parametrize(
    "body", [b"turn=1&choice=%ff%fe", b"turn=1&choice=\xff", b"choice=%00", b"\xff=1", b"turn=%ED%A0%80"]
)
def test_a_form_that_is_not_utf_8_is_refused(body, browser, seat, unchanged):
    for path in ("play", "order", "call"):
        response = browser.client.post(f"/s/{seat}/{path}", data=body, content_type=FORM, base_url=HOST)
        assert response.status_code == 400
    assert unchanged()


@pytest.mark.parametrize(
    "path", ["/s/\xff\xfe", "/m/\xc3/pass", "/t/\x00", "/\xed\xa0\x80", "/s/a\x00b", "/api/v1/\xff"]
)
def test_an_address_that_is_not_utf_8_is_refused(path, browser, templari, unchanged):
    # The bytes of the address as WSGI has them: one character for each byte.
    for method in ("GET", "POST"):
        answer = browser.client.open("/", method=method, base_url=HOST, environ_overrides={"PATH_INFO": path})
        assert answer.status_code == 400
    refused(browser.open("/mailbox?to=%ff"), 400)
    assert unchanged()


@pytest.mark.parametrize("size", [70_000, 2_000_000])
def test_a_body_that_is_too_large_is_refused(size, browser, seat, unchanged):
    for path in (f"/s/{seat}/play", f"/s/{seat}/call", "/mine", "/call", f"/u/{seat}"):
        response = browser.client.post(path, data=b"text=" + b"x" * size, content_type=FORM, base_url=HOST)
        assert response.status_code == 413
        assert b"too much at once" in response.data
    response = browser.client.post("/api/v1/choice", data=b"[" * size, content_type="application/json", base_url=HOST)
    assert response.status_code in (401, 413)
    assert unchanged()


def test_a_form_with_too_many_fields_is_refused(browser, seat, unchanged):
    response = browser.client.post(f"/s/{seat}/play", data=b"a=1&" * 5000, content_type=FORM, base_url=HOST)
    assert response.status_code == 400
    assert unchanged()


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", "", "nonsense"])
def test_a_form_of_another_kind_is_refused(kind, browser, seat, unchanged):
    body = b'--x\r\nContent-Disposition: form-data; name="choice"\r\n\r\npass\r\n--x--\r\n'
    response = browser.client.post(f"/s/{seat}/play", data=body, content_type=kind, base_url=HOST)
    assert response.status_code == 400
    assert unchanged()


def test_forged_truncated_foreign_and_renewed_tokens_do_not_work(browser, seat, templari, server, links):
    forged = seat[:-1] + ("a" if seat[-1] != "a" else "b")
    foreign = links.made(Purpose.STOP, templari.person_at(0))
    for token in (forged, seat[:-1], seat + "a", foreign, "a" * 33, "x", "%20", "🦊"):
        for path in (f"/s/{token}", f"/m/{token}/pass", f"/c/{token}", f"/l/{token}"):
            refused(browser.open(path), 404)
        for path in (f"/s/{token}/play", f"/m/{token}/pass", f"/c/{token}", f"/s/{token}/resign"):
            fields = [("turn", "1"), ("choice", "pass"), ("sure", "yes")]
            refused(browser.post(path, fields), 404)
    server.run(service_links.revoke_seat, templari.id, next(iter(templari.asked())))
    assert "replaced with a new one" in refused(browser.open(f"/s/{seat}"), 410).text
    refused(browser.post(f"/s/{seat}/play", [("turn", "1"), ("choice", "pass")]), 410)


def test_unknown_games_tables_emails_and_pages_are_not_found(browser, unchanged):
    for path in (
        "/t/abc",
        "/new/chess",
        "/mailbox/20260101000000-0123456789abcdef",
        "/mailbox/..",
        "/nothing",
        "/s/",
        "/m/",
    ):
        refused(browser.open(path), 404)
    refused(browser.post("/new/chess", [("seats", "3")]), 404)
    assert unchanged()


def test_another_method_is_refused_with_a_list_of_the_right_ones(browser, seat):
    for method in ("PUT", "DELETE", "PATCH"):
        response = browser.client.open(f"/s/{seat}", method=method, base_url=HOST)
        assert response.status_code == 405
        assert "GET" in response.headers["Allow"]
    refused(browser.post(f"/s/{seat}", []), 405)
    refused(browser.open(f"/s/{seat}/play"), 405)


def test_a_request_for_another_site_is_refused(browser, seat):
    for path in (f"/s/{seat}", "/api/v1/decision", "/nothing"):
        answer = browser.client.get(path, base_url="http://evil.example")
        assert answer.status_code == 400
        assert b"no such site" in answer.data


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("address", "nobody"),
        ("address", "a@b@c"),
        ("address", "x" * 300 + "@example.org"),
        ("address", "Ann <ann@example.org>"),
        ("address", "ann@example.org\r\nBcc: all@example.org"),
        ("name", ""),
        ("name", "x" * 41),
        ("name", "you"),
        ("name", "see www.example.org"),
        ("title", "x" * 81),
        ("seats", "2"),
        ("seats", "7"),
        ("bots", "3"),
        ("bots", "99999999"),
        ("bots", "4"),
        ("other_pace", "fast"),
        ("other_pace", "1s"),
        ("other_pace", "Tue 25:00 Mars/Olympus"),
        ("option_max_auctions", "0"),
        ("option_max_auctions", "many"),
        ("option_reroll", "dice"),
        ("missed_limit", "1"),
        ("missed_limit", "1000"),
        ("grace", "9"),
        ("successor", "nobody"),
        ("invited", "ann"),
        ("invited", "\n".join(f"p{n}@example.org" for n in range(30))),
    ],
)
def test_an_impossible_table_is_refused_and_its_form_is_still_filled_in(field, value, browser, unchanged):
    form = browser.open("/new/bid").form("Open table")
    page = refused(form.press(**({"address": "ann@example.org", "name": "Ann"} | {field: value})), 400, 429)
    assert page.heading == "New table: Bid!"
    assert 'value="ann@example.org"' in page.source or field == "address"
    assert unchanged()


def test_an_unknown_bot_is_refused(browser, unchanged):
    form = browser.open("/new/bid").form("Open table")
    page = refused(form.press(address="ann@example.org", name="Ann", bots="1", bot="skynet"), 400)
    assert "There is no bot “skynet”." in page.text
    assert unchanged()


def test_a_public_form_from_another_site_does_nothing(browser, unchanged):
    form = browser.open("/new/bid").form("Open table")
    for says in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        browser.says = says
        refused(form.press(address="ann@example.org", name="Ann"), 403)
        refused(browser.post("/mine", [("address", "ann@example.org")]), 403)
        refused(browser.post("/call", [("address", "ann@example.org"), ("text", "x")]), 403)
    assert unchanged()


def test_every_form_from_another_site_is_refused_before_its_view(app, browser, unchanged):
    browser.says = {"Origin": "https://evil.example"}
    forms = [rule for rule in app.url_map.iter_rules() if "POST" in rule.methods and rule.endpoint != "inbound.take"]
    for rule in forms:
        if not rule.rule.startswith("/api/"):
            url = re.sub(r"<\w+>", "x", re.sub(r"<int:\w+>", "1", rule.rule))
            assert "sent from another site" in refused(browser.post(url, []), 403).text, rule.endpoint
    assert unchanged()


def test_a_fault_has_a_page_that_says_so_and_a_log_without_secrets(app, browser, seat, monkeypatch, caplog):
    def fails(*_):
        raise RuntimeError(f"cannot read {seat} of ann@example.org")

    app.view_functions["seat.show"] = fails
    with caplog.at_level(logging.ERROR):
        page = browser.open(f"/s/{seat}")
    assert page.status == 500
    assert "our fault" in page.text
    assert seat not in page.source
    assert "RuntimeError" not in page.source
