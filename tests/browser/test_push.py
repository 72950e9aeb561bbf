"""Notifications in a real Chromium, from the button on the page to the end of the turn, by a push service on this machine."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pbem.service.account import channels
from pbem.service.outgoing import channel_delivery
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.outgoing.post import post_of
from pbem.tokens import Purpose
from tests.browser.conftest import PATIENCE, PHONE
from tests.channels.push_service import Notifications, PushService, client_of
from tests.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.needs("chromium"),
    # Pages are the same on either database, which is tested elsewhere.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def push():
    with PushService() as service:
        yield service


@pytest.fixture
def phone(chromium, served, push, tmp_path):
    """A tab of a browser with a profile of its own: only those get notifications."""
    context = push.browser(chromium, tmp_path, base_url=served.url, viewport=PHONE)
    context.set_default_timeout(PATIENCE)
    context.grant_permissions(["notifications"], origin=served.url)
    yield context.pages[0]
    context.close()


@pytest.fixture
def send(served, push):
    """Send all that is due through channels."""
    post = ChannelPost(post_of(served.config).letterhead, client_of(push.port))

    def sending():
        served.work()
        while channel_delivery.send_batch(served.server, post):
            pass

    return sending


def switched_on(phone: Page, token: str, send: Callable[[], None]) -> None:
    """Sign in and switch notifications on; the code goes through the browser, and is entered by the page."""
    phone.goto(f"/l/{token}")
    phone.get_by_role("button", name="Sign in").click()
    phone.goto("/my/channels")
    phone.get_by_role("button", name="Switch on notifications").click()
    expect(phone.get_by_text("waiting for its first notification")).to_be_visible()
    send()
    expect(phone.get_by_text("This channel is on.")).to_be_visible(timeout=PATIENCE)


def test_a_browser_tells_of_a_turn_until_it_is_answered_elsewhere_and_stops_by_a_button(
    phone, push, send, served, links, table
):
    game = table("bid", 3)
    seat, _decision = next(iter(game.asked().items()))
    person = game.person_at(seat)
    switched_on(phone, links.made(Purpose.SIGN_IN, person), send)
    (entered,) = served.server.read(channels.mine, person).listed
    assert (entered.status, entered.device) == ("active", "Chrome on Linux")

    # The next turn that asks this person.
    while True:
        before = game.row().turn
        for each, asked in list(game.asked().items()):
            game.play(each, asked.default)
        if game.row().turn != before and seat in game.asked():
            break
    notifications = Notifications(phone.context)
    send()
    ((title, text, url),) = until(notifications.new, "a notification of the turn")
    assert title.startswith("Your turn")
    assert f"Turn {game.row().turn}" in text
    left = int(push.headers[-1]["ttl"])
    assert 0 < left < 7 * 86400
    assert push.headers[-1]["urgency"] == "high"

    # It leads to the seat.
    other = phone.context.new_page()
    other.goto(url.replace(served.config.base_url, served.url))
    expect(other.locator("form.bar").first).to_be_visible()
    other.close()

    # Answered elsewhere, it is ended.
    game.play(seat, game.asked()[seat].default)
    send()
    send()
    until(lambda: url in notifications.ended(), "the notification ends")

    phone.reload()
    phone.get_by_role("button", name="Remove").click()
    expect(phone.get_by_text("Channel removed")).to_be_visible()
    taken = len(push.headers)
    game.play(*next((each, asked.default) for each, asked in game.asked().items()))
    send()
    assert len(push.headers) == taken


def test_the_site_can_be_installed(phone):
    phone.goto("/")
    devtools = phone.context.new_cdp_session(phone)
    assert devtools.send("Page.getAppManifest")["errors"] == []
    assert devtools.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
