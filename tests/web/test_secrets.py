"""Secrets: no hidden cards and no email addresses on pages, no tokens in logs, and protective headers."""

import io
import re

import pytest

from pbem import program_log
from pbem.service.play import by_link
from pbem.tokens import Purpose
from tests.service.database import holds_token
from tests.web.applications import application
from tests.web.browser import HOST


@pytest.fixture
def poker(table):
    """A game in which every hand is known to its player alone, after eight cards were picked from passed packs."""
    game = table("sunset-poker", 3)
    while game.row().turn < 10:
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    return game


def words(game, seat):
    """The words for the cards of a hand."""
    rules = game.row().kind
    from engine import registry

    return {registry.load(rules).word(card) for card in game.view(seat).hands[seat]}


def pages_of(browser, links, server, game, seat):
    """All pages of a seat."""
    move, token = links.of(game, seat)
    page = browser.open(f"/s/{token}")
    yield page.source
    for form in page.acts():
        # Nothing is filled in, so this is refused, or it is what the page asks anyway.
        yield form.press().source
    yield browser.open(f"/m/{move}/fold").source
    yield browser.open(f"/m/{move}/play-x").source
    yield browser.open(f"/s/{token}/sure?turn={game.row().turn}&choice=fold").source
    yield browser.post(
        f"/s/{token}/play", [("turn", str(game.row().turn)), ("choice", "play"), ("press", "yes")]
    ).source
    headers = {"Authorization": f"Bearer {server.run(by_link.api_token, token)}"}
    for path in ("decision", "view", "board", "history"):
        yield browser.client.get(f"/api/v1/{path}", headers=headers, base_url=HOST).get_data(as_text=True)


def test_no_page_and_no_answer_shows_a_card_of_another_hand(browser, links, server, poker):
    hands = [words(poker, seat) for seat in range(3)]
    assert all(len(hand) == 9 for hand in hands)
    for seat in range(3):
        shown = " ".join(pages_of(browser, links, server, poker, seat))
        assert all(re.search(rf"\b{word}\b", shown) for word in hands[seat])
        for other in range(3):
            if other != seat:
                assert not [word for word in hands[other] if re.search(rf"\b{word}\b", shown)]


def test_a_program_sees_that_other_hands_are_hidden_and_nothing_else_of_them(browser, links, server, poker):
    for seat in range(3):
        token = server.run(by_link.api_token, links.of(poker, seat)[1])
        headers = {"Authorization": f"Bearer {token}"}
        view = browser.client.get("/api/v1/view", headers=headers, base_url=HOST).get_json()["view"]
        for other, hand in enumerate(view["hands"]):
            assert ({"is": "HIDDEN"} in hand) == (other != seat)
            assert len(hand) == 9
            assert other == seat or all(card == {"is": "HIDDEN"} for card in hand)


def test_nobody_sees_whether_another_player_has_sealed_a_choice(browser, links, table):
    game = table("sunset-poker", 3)
    one, other = links.of(game, 0)[1], links.of(game, 1)[1]
    before = browser.open(f"/s/{other}").source
    browser.open(f"/s/{one}").act("Pick").press(b0=1)
    assert browser.open(f"/s/{other}").source == before


def test_no_email_address_is_on_any_page(browser, links, server, poker):
    for seat in range(3):
        assert "@example.org" not in "".join(pages_of(browser, links, server, poker, seat))


def test_the_log_of_many_requests_has_no_token_and_no_address(browser, links, server, poker, app, person):
    stream = io.StringIO()
    program_log.configure(stream)
    app.view_functions["choice.ask"] = lambda token: 1 / 0
    for seat in range(3):
        list(pages_of(browser, links, server, poker, seat))
    browser.open(f"/l/{links.made(Purpose.SIGN_IN, person('Ann'))}")
    browser.post("/mine", [("address", "ann@example.org")])
    browser.post("/call", [("address", "ann@example.org"), ("text", "Hello, it is ann@example.org")])
    browser.post(f"/s/{'a' * 33}/play", [])
    log = stream.getvalue()
    assert "ZeroDivisionError" in log
    assert "example.org" not in log
    assert not holds_token(server, log.encode())


def test_every_answer_has_its_headers(app, browser, links, poker):
    token = links.of(poker, 0)[1]
    for path in ("/", f"/s/{token}", "/nothing", "/api/v1/decision", "/t/x", "/static/pbem.css"):
        with browser.client.get(path, base_url=HOST) as answer:
            headers = answer.headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none';")
        live = path.startswith("/s/")
        assert policy.partition("; script-src ")[2] == ("'self'; connect-src 'self'" if live else "")
        assert "frame-ancestors 'none'" in policy
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        if not path.startswith("/static"):
            assert headers["Cache-Control"] == "no-store"
            # Everyone may find the front page.
            assert ("noindex" in headers.get("X-Robots-Tag", "")) == (path != "/")
        assert "Set-Cookie" not in headers


def test_pages_run_nothing_and_fetch_only_the_sites_style_sheet_icon_and_manifest(browser, links, server, poker):
    for seat in range(3):
        for source in pages_of(browser, links, server, poker, seat):
            # The one script is the site's own, and a page is whole without it.
            assert set(re.findall("<script[^>?]*", source)) <= {'<script src="/static/live.js'}
            assert source.count("<script") == source.count('" defer></script>')
            assert not re.search(r"<img|<iframe|<object|\son\w+=|style=|javascript:", source)
            files = {
                "/manifest.webmanifest",
                "/static/pbem.css",
                "/static/favicon.svg",
                "/static/favicon-turn.svg",
                "/static/icon.png",
            }
            assert set(re.findall(r'<link[^>]*href="([^"?]*)', source)) <= files
            assert not re.search(r'(?:href|action|src)="(?:https?:)?//', source)


def test_the_title_of_a_page_has_no_secret(browser, links, poker):
    assert "<title>Your turn: Sunset Poker</title>" in browser.open(f"/s/{links.of(poker, 0)[1]}").source
    assert "<title>Sunset Poker</title>" in browser.open(f"/m/{links.of(poker, 0)[0]}/fold").source


def test_the_inbox_exists_only_in_development(server, settings):
    from dataclasses import replace

    client = application(server, replace(settings, development=False)).test_client()
    assert client.get("/mailbox", base_url=HOST).status_code == 404
    assert b"Test inbox" not in client.get("/", base_url=HOST).data


def test_the_inbox_makes_links_of_addresses_of_this_site_alone(browser, settings):
    from pbem.service.outgoing.post import mailbox_of

    email = (
        "From: a@example.org\r\nTo: ann@example.org\r\nSubject: <b>x</b>\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n"
        "Message-ID: <1@x>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
        'See http://localhost:8000/s/abc. Not http://localhost:8000.evil.example/x "<script>" nor javascript:alert(1)\r\n'
    )
    key = mailbox_of(settings).put(email.encode())
    page = browser.open(f"/mailbox/{key}")
    assert page.links()["http://localhost:8000/s/abc"] == "/s/abc"
    assert not any("evil" in str(href) or "javascript" in str(href) for href in page.links().values())
    assert "<script>" not in page.source
    assert "<b>x" not in page.source
