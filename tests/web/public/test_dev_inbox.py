"""The inbox in development: the HTML of an email in a frame where nothing runs, light or dark."""

from dataclasses import replace

import pytest

from engine import grammar
from pbem.mail.wire import serialise
from pbem.service.incoming import authenticity, processing
from pbem.service.outgoing.post import mailbox_of
from pbem.service.people import addresses
from pbem.web.public import dev_inbox
from tests.mail.test_wire import EMAIL
from tests.web.browser import HOST

# None of these pages reads the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

HTML = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>
p {{ color: rgb(1, 1, 1); }}
@media (prefers-color-scheme: dark) {{ p {{ color: rgb(254, 254, 254) !important; }} }}
</style><script>document.title = "ran"</script></head>
<body><p style="margin: 0">Ann: what do you bid?</p><a href="{HOST}/open?x=1">Bid 7</a>
<img src="{HOST}/static/pbem.css" onerror="parent.document.title='ran'"></body></html>
"""


@pytest.fixture
def key(settings):
    """The key of an email in the inbox."""
    return mailbox_of(settings).put(serialise(replace(EMAIL, html=HTML)))


def test_an_email_is_shown_as_html_and_as_text_with_its_headers_source_and_size(browser, settings, key):
    page = browser.open(f"/mailbox/{key}")
    assert f'src="/mailbox/{key}/html?scheme=light"' in page.source
    assert 'sandbox="allow-top-navigation-by-user-activation"' in page.source
    size = f"{len(mailbox_of(settings).read(key).content) / 1024:.1f} KB"
    for words in ("Ann: what do you bid?", "Message-ID", size, f"/mailbox/{key}/source"):
        assert words in page.source
    assert "<p style" not in page.source, "what a mail brings is markup in its frame only"


def test_an_email_is_shown_in_each_width_and_mode_offered_and_in_no_other(browser, key):
    page = browser.open(f"/mailbox/{key}?width=320&scheme=dark")
    assert 'width="320"' in page.source
    assert "scheme=dark" in page.source
    assert 'width="640"' in browser.open(f"/mailbox/{key}?width=640").source
    odd = browser.open(f"/mailbox/{key}?width=9999%22onload=x&scheme=pink")
    assert 'width="375"' in odd.source
    assert "pink" not in odd.source
    assert "9999" not in odd.source


def test_nothing_runs_and_nothing_is_fetched_in_the_frame(app, key):
    client = app.test_client()
    policy = client.get(f"/mailbox/{key}/html", base_url=HOST).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "sandbox allow-top-navigation-by-user-activation" in policy
    assert "script" not in policy
    around = client.get(f"/mailbox/{key}", base_url=HOST).headers["Content-Security-Policy"]
    assert "frame-src 'self'" in around
    assert "frame-src" not in client.get("/mailbox", base_url=HOST).headers["Content-Security-Policy"]
    assert client.get("/mailbox/20260101000000-0123456789abcdef/html", base_url=HOST).status_code == 404


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"])
@pytest.mark.parametrize("page", ["/mailbox", "/mailbox/{key}", "/mailbox/{key}/html"])
def test_the_inbox_is_shown_to_nobody_behind_a_proxy(app, key, page, header):
    answer = app.test_client().get(page.format(key=key), base_url=HOST, headers={header: "198.51.100.7"})
    assert answer.status_code == 404


def test_the_inbox_is_shown_to_nobody_on_another_machine(app, key):
    elsewhere = {"REMOTE_ADDR": "198.51.100.7"}
    assert app.test_client().get(f"/mailbox/{key}", base_url=HOST, environ_base=elsewhere).status_code == 404
    assert app.test_client().get(f"/mailbox/{key}", base_url=HOST).status_code == 200


def test_an_email_without_html_has_no_frame(browser, settings):
    key = mailbox_of(settings).put(serialise(EMAIL))
    assert "<iframe" not in browser.open(f"/mailbox/{key}").source


@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_a_real_browser_shows_an_email_light_and_dark_and_follows_its_links(site, key, chromium):
    page = chromium.new_page()
    for scheme, width, colour in (("light", 320, "rgb(1, 1, 1)"), ("dark", 640, "rgb(254, 254, 254)")):
        page.goto(f"{site}/mailbox/{key}?scheme={scheme}&width={width}")
        email = page.frame_locator("iframe.mail").locator("p")
        assert email.evaluate("it => getComputedStyle(it).color") == colour
        assert email.evaluate("() => innerWidth") == width
        assert page.title() == EMAIL.subject
    page.frame_locator("iframe.mail").get_by_text("Bid 7").click()
    page.wait_for_url(f"{site}/open?x=1")


def test_a_reply_typed_here_moves_like_one_by_email(browser, settings, carry, server, table):
    game = table("sun-bid", 2)
    carry()
    seat, decision = next(iter(game.asked().items()))
    address = server.read(addresses.read, game.person_at(seat)).address
    letter = next(each for each in mailbox_of(settings).entries(to=address) if ", turn 1" in each.subject)
    page = browser.open(f"/mailbox/{letter.key}")
    (form,) = page.forms()
    answered = form.press(text=grammar.write(decision, decision.default))
    assert "/mailbox?to=" in answered.url
    processing.process(server, authenticity.inbound_settings(settings))
    assert seat not in game.asked()
    assert game.verifies()


def test_an_empty_reply_and_one_from_another_site_are_refused(app, browser, settings, carry, table):
    table("sun-bid", 2)
    carry()
    letter = next(each for each in mailbox_of(settings).entries() if ", turn 1" in each.subject)
    client = app.test_client()
    path = f"/mailbox/{letter.key}/reply"
    assert client.post(path, base_url=HOST, data={"text": " "}).status_code == 400
    foreign = client.post(path, base_url=HOST, data={"text": "x"}, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403


def test_an_email_that_cannot_be_answered_has_no_form_for_a_reply(browser, key):
    assert browser.open(f"/mailbox/{key}").forms() == []


def test_the_inbox_is_read_a_page_at_a_time(browser, settings, monkeypatch):
    monkeypatch.setattr(dev_inbox, "PAGE", 2)
    for number in range(3):
        mailbox_of(settings).put(serialise(replace(EMAIL, message_id=f"<{number}@example.org>")))
    newest = browser.open("/mailbox")
    oldest = newest.follow("Older")
    of_page = [[href for href in page.hrefs() if "/mailbox/" in href] for page in (newest, oldest)]
    assert [len(page) for page in of_page] == [2, 1]
    assert not set(of_page[0]) & set(of_page[1])
    assert oldest.follow("Newer").hrefs() == newest.hrefs()
    assert "Newer" not in newest.links()
